package api

import (
	"net/http"
	"testing"
)

// TestPaging: pages and the links between them, with the recorded cases
// (docs/compatibility.md#paging).
func TestPaging(t *testing.T) {
	t.Parallel()
	s := serve(demoWorld(t), Options{})
	const path = "/api/translations/demo/app/cs/units/"
	const host = "http://l10n.example.org" + path
	for _, tc := range []struct {
		query          string
		results        int
		next, previous string
	}{
		{"", 20, host + "?format=api&page=2", "null"},
		{"?page=1", 20, host + "?format=api&page=2", "null"},
		{"?page=2", 20, host + "?format=api&page=3", host + "?format=api"},
		{"?page=3", 4, "null", host + "?format=api&page=2"},
		{"?page=last", 4, "null", host + "?format=api&page=2"},
		{"?format=json&page=2", 20, host + "?format=json&page=3", host + "?format=json"},
		{"?page_size=10", 10, host + "?format=api&page=2&page_size=10", "null"},
		{"?page_size=10&page=2", 10, host + "?format=api&page=3&page_size=10", host + "?format=api&page_size=10"},
		{"?page_size=44", 44, "null", "null"},
		{"?page_size=9000", 44, "null", "null"},
		{"?page_size=99999999999999999999999", 44, "null", "null"},
		{"?page_size=0", 20, host + "?format=api&page=2&page_size=0", "null"},
		{"?page_size=-3", 20, host + "?format=api&page=2&page_size=-3", "null"},
		{"?page_size=abc", 20, host + "?format=api&page=2&page_size=abc", "null"},
		{"?page_size=", 20, host + "?format=api&page=2&page_size=", "null"},
		{"?zeta=1&alpha=b+c&page=2", 20, host + "?alpha=b+c&format=api&page=3&zeta=1", host + "?alpha=b+c&format=api&zeta=1"},
		{"?q=&b=2&b=1&a=%C3%A9%26%22%3C", 20, host + "?a=%C3%A9%26%22%3C&b=2&b=1&format=api&page=2&q=", "null"},
		{"?page=7&page=2", 20, host + "?format=api&page=3", host + "?format=api"},
		{"?page=1?page=2", 20, host + "?format=api&page=3", host + "?format=api"},
		{"?bad=%zz", 20, host + "?bad=%25zz&format=api&page=2", "null"},
	} {
		l := getList(t, s, path+tc.query)
		if l.Count != 44 || len(l.Results) != tc.results || text(l.Next) != tc.next || text(l.Previous) != tc.previous {
			t.Errorf("%s: count %d, %d results\n next %s\n prev %s", tc.query, l.Count, len(l.Results), text(l.Next), text(l.Previous))
		}
	}
	for _, page := range []string{"0", "-1", "4", "abc", "", "1.0", "1e0", "LAST", "99999999999999999999", "0x1", "2147483648"} {
		rec := call(t, s, http.MethodGet, path+"?page="+page)
		if rec.Code != 404 || oldForm(rec.Body.String()) != `{"detail":"Invalid page."}` || rec.Header().Get("Allow") != "GET, POST, HEAD, OPTIONS" {
			t.Errorf("page %q: %d %s", page, rec.Code, rec.Body)
		}
	}
}

// TestEmptyList: an empty list has one empty page.
func TestEmptyList(t *testing.T) {
	t.Parallel()
	s := serve(demoWorld(t), Options{})
	const want = `{"count":0,"next":null,"previous":null,"results":[]}`
	for _, target := range []string{
		"/api/translations/demo/app/sr@latin/units/", "/api/translations/demo/app/sr@latin/changes/",
		"/api/translations/demo/app/sr@latin/units/?page=1", "/api/translations/demo/app/sr@latin/units/?page=last",
		"/api/changes/?after_id=100000", "/api/projects/secret/changes/",
	} {
		wantAnswer(t, s, 200, want, target)
	}
	wantStatus(t, s, 404, "/api/translations/demo/app/sr@latin/units/?page=2")
}

// TestPageSizeClamp: 1000 for ordinary lists, 10000 for units.
func TestPageSizeClamp(t *testing.T) {
	t.Parallel()
	w := bigWorld(t, 1100)
	s := serve(w, Options{})
	for target, want := range map[string]int{
		"/api/translations/big/big/cs/units/?page_size=1050":    1050,
		"/api/translations/big/big/cs/changes/?page_size=1050":  1000,
		"/api/components/big/big/changes/?page_size=100000":     1000,
		"/api/translations/big/big/cs/changes/?page_size=1000":  1000,
		"/api/translations/big/big/cs/units/?page_size=1000000": 1100,
	} {
		if l := sendList(t, s, target); len(l.Results) != want {
			t.Errorf("%s: %d results, want %d", target, len(l.Results), want)
		}
	}
}

// TestWalk follows next to the end of every kind of list: each entry comes
// once, ascending by id.
func TestWalk(t *testing.T) {
	t.Parallel()
	s := serve(demoWorld(t), Options{})
	for _, path := range []string{
		"/api/translations/demo/app/cs/units/", "/api/translations/demo/app/cs/changes/", "/api/components/demo/app/changes/",
		"/api/projects/demo/changes/", "/api/changes/", "/api/projects/", "/api/components/", "/api/projects/demo/components/",
		"/api/components/demo/app/translations/", "/api/translations/",
	} {
		var last float64
		var count int64
		next := "http://l10n.example.org" + path + "?page_size=7"
		for next != "null" {
			l := getList(t, s, next[len("http://l10n.example.org"):])
			for _, r := range l.Results {
				id, _ := r["id"].(float64)
				if id <= last {
					t.Fatalf("%s: id %v after %v", path, id, last)
				}
				last = id
				count++
			}
			if l.Next == nil && count != l.Count {
				t.Errorf("%s: %d entries, count says %d", path, count, l.Count)
			}
			next = text(l.Next)
		}
		if count == 0 {
			t.Errorf("%s is empty", path)
		}
	}
}
