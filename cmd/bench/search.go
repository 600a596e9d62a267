package main

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/repoglot/repoglot/testrepos"
)

// The limits of the first page of a search with its count, in ms.
const (
	limitIndexed   = 300
	limitSubstring = 1000
	limitRegexp    = 2000
	limitRefused   = 50
	searchPasses   = 5
)

// search measures searches among the strings of a translation of a million.
// Every pass asks for another value, so that neither an answer nor a count is cached.
func (b *bench) search(ctx context.Context) error {
	spec := testrepos.GenSpec{Name: "search", Entries: pageEntries, Plural: 50, Context: 10, Fuzzy: 20, Untranslated: 7}
	s, repo, err := b.serveGenerated(ctx, spec, "max_file_size: 1GiB\n")
	if err != nil {
		return err
	}
	defer s.stop()
	if _, err := s.pushVersions(ctx, repo.Repo, 1); err != nil { // a history
		return err
	}
	const list = "/api/translations/bench/it/cs/units/"
	for _, kind := range []struct {
		name, q string
		limit   float64
	}{
		{"state", "state:>=translated position:>=%d", 0}, // warms the cache of the system
		{"state", "state:>=%d", limitIndexed},
		{"state and priority", "state:<20 AND priority:>=%d", limitIndexed},
		{"id", "id:>%d", limitIndexed},
		{"position", "position:%d", limitIndexed},
		{"added", "added:>=20%02d", limitIndexed},
		{"changed", "changed:>=20%02d", limitIndexed},
		{"location", "location:c:%d7", limitSubstring},
		{"substring of the target", "target:%dka", limitSubstring},
		{"substring of source, target, context", `"river bef%d"`, limitSubstring},
		{"substring, beyond ASCII", `"řeč%d"`, limitSubstring},
		{"changed by nobody", "changed_by:nobody%d", limitIndexed},
		{"substring, found in none", "xyz%dxyz", limitSubstring},
		{"substring, negated: found in all", "NOT xyz%dxyz", limitSubstring},
		{"alternatives, 20", "%d OR " + alternatives, limitSubstring},
		{"substring, found in most", `source:o note:="" NOT %d`, limitSubstring},
		{"regular expression with a literal", `source:r"[a-z]+ river$|x%d"`, limitRegexp},
		{"regular expression without", `r"[0-9] [a-z]+e$|x%d"`, limitRegexp},
		{"regular expression, any case", `target:r"(?i)ŘEČ\s+%d"`, limitRegexp},
	} {
		took, found, err := s.searches(list, kind.q)
		if err != nil {
			return err
		}
		if kind.limit > 0 {
			b.row(fmt.Sprintf("search %d, first page and count: %s (%d)", pageEntries, kind.name, found), "ms", took.wall, kind.limit)
			b.row("  its processor time by two", "ms", took.cpu/2, kind.limit)
		}
	}
	if err := b.refusals(s, list); err != nil {
		return err
	}
	took, _, err := s.searches("/api/units/", `"river bef%d"`)
	if err != nil {
		return err
	}
	b.row(fmt.Sprintf("  the same substring on the whole server, %d", 2*pageEntries), "ms", took.wall, 2*limitSubstring)
	b.row("  its processor time by two", "ms", took.cpu/2, 2*limitSubstring)
	return nil
}

// alternatives are 19 words.
const alternatives = "open OR close OR save OR river OR w1 OR w2 OR w3 OR w4 OR w5 OR w6 OR w7 OR w8 OR w9 OR v1 OR v2 OR v3 OR v4 OR v5 OR v6"

// refusals measures the answers to queries that are refused as too expensive.
func (b *bench) refusals(s *server, list string) error {
	for _, q := range []string{
		strings.Repeat("x", 8193), strings.Repeat("a ", 101), strings.Repeat("(", 41) + "a" + strings.Repeat(")", 41), `source:r"(a{30}){30}"`,
	} {
		started := time.Now()
		resp, err := http.Get(s.base + list + "?q=" + url.QueryEscape(q))
		if err != nil {
			return err
		}
		took := time.Since(started)
		resp.Body.Close()
		if resp.StatusCode != http.StatusBadRequest {
			return fmt.Errorf("q=%.40s: status %d, want 400", q, resp.StatusCode)
		}
		b.row(fmt.Sprintf("  refused: q=%.24s…, %d bytes", q, len(q)), "ms", float64(took.Microseconds())/1000, limitRefused)
	}
	return nil
}

// searchTime is in ms. Half of the processor time is the time on two idle cores.
type searchTime struct{ wall, cpu float64 }

// searches returns the best times of a query, and the count of the last pass.
func (s *server) searches(list, q string) (best searchTime, found int64, err error) {
	var walls, cpus []time.Duration
	for i := range searchPasses {
		target := fmt.Sprintf("%s?page_size=50&q=%s", list, url.QueryEscape(fmt.Sprintf(q, i+1)))
		before, err := s.cpu()
		if err != nil {
			return best, 0, err
		}
		n, d, err := s.timedCount(target)
		if err != nil {
			return best, 0, err
		}
		after, err := s.cpu()
		if err != nil {
			return best, 0, err
		}
		walls, cpus, found = append(walls, d), append(cpus, after-before), n
	}
	ms := func(list []time.Duration) float64 { return float64(slices.Min(list).Microseconds()) / 1000 }
	return searchTime{ms(walls), ms(cpus)}, found, nil
}
