package api

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/repoglot/repoglot/catalog/catalogtest"
)

const cacheTarget = "/api/translations/big/big/cs/units/"

// cacheWorld has enough units for a page.
func cacheWorld(t *testing.T) *catalogtest.Writer {
	w := catalogtest.NewWriter(t)
	w.ImportBig(60)
	return w
}

// pull adds a unit and shows it on the first page: its count.
func pull(w *catalogtest.Writer, n int) { w.AddBigUnits(fmt.Sprintf("%040x", n+1), 1) }

// TestCacheFollowsTheStore: an answer is kept until there is something new,
// and never longer.
func TestCacheFollowsTheStore(t *testing.T) {
	t.Parallel()
	w := cacheWorld(t)
	s := serve(w, Options{CacheBytes: 1 << 20})
	first := ask(s, http.MethodGet, cacheTarget)
	again := ask(s, http.MethodGet, cacheTarget)
	if again.Body.String() != first.Body.String() || again.Header().Get("ETag") != first.Header().Get("ETag") || first.Header().Get("ETag") == "" {
		t.Errorf("the same page differs: ETag %s and %s", first.Header().Get("ETag"), again.Header().Get("ETag"))
	}
	if len(s.cache.byKey) != 1 {
		t.Errorf("%d answers are kept, want 1", len(s.cache.byKey))
	}
	for _, other := range [][]string{
		{cacheTarget + "?page_size=1"}, {cacheTarget, "Accept", "text/csv"}, {cacheTarget, "Host", "other.example.org"},
	} {
		if got := ask(s, http.MethodGet, other[0], other[1:]...); got.Body.String() == first.Body.String() {
			t.Errorf("%q gets the answer to another question", other)
		}
	}
	before := w.DB.Published()
	pull(w, 0)
	if w.DB.Published() <= before {
		t.Fatalf("generation %d after %d", w.DB.Published(), before)
	}
	after := ask(s, http.MethodGet, cacheTarget)
	if after.Body.String() == first.Body.String() || after.Header().Get("ETag") == first.Header().Get("ETag") {
		t.Error("the answer of before the pull is served after it")
	}
	if rec := ask(s, http.MethodGet, cacheTarget, "If-None-Match", first.Header().Get("ETag")); rec.Code != http.StatusOK {
		t.Errorf("status %d for the ETag of before, want 200", rec.Code)
	}
}

// TestKeptWithoutStore: a cached answer needs no store, for every spelling of its
// path and whether or not the client has a copy.
func TestKeptWithoutStore(t *testing.T) {
	t.Parallel()
	w := cacheWorld(t)
	s := serve(w, Options{CacheBytes: 1 << 20})
	counter := statementCounter(t, w)
	for _, target := range []string{
		cacheTarget, strings.TrimSuffix(cacheTarget, "/"), cacheTarget + "?page_size=2&page=2", "/api/translations/big/big/%63%73", "/api/units/?page=1", "/api/projects",
	} {
		tag := ask(s, http.MethodGet, target).Header().Get("ETag")
		before := testutil.ToFloat64(counter)
		for _, header := range [][]string{
			nil, {"Accept-Encoding", "gzip"}, {"Accept-Encoding", "zstd"}, {"If-None-Match", tag}, {"If-None-Match", strings.TrimSuffix(tag, `"`) + `-gzip"`, "Accept-Encoding", "gzip"},
		} {
			for _, method := range []string{http.MethodGet, http.MethodHead} {
				want := http.StatusOK
				if len(header) > 0 && header[0] == "If-None-Match" {
					want = http.StatusNotModified
				}
				if rec := ask(s, method, target, header...); rec.Code != want {
					t.Errorf("%s %s %q: status %d, want %d", method, target, header, rec.Code, want)
				}
			}
		}
		if n := testutil.ToFloat64(counter) - before; n > 0 {
			t.Errorf("%s: %v statements for what is kept", target, n)
		}
	}
}

// kept makes an answer of a body.
func kept(body []byte) *variants {
	return newVariants(answer{header{status: http.StatusOK}, content(body)})
}

// TestCacheBudget: the cache stays within its budget, with every encoding; the
// last answers that were asked for stay.
func TestCacheBudget(t *testing.T) {
	t.Parallel()
	c := newCache(100_000, func() time.Time { return time.Time{} })
	key := func(i int) cacheKey { return cacheKey{target: fmt.Sprint(i)} }
	for i := range 200 {
		a := kept(bytes.Repeat([]byte{byte(i)}, 50*i))
		c.put(key(i), 1, nil, a)
		c.get(key(1), 1, time.Time{})
		_, made := a.in(gzipped)
		c.grew(key(i), a, made)
		if c.size > c.budget {
			t.Fatalf("%d bytes after %d answers", c.size, i)
		}
	}
	sum := 0
	for _, e := range c.byKey {
		sum += e.Value.(*cached).size
	}
	if sum != c.size || c.recent.Len() != len(c.byKey) {
		t.Errorf("%d bytes are accounted for, there are %d; %d and %d answers", c.size, sum, c.recent.Len(), len(c.byKey))
	}
	get := func(k cacheKey, generation int64) *variants {
		found, _ := c.get(k, generation, time.Time{})
		return found
	}
	if get(key(1), 1) == nil || get(key(2), 1) != nil {
		t.Error("not the one that was asked for longest ago has gone")
	}
	if get(key(1), 2) != nil || get(key(1), 1) != nil {
		t.Error("an answer of an old generation is kept")
	}
	c.put(key(1), 5, nil, kept([]byte("new")))
	c.put(key(1), 4, nil, kept([]byte("old")))
	if got := get(key(1), 5); got == nil || string(got.plain) != "new" {
		t.Error("an older answer has replaced a newer one")
	}
}

// TestCacheAge: an answer that depends on the clock is not served for ever.
func TestCacheAge(t *testing.T) {
	t.Parallel()
	now := time.Unix(0, 0)
	c := newCache(1<<20, func() time.Time { return now })
	c.put(cacheKey{}, 1, nil, kept([]byte("x")))
	get := func() *variants { found, _ := c.get(cacheKey{}, 1, now); return found }
	if now = now.Add(cacheAge - 1); get() == nil {
		t.Error("gone too soon")
	}
	if now = now.Add(1); get() != nil {
		t.Error("kept too long")
	}
}

// TestCacheBesidePulls: a client that has seen a pull never gets an older
// answer.
func TestCacheBesidePulls(t *testing.T) {
	t.Parallel()
	w := cacheWorld(t)
	s := serve(w, Options{CacheBytes: 1 << 20})
	done := make(chan struct{})
	var readers sync.WaitGroup
	for range 4 {
		readers.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
					ask(s, http.MethodGet, cacheTarget, "Accept-Encoding", "gzip")
				}
			}
		})
	}
	seen := map[string]bool{}
	for i := range 5 {
		pull(w, i)
		cached := ask(s, http.MethodGet, cacheTarget)
		fresh := ask(s, http.MethodGet, cacheTarget, "Authorization", "Token x")
		if cached.Body.String() != fresh.Body.String() {
			t.Errorf("a stale answer after a pull")
		}
		seen[cached.Header().Get("ETag")] = true
	}
	close(done)
	readers.Wait()
	if len(seen) != 5 {
		t.Errorf("%d different answers to 5 pulls", len(seen))
	}
}

// ask is call for bodies that may be encoded.
func ask(s *Server, method, target string, header ...string) *httptest.ResponseRecorder {
	_, rec := send(s, method, target, header...)
	return rec
}
