package api

import (
	containers "container/list"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/repoglot/repoglot/api/resource"
)

// cache keeps rendered answers until the store has a newer generation: nearly
// all that clients ask for, they and others ask for again. It is one for all
// clients: of who asks an answer depends on what they may see alone, which is
// part of the key. It is safe for concurrent use.
type cache struct {
	budget int // bytes of all answers; 0: nothing is kept
	now    func() time.Time

	mu     sync.Mutex
	size   int
	recent containers.List // *cached, that asked for last first
	byKey  map[cacheKey]*containers.Element
	hits   prometheus.Counter
	misses prometheus.Counter
}

// cacheKey is all that an answer depends on beside the store.
type cacheKey struct {
	base   string // of its links
	target string // path and query as sent
	accept string // the header
	access string // what the asker may see: access.key
}

// cached is one answer.
type cached struct {
	key        cacheKey
	generation int64
	rendered   time.Time
	route      *resource.Route
	answer     *variants
	size       int
}

// cacheAge bounds how old an answer may be whose generation is still the
// newest: some count by the clock, such as the changes of the last month.
const cacheAge = time.Minute

// entryOverhead is what an answer takes beside its bytes.
const entryOverhead = 512

func newCache(budget int, now func() time.Time) *cache {
	counter := func(name, help string) prometheus.Counter {
		return prometheus.NewCounter(prometheus.CounterOpts{Name: name, Help: help})
	}
	return &cache{
		budget: budget, now: now, byKey: map[cacheKey]*containers.Element{},
		hits:   counter("repoglot_api_cache_hits_total", "Answers that were in the cache."),
		misses: counter("repoglot_api_cache_misses_total", "Answers that had to be rendered, of those that can be kept."),
	}
}

// get returns the answer of a generation, or of a newer one, and its route; nil
// if there is none. now is the time.
func (c *cache) get(key cacheKey, generation int64, now time.Time) (*variants, *resource.Route) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.byKey[key]
	if ok {
		found := e.Value.(*cached)
		if found.generation >= generation && now.Sub(found.rendered) < cacheAge {
			c.recent.MoveToFront(e)
			c.hits.Inc()
			return found.answer, found.route
		}
		c.remove(e)
	}
	return nil, nil
}

// put keeps an answer rendered from a snapshot of a generation, unless a newer
// one is there. What is larger than an eighth of the budget is not kept.
func (c *cache) put(key cacheKey, generation int64, rt *resource.Route, a *variants) {
	c.misses.Inc()
	size := len(a.plain) + len(key.base) + len(key.target) + len(key.accept) + entryOverhead
	if size > c.budget/8 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if e, ok := c.byKey[key]; ok {
		if e.Value.(*cached).generation > generation {
			return
		}
		c.remove(e)
	}
	c.byKey[key] = c.recent.PushFront(&cached{key, generation, c.now(), rt, a, size})
	c.size += size
	c.trim()
}

// grew accounts for an encoding made of an answer that may still be kept.
func (c *cache) grew(key cacheKey, a *variants, bytes int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e, ok := c.byKey[key]; ok && e.Value.(*cached).answer == a {
		e.Value.(*cached).size += bytes
		c.size += bytes
		c.trim()
	}
}

// trim drops what was asked for longest ago until the budget is kept.
func (c *cache) trim() {
	for c.size > c.budget {
		c.remove(c.recent.Back())
	}
}

func (c *cache) remove(e *containers.Element) {
	gone := c.recent.Remove(e).(*cached)
	delete(c.byKey, gone.key)
	c.size -= gone.size
}
