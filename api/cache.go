package api

import (
	containers "container/list"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/repoglot/repoglot/api/resource"
	"github.com/repoglot/repoglot/api/rest"
	"github.com/repoglot/repoglot/api/web"
	"github.com/repoglot/repoglot/catalog/store"
)

// cache keeps rendered answers until something changes that they were read from: clients ask
// for nearly everything again. It is shared by all clients. The only thing about a client that
// affects an answer is what it may see, which is in the key. It is safe for concurrent use.
type cache struct {
	budget    int // in bytes; 0: nothing is cached
	now       func() time.Time
	unchanged func(*store.Basis) bool // store.DB.Unchanged

	mu     sync.Mutex
	size   int
	recent containers.List // *cached, the most recently used first
	byKey  map[cacheKey]*containers.Element

	hits, misses           prometheus.Counter
	dropped                *prometheus.CounterVec
	changed, expired, room prometheus.Counter // of dropped
}

// cacheKey is everything besides the store that an answer depends on.
type cacheKey struct {
	base   string // of its links
	target string // path and query as sent
	accept string // the header; for pages web.Pages.Key
	access string // rest.Access.Key
}

type cached struct {
	key      cacheKey
	basis    store.Basis
	checked  int64 // up to this generation the basis has not changed
	rendered time.Time
	route    *resource.Route
	answer   *variants
	size     int
}

// cacheAge is the maximum age of an answer, whether anything changed or not: some
// depend on the clock, such as the changes of the last month.
const cacheAge = time.Minute

// entryOverhead is the memory of an entry besides its bytes.
const entryOverhead = 640

func newCache(budget int, now func() time.Time, unchanged func(*store.Basis) bool) *cache {
	counter := func(name, help string) prometheus.Counter {
		return prometheus.NewCounter(prometheus.CounterOpts{Name: name, Help: help})
	}
	dropped := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "repoglot_api_cache_dropped_total",
		Help: "Answers dropped from the cache because what they show changed, because they expired, or to make room.",
	}, []string{"reason"})
	return &cache{
		budget: budget, now: now, unchanged: unchanged, byKey: map[cacheKey]*containers.Element{},
		hits:    counter("repoglot_api_cache_hits_total", "Answers that were in the cache."),
		misses:  counter("repoglot_api_cache_misses_total", "Answers that had to be rendered and can be cached."),
		dropped: dropped,
		changed: dropped.WithLabelValues("changed"), expired: dropped.WithLabelValues("expired"), room: dropped.WithLabelValues("room"),
	}
}

// get returns the answer as it would be rendered in a generation, or in a newer
// one, and its route; nil if it is not cached. now is the time.
func (c *cache) get(key cacheKey, generation int64, now time.Time) (*variants, *resource.Route) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.byKey[key]
	if !ok {
		return nil, nil
	}
	found := e.Value.(*cached)
	switch {
	case now.Sub(found.rendered) >= cacheAge || now.UTC().YearDay() != found.rendered.UTC().YearDay(): // searches name days
		c.expired.Inc()
	case found.checked < generation && !c.unchanged(&found.basis): // once per generation
		c.changed.Inc()
	default:
		found.checked = max(found.checked, generation)
		c.recent.MoveToFront(e)
		c.hits.Inc()
		return found.answer, found.route
	}
	c.remove(e)
	return nil, nil
}

// put caches an answer with what it was read from, unless one of a newer
// generation is cached. It does not cache answers above an eighth of the budget.
func (c *cache) put(key cacheKey, basis store.Basis, rt *resource.Route, a *variants) {
	c.misses.Inc()
	size := len(a.plain) + len(key.base) + len(key.target) + len(key.accept) + entryOverhead
	if size > c.budget/8 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if e, ok := c.byKey[key]; ok {
		if e.Value.(*cached).basis.Generation > basis.Generation {
			return
		}
		c.remove(e)
	}
	c.byKey[key] = c.recent.PushFront(&cached{key, basis, basis.Generation, c.now(), rt, a, size})
	c.size += size
	c.trim()
}

// grew accounts for an encoding that was made of an answer which may still be cached.
func (c *cache) grew(key cacheKey, a *variants, bytes int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e, ok := c.byKey[key]; ok && e.Value.(*cached).answer == a {
		e.Value.(*cached).size += bytes
		c.size += bytes
		c.trim()
	}
}

// trim drops the least recently used answers until the budget is kept.
func (c *cache) trim() {
	for c.size > c.budget {
		c.room.Inc()
		c.remove(c.recent.Back())
	}
}

