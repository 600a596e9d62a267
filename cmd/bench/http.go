package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
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
	loadFor         = 3 * time.Second
	loadRuns        = 3
)

// http measures answers under load, client and servers on the same cores.
func (b *bench) http(ctx context.Context) error {
	repo, err := testrepos.Generate(filepath.Join(b.dir, "http.git"), testrepos.GenSpec{Name: "http", Entries: httpEntries})
	if err != nil {
		return err
	}
	config, err := b.writeConfig("http", repo.Path(), "        filemask: po/*.po\n")
	if err != nil {
		return err
	}
	s, err := b.serve(ctx, config)
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
	pages := httpEntries / 50
	cold, err := hammer(ctx, s.address(), loadFor, "", http.StatusOK, func(conn, n int) string {
		// A page that nobody has asked for: the sizes differ by a parameter
		// that means nothing.
		return fmt.Sprintf("%sunits/?page_size=50&page=%d&nothing=%d.%d", translation, (conn*131+n*17)%pages+1, conn, n)
	})
	if err != nil {
		return err
	}
	b.rate("http: cold pages of 50 units", "/s", cold.rate, limitColdPages)
	return b.whilePulling(ctx, s, repo.Repo, translation)
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
	yardstick := strings.TrimSpace(line)
	same := func(int, int) string { return path }
	var ours, theirs, ours304, theirs304 load
	for range loadRuns {
		for _, run := range []struct {
			best            *load
			address, header string
			status          int
		}{
			{&ours, s.address(), "", http.StatusOK},
			{&theirs, yardstick, "", http.StatusOK},
			{&ours304, s.address(), "If-None-Match: " + tag + "\r\n", http.StatusNotModified},
			{&theirs304, yardstick, "If-None-Match: " + bareTag + "\r\n", http.StatusNotModified},
		} {
			got, err := hammer(ctx, run.address, loadFor/loadRuns, run.header, run.status, same)
			if err != nil {
				return err
			}
			if got.rate > run.best.rate {
				*run.best = got
			}
		}
	}
	b.rate(fmt.Sprintf("http: %s (%d bytes), warm", what, len(body)), "/s", ours.rate, limit*theirs.rate)
	b.rate("  against a bare net/http handler", "×", ours.rate/theirs.rate, limit)
	b.row("  p99", "ms", ours.p99.Seconds()*1e3, limitWarmP99)
	b.rate("  304, against the bare handler's", "×", ours304.rate/theirs304.rate, overBare304)
	return nil
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
	go func() { done <- s.waitForChanges(httpEntries / 2) }()
	for pulling := true; pulling; {
		got, err := hammer(ctx, s.address(), 250*time.Millisecond, "", http.StatusOK, func(int, int) string { return translation + "units/?page_size=50" })
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

// waitForChanges waits until so many entries are there.
func (s *server) waitForChanges(n int) error {
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		body, _, err := s.get("/api/translations/bench/it/cs/changes/?page_size=1")
		if err != nil {
			return err
		}
		var count int
		if _, rest, ok := strings.Cut(string(body), `"count":`); ok {
			_, _ = fmt.Sscan(strings.FieldsFunc(rest, func(r rune) bool { return r < '0' || r > '9' })[0], &count)
		}
		if count >= n {
			return nil
		}
	}
	return fmt.Errorf("the pull does not end:\n%s", s.out.String())
}

func (s *server) address() string { return strings.TrimPrefix(s.base, "http://") }

// serveBare is the child's side of againstBare.
func serveBare(file, contentType string, out io.Writer) error {
	body, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	return bare(out, contentType, body)
}
