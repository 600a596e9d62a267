package api

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"testing"
	"time"

	"github.com/repoglot/repoglot/catalog/catalogtest"
)

// clientPerceval polls changes: timestamp_after with an offset, next taken
// verbatim, then the user, author and unit of every entry.
func clientPerceval(t *testing.T, s *sites) {
	token := []string{"Authorization", "Token k"}
	since := catalogtest.Now().Add(10*time.Hour).Format("2006-01-02T15:04:05.999999") + "+00:00"
	for path, all := range map[string]int{"/api/changes/": 4, "/api/projects/demo/changes/": 4} {
		seen := 0
		query := url.Values{"timestamp_after": {since}, "page_size": {"3"}}
		for next := s.demo + path + "?" + query.Encode(); next != ""; {
			a := fields(t, next, "id timestamp user author unit", token...)
			if count := firstOf(a, "count"); count != float64(all) {
				t.Fatalf("%s: count %v, want %d", next, count, all)
			}
			for _, entry := range a.results() {
				e := entry.(map[string]any)
				seen++
				if stamp, _ := e["timestamp"].(string); stamp < since[:19] {
					t.Errorf("entry %v is of %s", e["id"], stamp)
				}
				for _, field := range []string{"user", "author", "unit"} {
					if link, ok := e[field].(string); ok {
						want(t, link, token...)
					}
				}
			}
			if next = a.next(); next != "" {
				if u, err := url.Parse(next); err != nil || u.Query().Get("timestamp_after") != since {
					t.Fatalf("next %s lost timestamp_after", next)
				}
			}
		}
		if seen != all {
			t.Errorf("%s: %d entries, want %d", path, seen, all)
		}
	}
	for _, target := range []string{"/api/users/nobody/", "/api/users/mallory/"} { // tolerated: 403 or 404
		if a := overWire(t, http.MethodGet, s.demo+target, "", token...); a.status != http.StatusNotFound {
			t.Errorf("%s: %d", target, a.status)
		}
	}
}

// firstOf is a key of the body itself.
func firstOf(a *reply, key string) any {
	object, _ := a.body.(map[string]any)
	return object[key]
}

// clientChangePollers are suwayomi's changelog, a Slack bot of R and funkwhale.
func clientChangePollers(t *testing.T, s *sites) {
	const entry = "action action_name timestamp target author unit user"
	for target, n := range map[string][2]int{ // count, entries of the page
		"/api/components/demo/app/changes/?action=31&action=59&action=63&timestamp_after=2026-03-01T00:00:00Z&timestamp_before=2027-01-01T00:00:00Z&page=2": {95, 20},
		"/api/projects/demo/changes/?timestamp_after=2026-03-04T00:00:00%2B00:00&action=24&page=1":                                                          {1, 1},
		"/api/components/demo/app/changes/?timestamp_after=2026-03-04T00:00:00Z&ordering=-id":                                                               {98, 20},
		"/api/projects/demo/changes/?timestamp_after=2026-03-04T02:00:00%2B02:00&timestamp_before=2026-03-04T00:00:00Z":                                     {0, 0},
	} {
		a := fields(t, s.demo+target, "", "Authorization", "Token k")
		if firstOf(a, "count") != float64(n[0]) || len(a.results()) != n[1] {
			t.Errorf("%s: count %v, %d entries, want %v", target, firstOf(a, "count"), len(a.results()), n)
		}
		if n[1] > 0 {
			fields(t, s.demo+target, entry, "Authorization", "Token k")
		}
	}
	// funkwhale stops at the first entry before its date: with the newest first
	// it has seen all that is not older.
	since := catalogtest.Now().Add(10 * time.Hour).Format("2006-01-02T15:04:05")
	var seen []int
	for page, older := 1, false; !older; page++ {
		a := want(t, fmt.Sprintf("%s/api/components/demo/app/changes/?ordering=-id&page=%d", s.demo, page))
		for _, e := range a.results() {
			e := e.(map[string]any)
			if older = e["timestamp"].(string) < since; older {
				break
			}
			seen = append(seen, int(e["id"].(float64)))
		}
	}
	if len(seen) != 4 || !slices.IsSortedFunc(seen, func(a, b int) int { return b - a }) {
		t.Errorf("the newest entries: %v", seen)
	}
}