func (c *cache) remove(e *containers.Element) {
	gone := c.recent.Remove(e).(*cached)
	delete(c.byKey, gone.key)
	c.size -= gone.size
}

// serveKept answers a request from the cache, before it is routed, if it can.
func (s *Server) serveKept(w http.ResponseWriter, req *http.Request) bool {
	key, ok := s.keyOf(req)
	if !ok || !s.db.Reached() {
		return false
	}
	x := s.begin(w, req)
	found, rt := s.cache.get(key, s.db.Published(), x.started)
	if found == nil {
		return false
	}
	x.rt = rt
	a := s.choose(found, key, req)
	done := a.body.send(x, a.header)
	x.observe(done, s.now().Sub(x.started))
	return true
}

// keyOf returns the key of a request; ok is false if its answer cannot be cached.
func (s *Server) keyOf(req *http.Request) (key cacheKey, ok bool) {
	if s.cache.budget == 0 || len(req.URL.RawQuery) > maxQuery || !rest.AccessOf(req.Context()).Cacheable() ||
		req.Method != http.MethodGet && req.Method != http.MethodHead {
		return key, false
	}
	base, err := s.settings.Load().baseURL(req)
	if err != nil {
		return key, false
	}
	accept := ""
	if lines := req.Header.Values("Accept"); len(lines) == 1 {
		accept = lines[0]
	} else if len(lines) > 1 {
		return key, false
	}
	if web.Paths(req.URL.Path) {
		accept = s.pages.Key(req)
	}
	return cacheKey{base, targetOf(req), accept, rest.AccessOf(req.Context()).Key()}, len(accept) < maxKept
}

// targetOf is the request's target as the client sent it. Routing does not change it.
func targetOf(req *http.Request) string {
	if req.RequestURI != "" {
		return req.RequestURI
	}
	return req.URL.RequestURI() // a request made by this program
}

// maxKept bounds the Accept header of an answer that is cached.
const maxKept = 1 << 10

// choose makes the answer to one request: the body in the encoding that the
// client likes best, or a 304 (docs/compatibility.md#conditional-requests).
func (s *Server) choose(v *variants, key cacheKey, req *http.Request) answer {
	e := chooseEncoding(accepted(req), len(v.plain))
	switch {
	case v.failed(req, v.tags):
		a := newFailure(errChanged, 0)
		a.at = v.at
		return a
	case matchesAny(v.tags, req.Header.Values("If-None-Match"), weak):
		h := header{status: http.StatusNotModified, contentType: v.contentType, etag: v.tags[e], modified: v.modified, maxAge: v.maxAge, keep: v.keep, at: v.at}
		return answer{h, noContent{}}
	case v.ranges && req.Header.Get("Range") != "":
		e = identity // parts are parts of the file itself
	}
	a := answer{header: v.header}
	var grown int
	a.body, grown = v.in(e)
	if grown > 0 {
		s.cache.grew(key, v, grown)
	}
	a.etag, a.encoding = v.tags[e], e.contentEncoding()
	return a
}

// failed reports whether a condition of a request is not met (RFC 9110 §13.1.1, §13.1.4):
// If-Match names no ETag of the answer, or it is newer than If-Unmodified-Since.
//
// If-Modified-Since is not read. The dates of commits repeat and go back, and so may those
// of a database that was restored: other bytes would count as those that the client has.
func (h *header) failed(req *http.Request, tags [encodings]string) bool {
	if match := req.Header.Values("If-Match"); len(match) > 0 {
		return !matchesAny(tags, match, "")
	}
	date := req.Header.Get("If-Unmodified-Since")
	if date == "" { // to fail to parse it takes 3 % of a small answer
		return false
	}
	since, err := http.ParseTime(date)
	return err == nil && h.modified.Truncate(time.Second).After(since)
}

// accepted is what the client says about encodings, in one header line or several.
func accepted(req *http.Request) string {
	return strings.Join(req.Header.Values("Accept-Encoding"), ",")
}

// weak is what If-None-Match may have before an ETag (RFC 9110 §13.1.2).
const weak = "W/"

// matchesAny reports whether a header names one of the ETags of an answer, or all by "*":
// the encodings stand for the same content. What is ignored stands before ETags.
func matchesAny(tags [encodings]string, header []string, ignored string) bool {
	for item := range strings.SplitSeq(strings.Join(header, ","), ",") {
		item = strings.TrimPrefix(strings.TrimSpace(item), ignored)
		if item == "*" || slices.Contains(tags[:], item) {
			return true
		}
	}
	return false
}
