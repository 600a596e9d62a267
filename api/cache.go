package api

import (
	containers "container/list"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/repoglot/repoglot/api/resource"
	"github.com/repoglot/repoglot/catalog/store"
)

// cache keeps rendered answers until something changes that they were read from:
// clients ask for nearly everything again. It is shared by all clients. The only
// thing about a client that affects an answer is what it may see, which is in the
// key. It is safe for concurrent use.
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

// cached is one answer.
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

// grew accounts for an encoding that was made of an answer which may still be
// cached.
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
