package store

import (
	"context"
	"math"
	"sort"
	"sync"

	"github.com/repoglot/repoglot/catalog"
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

// spanSum is the sum of the deltas of one component in one span.
type spanSum struct {
	span, component int32
	actionCounts
	minAt, maxAt int64
}

// ledgerSums are the sums of a ledger's closed spans. A ledger only grows, so they
// are valid in every snapshot in which it is at least as long.
type ledgerSums struct {
	turn   chan struct{} // holds one token; its holder may extend list
	closed int64         // number of spans
	list   []spanSum     // ascending by span; append-only
	used   int64         // spanCache.clock at the last use
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

// spanOf is the span of a rank.
func (c *spanCache) spanOf(rank int64) int32 { return int32((rank - 1) / c.width) }

func (c *spanCache) get(key ledgerKey) *ledgerSums {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.clock++
	m, ok := c.byKey[key]
	if !ok {
		m = &ledgerSums{turn: make(chan struct{}, 1)}
		m.turn <- struct{}{}
		c.byKey[key] = m
		c.evict(m)
	}
	m.used = c.clock
	return m
}

// grown replaces the sums of m by a longer list.
func (c *spanCache) grown(key ledgerKey, m *ledgerSums, list []spanSum) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := len(list) - len(m.list)
	m.list = list
	if c.byKey[key] == m { // otherwise it was evicted meanwhile
		c.total += n
		c.evict(m)
	}
}

func (c *spanCache) sumsOf(m *ledgerSums) []spanSum {
	c.mu.Lock()
	defer c.mu.Unlock()
	return m.list
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
		c.total -= len(c.byKey[oldest].list)
		delete(c.byKey, oldest)
	}
}

// everything is the filter that selects all entries.
func everything() *changeFilter {
	return &changeFilter{all: true, added: true, updated: true, removed: true, events: true, from: math.MinInt64, to: math.MaxInt64}
}

// spanSums returns the sums of a ledger's closed spans in this snapshot, in which
// the ledger has length entries, and the number of these spans.
func (s *Snapshot) spanSums(ctx context.Context, l *ledger, length int64) ([]spanSum, int64, error) {
	c := s.db.caches.spans
	closed := length / c.width
	if closed == 0 {
		return nil, 0, nil
	}
	m := c.get(l.key)
	select {
	case <-ctx.Done():
		return nil, 0, ctx.Err()
	case <-m.turn:
	}
	defer func() { m.turn <- struct{}{} }()
	for m.closed < closed {
		upTo := min(m.closed+spansAtOnce, closed)
		rows, err := s.rows(ctx, l, everything(), m.closed*c.width, upTo*c.width)
		if err != nil {
			return nil, 0, err
		}
		c.grown(l.key, m, c.appendSums(c.sumsOf(m), rows))
		m.closed = upTo
	}
	list := c.sumsOf(m)
	return list[:sort.Search(len(list), func(i int) bool { return int64(list[i].span) >= closed })], closed, nil
}

// appendSums adds up rows, span by span, components in order of appearance.
func (c *spanCache) appendSums(list []spanSum, rows []deltaRow) []spanSum {
	begin := len(list) // index of the current span's first sum
	at := map[int64]int{}
	for i := range rows {
		r := &rows[i]
		span, component := c.spanOf(r.rank), r.component()
		if begin < len(list) && list[begin].span != span {
			begin = len(list)
			clear(at)
		}
		j, ok := at[component]
		if !ok {
			j = len(list)
			at[component] = j
			list = append(list, spanSum{span: span, component: int32(component), minAt: r.at, maxAt: r.at})
		}
		list[j].add(r)
	}
	return list
}

func (m *spanSum) add(r *deltaRow) {
	m.n += r.n
	m.added += r.added
	m.updated += r.updated
	m.removed += r.removed
	m.minAt, m.maxAt = min(m.minAt, r.at), max(m.maxAt, r.at)
	for action, n := range r.events {
		if m.events == nil {
			m.events = map[catalog.Action]int32{}
		}
		m.events[action] += n
	}
}
