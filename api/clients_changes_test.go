package api

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"testing"
	"time"
)

// fetch sends what a client of the table in clients.md sends, over a real
// connection.
func fetch(t *testing.T, target string, header ...string) (int, envelope) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, target, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	var l envelope
	if err := json.Unmarshal(body, &l); err != nil && res.StatusCode == 200 {
		t.Fatalf("%s: %v in %s", target, err, body)
	}
	return res.StatusCode, l
}

// TestPerceval polls as perceval-weblate does: timestamp_after with an offset,
// next taken verbatim, then the user, author and unit of every entry.
func TestPerceval(t *testing.T) {
	t.Parallel()
	w := demoWorld(t)
	ts := httptest.NewServer(w.serve(Options{}))
	t.Cleanup(ts.Close)
	since := at.Add(10*time.Hour).Format("2006-01-02T15:04:05.999999") + "+00:00"
	for path, all := range map[string]int{"/api/changes/": 4, "/api/projects/demo/changes/": 4} {
		seen := 0
		query := url.Values{"timestamp_after": {since}, "page_size": {"3"}}
		for next := ts.URL + path + "?" + query.Encode(); next != ""; {
			status, l := fetch(t, next, "Authorization", "Token k")
			if status != 200 || int(l.Count) != all {
				t.Fatalf("%s: %d, count %d, want %d", next, status, l.Count, all)
			}
			for _, e := range l.Results {
				seen++
				if stamp, _ := e["timestamp"].(string); stamp < since[:19] {
					t.Errorf("entry %v is of %s", e["id"], stamp)
				}
				for _, field := range []string{"user", "author", "unit"} {
					link, ok := e[field].(string)
					if !ok {
						continue
					}
					if status, _ := fetch(t, link, "Authorization", "Token k"); status != 200 {
						t.Errorf("%s %s: %d", field, link, status)
					}
				}
			}
			next = ""
			if l.Next != nil {
				next = *l.Next
				if u, err := url.Parse(next); err != nil || u.Query().Get("timestamp_after") != since {
					t.Fatalf("next %s lost timestamp_after", next)
				}
			}
		}
		if seen != all {
			t.Errorf("%s: %d entries, want %d", path, seen, all)
		}
	}
}

// TestChangePollers sends the other rows of clients.md on change lists.
func TestChangePollers(t *testing.T) {
	t.Parallel()
	w := demoWorld(t)
	ts := httptest.NewServer(w.serve(Options{}))
	t.Cleanup(ts.Close)
	stamp := at.Add(10 * time.Hour)
	for _, tc := range []struct {
		client, target string
		count, results int
	}{
		// weblate-mcp: page 1 only, filters side by side, format=json
		{"mcp", "/api/projects/demo/changes/?format=json&page_size=1000&user=karel&action=63&action=59", 1, 1},
		{"mcp", "/api/components/demo/app/changes/?format=json&page_size=5&timestamp_after=" + url.QueryEscape(stamp.Format(time.RFC3339Nano)), 4, 4},
		{"mcp", "/api/changes/?page_size=5&timestamp_before=" + url.QueryEscape(stamp.Format(time.RFC3339Nano)), 94, 5},
		{"mishumey", "/api/translations/demo/app/cs/changes/?page=5&page_size=10", 47, 7},
		// suwayomi, r-devel, funkwhale: timestamps with Z, repeated action, page=N
		{"suwayomi", "/api/components/demo/app/changes/?action=31&action=59&action=63&timestamp_after=2026-03-01T00:00:00Z&timestamp_before=2027-01-01T00:00:00Z&page=2", 95, 20},
		{"r-devel", "/api/projects/demo/changes/?timestamp_after=2026-03-04T00:00:00%2B00:00&action=24&page=1", 1, 1},
		{"funkwhale", "/api/components/demo/app/changes/?timestamp_after=2026-03-04T00:00:00Z&ordering=-id", 98, 20},
	} {
		status, l := fetch(t, ts.URL+tc.target, "Accept", "*/*")
		if status != 200 || int(l.Count) != tc.count || len(l.Results) != tc.results {
			t.Errorf("%s %s: %d, count %d, %d results, want %d and %d", tc.client, tc.target, status, l.Count, len(l.Results), tc.count, tc.results)
		}
	}
	// funkwhale stops at the first entry before its date: with the newest first
	// it has seen all that is not older.
	since := stamp.Format("2006-01-02T15:04:05")
	var seen []int
	for page, older := 1, false; !older; page++ {
		status, l := fetch(t, fmt.Sprintf("%s/api/components/demo/app/changes/?ordering=-id&page=%d", ts.URL, page))
		if status != 200 {
			t.Fatalf("page %d: %d", page, status)
		}
		for _, e := range l.Results {
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
