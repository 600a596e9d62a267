package store

import "sync"

// maxFoundBytes limits the memory of all cached plans, maxPlanBytes that of a plan
// to be cached.
const (
	maxFoundBytes = 16 << 20
	maxPlanBytes  = 4 << 20
)

// searchCache keeps the plans of the latest searches with their counts, since
// clients ask for one page after the other. Keys begin with the generation, so
// entries are never stale. The oldest is dropped first.
type searchCache struct {
	mu    sync.Mutex
	plans map[string]*searchPlan
	order []string // by age
	bytes int
}

func newSearchCache() *searchCache { return &searchCache{plans: map[string]*searchPlan{}} }

func (c *searchCache) get(key string) *searchPlan {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.plans[key]
}

func (c *searchCache) put(key string, plan *searchPlan) {
	size := plan.size() + 2*len(key)
	if size > maxPlanBytes {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.plans[key] != nil {
		return
	}
	c.plans[key] = plan
	c.order = append(c.order, key)
	c.bytes += size
	for c.bytes > maxFoundBytes {
		oldest := c.order[0]
		c.order = c.order[1:]
		c.bytes -= c.plans[oldest].size() + 2*len(oldest)
		delete(c.plans, oldest)
	}
}
