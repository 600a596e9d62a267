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

	"github.com/repoglot/repoglot/catalog/store"
)

const cacheTarget = "/api/translations/big/big/cs/units/"

// pull adds a unit, which changes the count on the first page.
func pull(w *writer, n int) { addBigUnits(w, fmt.Sprintf("%040x", n+1), 1) }

// TestCacheFollowsTheStore: an answer is cached until the store changes.
func TestCacheFollowsTheStore(t *testing.T) {
	t.Parallel()
	w := bigWorld(t, 60)
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
			t.Errorf("%q gets the answer to another request", other)
		}
	}
	before := w.DB.Published()
	pull(w, 0)
	if w.DB.Published() <= before {
		t.Fatalf("generation %d after %d", w.DB.Published(), before)
	}
	after := ask(s, http.MethodGet, cacheTarget)
	if after.Body.String() == first.Body.String() || after.Header().Get("ETag") == first.Header().Get("ETag") {
		t.Error("the answer from before the pull is served after it")
	}
	if rec := ask(s, http.MethodGet, cacheTarget, "If-None-Match", first.Header().Get("ETag")); rec.Code != http.StatusOK {
		t.Errorf("status %d for the old ETag, want 200", rec.Code)
	}
}

// TestKeptWithoutStore: a cached answer needs no statement, with any spelling of
// the path, any encoding and any condition.
func TestKeptWithoutStore(t *testing.T) {
	t.Parallel()
	w := bigWorld(t, 60)
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
			t.Errorf("%s: %v statements for a cached answer", target, n)
		}
	}
}

// kept makes an answer of a body.
func kept(body []byte) *variants {
	return newVariants(answer{header{status: http.StatusOK}, content(body)})
}

// TestCacheBudget: the cache keeps its budget, encodings included, and drops the
// least recently used answers first.
func TestCacheBudget(t *testing.T) {
	t.Parallel()
	c := newCache(100_000, func() time.Time { return time.Time{} }, func(*store.Basis) bool { return false })
	key := func(i int) cacheKey { return cacheKey{target: fmt.Sprint(i)} }
	for i := range 200 {
		a := kept(bytes.Repeat([]byte{byte(i)}, 50*i))
		c.put(key(i), store.Basis{Generation: 1}, nil, a)
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
		t.Error("the dropped answer is not the least recently used one")
	}
	if get(key(1), 2) != nil || get(key(1), 1) != nil {
		t.Error("an answer of an old generation is kept")
	}
	c.put(key(1), store.Basis{Generation: 5}, nil, kept([]byte("new")))
	c.put(key(1), store.Basis{Generation: 4}, nil, kept([]byte("old")))
	if got := get(key(1), 5); got == nil || string(got.plain) != "new" {
		t.Error("an older answer has replaced a newer one")
	}
}

// TestCacheAge: answers expire, since some depend on the clock.
func TestCacheAge(t *testing.T) {
	t.Parallel()
	now := time.Unix(0, 0)
	c := newCache(1<<20, func() time.Time { return now }, func(*store.Basis) bool { return true })
	c.put(cacheKey{}, store.Basis{Generation: 1}, nil, kept([]byte("x")))
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
	w := bigWorld(t, 60)
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

// TestConditional: every ETag of an answer gives 304 without a body.
func TestConditional(t *testing.T) {
	t.Parallel()
	s := serve(bigWorld(t, 60), Options{CacheBytes: 1 << 20})
	tags := map[string]string{}
	for _, encoding := range []string{"", "gzip", "zstd"} {
		rec := ask(s, http.MethodGet, cacheTarget, "Accept-Encoding", encoding)
		tags[encoding] = rec.Header().Get("ETag")
		if got := rec.Header().Get("Content-Encoding"); got != encoding {
			t.Errorf("Content-Encoding %q, want %q", got, encoding)
		}
	}
	if tags[""] == tags["gzip"] || tags["gzip"] == tags["zstd"] {
		t.Errorf("encodings share an ETag: %q", tags)
	}
	for _, uncached := range []bool{false, true} {
		for _, tag := range []string{tags[""], tags["gzip"], tags["zstd"], "W/" + tags["zstd"], "*", `"x", ` + tags["gzip"] + `, "y"`} {
			for _, method := range []string{http.MethodGet, http.MethodHead} {
				header := []string{"If-None-Match", tag, "Accept-Encoding", "zstd"}
				if uncached {
					header = append(header, "Authorization", "Token x")
				}
				rec := ask(s, method, cacheTarget, header...)
				if rec.Code != http.StatusNotModified || rec.Body.Len() > 0 || rec.Header().Get("ETag") != tags["zstd"] || rec.Header().Get("Content-Length") != "" {
					t.Errorf("%s with %s: %d, %d bytes, headers %v", method, tag, rec.Code, rec.Body.Len(), rec.Header())
				}
			}
		}
	}
	for _, tag := range []string{`"x"`, "", strings.Trim(tags[""], `"`), `"*"`} {
		if rec := ask(s, http.MethodGet, cacheTarget, "If-None-Match", tag); rec.Code != http.StatusOK {
			t.Errorf("status %d for %q", rec.Code, tag)
		}
	}
	if rec := ask(s, http.MethodGet, "/api/units/999999/", "If-None-Match", "*"); rec.Code != http.StatusNotFound || rec.Header().Get("ETag") != "" {
		t.Errorf("a missing unit: %d %v", rec.Code, rec.Header())
	}
}
