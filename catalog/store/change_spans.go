package store

import (
	"context"
	"math"
	"sync"
)

const (
	// defaultSpanWidth is the number of ranks in a span. A delta belongs to the
	// span in which it begins.
	defaultSpanWidth = 1024
	// maxSpanSums limits all sums: 48 bytes each, 20 MB.
	maxSpanSums = 400_000
	// maxLedgers limits the number of ledgers with sums.
	maxLedgers = 4096
	// spansAtOnce limits what is read before it is cached, so that a request that
	// is cancelled early still helps the next one.
	spansAtOnce = 32
)

// ledgerSums are the sums of a ledger's closed spans. A ledger only grows, so they
// are valid in every snapshot in which it is at least as long.
type ledgerSums struct {
	turn chan struct{} // holds one token; its holder may extend tree
	tree sumTree
	used int64 // spanCache.clock at the last use
}

// spanCache keeps the sums of the ledgers in use, up to maxSpanSums.
type spanCache struct {
	mu    sync.Mutex
	byKey map[ledgerKey]*ledgerSums
	total int
	clock int64
	width int64 // of spans; constant, like room, except in tests
	room  int   // maximum number of sums
}

func newSpanCache() *spanCache {
	return &spanCache{byKey: map[ledgerKey]*ledgerSums{}, width: defaultSpanWidth, room: maxSpanSums}
}

func (c *spanCache) get(key ledgerKey) *ledgerSums {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.clock++
	m, ok := c.byKey[key]
	if !ok {
		m = &ledgerSums{turn: make(chan struct{}, 1), tree: sumTree{width: c.width}}
		m.turn <- struct{}{}
		c.byKey[key] = m
		c.evict(m)
	}
	m.used = c.clock
	return m
}

// grown replaces the sums of m by more of them.
func (c *spanCache) grown(key ledgerKey, m *ledgerSums, tree sumTree) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := tree.size() - m.tree.size()
	m.tree = tree
	if c.byKey[key] == m { // otherwise it was evicted meanwhile
		c.total += n
		c.evict(m)
	}
}

func (c *spanCache) treeOf(m *ledgerSums) sumTree {
	c.mu.Lock()
	defer c.mu.Unlock()
	return m.tree
}

// evict drops the least recently used ledgers, but never kept.
func (c *spanCache) evict(kept *ledgerSums) {
	for c.total > c.room || len(c.byKey) > maxLedgers {
		var oldest ledgerKey
		used := int64(math.MaxInt64)
		for key, m := range c.byKey {
			if m != kept && m.used < used {
				oldest, used = key, m.used
			}
		}
		if used == math.MaxInt64 {
			return
		}
		c.total -= c.byKey[oldest].tree.size()
		delete(c.byKey, oldest)
	}
}

// everything is the filter that selects all entries.
func everything() *changeFilter {
	return &changeFilter{all: true, added: true, updated: true, removed: true, events: true, from: math.MinInt64, to: math.MaxInt64}
}

// spanSums returns the sums of the spans of a ledger that are closed in this snapshot,
// in which the ledger has length entries.
func (s *Snapshot) spanSums(ctx context.Context, l *ledger, length int64) (sumTree, error) {
	c := s.db.caches.spans
	closed := length / c.width
	if closed == 0 {
		return sumTree{width: c.width}, nil
	}
	m := c.get(l.key)
	select {
	case <-ctx.Done():
		return sumTree{}, ctx.Err()
	case <-m.turn:
	}
	defer func() { m.turn <- struct{}{} }()
	tree := c.treeOf(m)
	for tree.closed < closed {
		upTo := min(tree.closed+spansAtOnce, closed)
		rows, err := s.rows(ctx, l, everything(), []rankRange{{tree.closed * c.width, upTo * c.width}})
		if err != nil {
			return sumTree{}, err
		}
		tree = tree.extended(rows, upTo)
		c.grown(l.key, m, tree)
	}
	tree.closed = closed // of this snapshot, which may be older
	return tree, nil
}
