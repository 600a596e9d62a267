package main

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/repoglot/repoglot/testrepos"
)

// The limits of answers over HTTP, against a bare net/http handler with the same
// bytes.
const (
	overBareList    = 0.7
	overBare304     = 0.8
	overBareDetail  = 0.7
	limitColdPages  = 3000 // pages of 50 units a second
	limitWarmP99    = 5    // ms
	limitPullingP99 = 20   // ms, while a file of 50,000 strings is pulled
	httpEntries     = 50_000
	limitColdGzip   = 2000 // compressed ones (our own limit)
	loadFor         = 3 * time.Second
	loadRuns        = 7
)

// http measures answers under load, client and servers on the same cores.
func (b *bench) http(ctx context.Context) error {
	s, repo, err := b.serveGenerated(ctx, testrepos.GenSpec{Name: "http", Entries: httpEntries}, "")
	if err != nil {
		return err
	}
	defer s.stop()
	const translation = "/api/translations/bench/it/cs/"
	if err := b.againstBare(ctx, s, "list page of 50 units", translation+"units/?page_size=50", overBareList); err != nil {
		return err
	}
	if err := b.againstBare(ctx, s, "translation detail", translation, overBareDetail); err != nil {
		return err
	}
	for _, kind := range []struct {
		name, header string
		limit        float64
	}{{"", "", limitColdPages}, {", gzip", "Accept-Encoding: gzip\r\n", limitColdGzip}} {
		cold, err := coldPages(ctx, s, translation, kind.header)
		if err != nil {
			return err
		}
		b.rate("http: cold pages of 50 units"+kind.name, "/s", cold.rate, kind.limit)
		b.row("  processor time of each, the client's included", "µs", cold.cpu, 2e6/kind.limit)
	}
	return b.whilePulling(ctx, s, repo.Repo, translation)
}

// coldPages asks for pages that are not cached: they differ by an unknown parameter.
// It returns the best round.
func coldPages(ctx context.Context, s *server, translation, header string) (best load, err error) {
	const pages = httpEntries / 50
	for run := range loadRuns {
		got, err := hammer(ctx, s.target(), loadFor/3, header, http.StatusOK, func(conn, n int) string {
			return fmt.Sprintf("%sunits/?page_size=50&page=%d&nothing=%d.%d.%d.%s", translation, (conn*131+n*17)%pages+1, run, conn, n, url.QueryEscape(header))
		})
		if err != nil {
			return best, err
		}
		if got.rate > best.rate {
			best = got
		}
	}
	return best, nil
}

// againstBare prints the rows of a resource, warm.
func (b *bench) againstBare(ctx context.Context, s *server, what, path string, limit float64) error {
	body, _, err := s.get(path)
	if err != nil {
		return err
	}
	resp, err := http.Get(s.base + path)
	if err != nil {
		return err
	}
	resp.Body.Close()
	req, err := http.NewRequestWithContext(ctx, http.MethodHead, s.base+path, nil)
	if err != nil {
		return err
	}
	req.Header.Set("Accept-Encoding", "identity")
	if resp, err = http.DefaultClient.Do(req); err != nil {
		return err
	}
	resp.Body.Close()
	tag := resp.Header.Get("ETag")
	file := filepath.Join(b.dir, "bare")
	if err := os.WriteFile(file, body, 0o644); err != nil {
		return err
	}
	cmd, err := childCommand(ctx, "bare", file, "application/json", "-")
	if err != nil {
		return err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	defer func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }()
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		return err
	}
	bare := target{strings.TrimSpace(line), cmd.Process.Pid}
	full, unchanged := duel{s.target(), bare, path, "", "", http.StatusOK}, duel{s.target(), bare, path, tag, bareTag, http.StatusNotModified}
	ours, ratio, cpu, err := full.run(ctx)
	if err != nil {
		return err
	}
	b.rate(fmt.Sprintf("http: %s (%d bytes), warm", what, len(body)), "/s", ours.rate, limit*ours.rate/ratio)
	b.rate("  against a bare net/http handler", "×", ratio, limit)
	b.rate("  the bare handler's processor time by ours", "×", cpu, limit)
	b.row("  p99", "ms", ours.p99.Seconds()*1e3, limitWarmP99)
	if _, ratio, cpu, err = unchanged.run(ctx); err != nil {
		return err
	}
	b.rate("  304, against the bare handler's", "×", ratio, overBare304)
	b.rate("  the bare handler's processor time by ours", "×", cpu, overBare304)
	return nil
}

// duel compares a server with the bare handler, under the same load in turn.
type duel struct {
	ours, bare      target
	path            string
	ourTag, bareTag string // ETags that the client sends; "": none
	status          int
}

// run returns our best round and the medians of two ratios within a round: of the
// rates, and of the processor time, which does not depend on other processes.
func (d duel) run(ctx context.Context) (best load, rate, cpu float64, err error) {
	var rates, cpus []float64
	for range loadRuns {
		var got [2]load
		for i, side := range []struct {
			to  target
			tag string
		}{{d.ours, d.ourTag}, {d.bare, d.bareTag}} {
			header := ""
			if side.tag != "" {
				header = "If-None-Match: " + side.tag + "\r\n"
			}
			if got[i], err = hammer(ctx, side.to, loadFor/loadRuns, header, d.status, func(int, int) string { return d.path }); err != nil {
				return best, 0, 0, err
			}
		}
		rates, cpus = append(rates, got[0].rate/got[1].rate), append(cpus, got[1].cpu/got[0].cpu)
		if got[0].rate > best.rate {
			best = got[0]
		}
	}
	slices.Sort(rates)
	slices.Sort(cpus)
	return best, rates[len(rates)/2], cpus[len(cpus)/2], nil
}

// whilePulling asks for a page while the whole file changes.
func (b *bench) whilePulling(ctx context.Context, s *server, repo *testrepos.Repo, translation string) error {
	tip := repo.Head()
	data, err := repo.ReadFile(tip, "po/cs.po")
	if err != nil {
		return err
	}
	changed := strings.ReplaceAll(string(data), "msgstr \"", "msgstr \"Z ")
	changed = strings.Replace(changed, "msgstr \"Z \"\n\"", "msgstr \"\"\n\"", 1) // the header's
	worst := time.Duration(0)
	done := make(chan error, 1)
	started := time.Now()
	if _, err := repo.Push(testrepos.Change{Files: map[string]string{"po/cs.po": changed}}); err != nil {
		return err
	}
	go func() {
		done <- s.waitUntil(time.Minute, 20*time.Millisecond, "the end of the pull", func() (bool, error) {
			n, err := s.count("/api/translations/bench/it/cs/changes/")
			return n >= httpEntries/2, err
		})
	}()
	for pulling := true; pulling; {
		got, err := hammer(ctx, s.target(), 250*time.Millisecond, "", http.StatusOK, func(int, int) string { return translation + "units/?page_size=50" })
		if err != nil {
			return err
		}
		worst = max(worst, got.p99)
		select {
		case err := <-done:
			if err != nil {
				return err
			}
			pulling = false
		default:
		}
	}
	b.row(fmt.Sprintf("http: worst p99 of a page while %d strings are pulled (%.1f s)", httpEntries, time.Since(started).Seconds()), "ms", worst.Seconds()*1e3, limitPullingP99)
	return nil
}

func (s *server) target() target {
	return target{strings.TrimPrefix(s.base, "http://"), s.cmd.Process.Pid}
}
