package main

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/repoglot/repoglot/testrepos"
)

// The load of the cache beside pulls, and its limits.
const (
	cacheComponents = 100
	cacheStrings    = 50
	cacheRate       = 1000 // requests a second, over one page of each component
	cacheFor        = 20 * time.Second
	limitCacheHits  = 95 // % of answers from the cache
	limitCacheP99   = 20 // ms
)

// cache measures how many answers come from the cache while one of many components
// is pushed to every second: with a repository each, and all in one.
func (b *bench) cache(ctx context.Context) error {
	for _, shape := range []struct {
		name  string
		repos int
	}{{"a repository each", cacheComponents}, {"one repository", 1}} {
		if err := b.cacheBesidePulls(ctx, shape.name, shape.repos); err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) cacheBesidePulls(ctx context.Context, name string, n int) error {
	dir := filepath.Join(b.dir, fmt.Sprint("cache", n))
	repos := make([]*testrepos.Repo, n)
	files := make([]map[string]string, n)
	text := "data_dir: ./data\ngit: builtin\nprojects:\n  - slug: bench\n    components:\n"
	for i := range cacheComponents {
		if files[i%n] == nil {
			files[i%n] = map[string]string{}
		}
		files[i%n][cacheFile(i)] = cacheText(i, 0)
		text += fmt.Sprintf("      - slug: c%d\n        repo: %s\n        history: none\n        filemask: c%[1]d/*.po\n", i, filepath.Join(dir, fmt.Sprint(i%n, ".git")))
	}
	for i := range repos {
		var err error
		if repos[i], err = testrepos.Create(filepath.Join(dir, fmt.Sprint(i, ".git")), &testrepos.Scenario{Name: "cache", Branch: testrepos.DefaultBranch}); err != nil {
			return err
		}
		if _, err := repos[i].Push(testrepos.Change{Files: files[i]}); err != nil {
			return err
		}
	}
	config := filepath.Join(dir, "repoglot.yaml")
	if err := os.WriteFile(config, []byte(text), 0o644); err != nil {
		return err
	}
	s, err := b.serve(ctx, config)
	if err != nil {
		return err
	}
	defer s.stop()
	return b.loadBesidePulls(ctx, s, name, func(push int) error {
		i := push * 37 % cacheComponents
		_, err := repos[i%n].Push(testrepos.Change{Files: map[string]string{cacheFile(i): cacheText(i, push)}})
		return err
	})
}

func cacheFile(component int) string { return fmt.Sprintf("c%d/cs.po", component) }

// cacheText is the file of a component; the last string has the number of the push.
func cacheText(component, push int) string {
	text := "msgid \"\"\nmsgstr \"Content-Type: text/plain; charset=UTF-8\\n\"\n"
	for i := range cacheStrings {
		text += fmt.Sprintf("\nmsgid \"String %d of component %d.\"\nmsgstr \"Řetězec %[1]d komponenty %[2]d.\"\n", i, component)
	}
	return strings.TrimSuffix(text, ".\"\n") + fmt.Sprintf(" %d.\"\n", push)
}

func cachePage(component int) string {
	return fmt.Sprintf("/api/translations/bench/c%d/cs/units/?page_size=50", component)
}

// loadBesidePulls asks for the pages at a fixed rate while push pushes.
func (b *bench) loadBesidePulls(ctx context.Context, s *server, name string, push func(n int) error) error {
	for i := range cacheComponents {
		if _, _, err := s.get(cachePage(i)); err != nil {
			return err
		}
	}
	before, err := s.cacheCounts()
	if err != nil {
		return err
	}
	pushes := int(cacheFor / time.Second)
	pushed := make(chan error, 1)
	started := time.Now()
	go func() {
		for n := 1; n <= pushes; n++ {
			time.Sleep(time.Until(started.Add(time.Duration(n)*time.Second - time.Second/2)))
			if err := push(n); err != nil {
				pushed <- err
				return
			}
		}
		pushed <- nil
	}()
	got, err := hammer(ctx, s.target(), cacheFor, "", http.StatusOK, func(conn, n int) string {
		time.Sleep(time.Until(started.Add(time.Duration(n*connections+conn) * time.Second / cacheRate)))
		return cachePage((n*connections + conn) % cacheComponents)
	})
	if err != nil {
		return err
	}
	if err := <-pushed; err != nil {
		return err
	}
	after, err := s.cacheCounts()
	if err != nil {
		return err
	}
	hits, misses := after[0]-before[0], after[1]-before[1]
	what := fmt.Sprintf("cache: %d components, %s, %d pushes, %.0f answers/s", cacheComponents, name, pushes, got.rate)
	b.rate(what, "% kept", 100*hits/(hits+misses), limitCacheHits)
	b.row("  p99 of a page", "ms", got.p99.Seconds()*1e3, limitCacheP99)
	last := pushes * 37 % cacheComponents
	return s.waitUntil(time.Minute, 5*time.Millisecond, "the last push", func() (bool, error) {
		body, _, err := s.get(cachePage(last))
		return bytes.Contains(body, fmt.Appendf(nil, "komponenty %d %d.", last, pushes)), err
	})
}

// cacheCounts are the answers from the cache and the others so far.
func (s *server) cacheCounts() (counts [2]float64, err error) {
	body, _, err := s.get("/metrics")
	if err != nil {
		return counts, err
	}
	for i, name := range []string{"repoglot_api_cache_hits_total", "repoglot_api_cache_misses_total"} {
		_, value, found := bytes.Cut(body, []byte("\n"+name+" "))
		if !found {
			return counts, fmt.Errorf("no %s in the metrics", name)
		}
		value, _, _ = bytes.Cut(value, []byte("\n"))
		if counts[i], err = strconv.ParseFloat(string(value), 64); err != nil {
			return counts, err
		}
	}
	return counts, nil
}
