package store

import (
	"math"
	"slices"
	"sort"

	"github.com/repoglot/repoglot/catalog"
)

const (
	// fan is the number of spans in a span of the next level.
	fan = 16
	// maxLevel is the widest level: its counts fit into 32 bits.
	maxLevel = 5
	// everyComponent marks the sum of all components of a span. A span of a single
	// component has no such sum.
	everyComponent = 0
)

// spanSum is the sum of the deltas of one component in one span, or of all its
// deltas.
type spanSum struct {
	span, component int32
	actionCounts
	minAt, maxAt int64
}

func (m *spanSum) add(o *spanSum) {
	m.n += o.n
	m.added += o.added
	m.updated += o.updated
	m.removed += o.removed
	m.minAt, m.maxAt = min(m.minAt, o.minAt), max(m.maxAt, o.maxAt)
	for action, n := range o.events {
		if m.events == nil {
			m.events = map[catalog.Action]int32{}
		}
		m.events[action] += n
	}
}

// sumTree has the sums of the closed spans of a ledger: level 0 the sums of single spans,
// level n of fan^n spans each. Level 0 has no sums of each component: there would
// be about one for each delta. Spans without deltas have none. A ledger only
// grows and levels are only appended to, so a copy of a tree stays valid.
type sumTree struct {
	width  int64       // ranks of a span of level 0
	closed int64       // spans of level 0
	levels [][]spanSum // ascending by span
	// last has the sums by component of the last spans of level 0, which are in no span
	// of level 1 yet.
	last []spanSum
}

// spans is the number of spans of level 0 in one of a level.
func spans(level int) int64 {
	n := int64(1)
	for range level {
		n *= fan
	}
	return n
}

// size is the number of sums.
func (t *sumTree) size() (n int) {
	for _, list := range t.levels {
		n += len(list)
	}
	return n + len(t.last)
}

// between returns the sums of a level's spans from first to before end.
func (t *sumTree) between(level int, first, end int64) []spanSum {
	if level >= len(t.levels) {
		return nil
	}
	list := t.levels[level]
	at := func(span int64) int {
		return sort.Search(len(list), func(i int) bool { return int64(list[i].span) >= span })
	}
	return list[at(first):at(end)]
}

// widest is the level of the widest span that begins with a span of level 0 and is
// closed.
func (t *sumTree) widest(span int64) int {
	level := 0
	for level < maxLevel && span%spans(level+1) == 0 && span+spans(level+1) <= t.closed {
		level++
	}
	return level
}

// extended is the tree with the next spans closed, up to closed; rows are their
// deltas.
func (t sumTree) extended(rows []deltaRow, closed int64) sumTree {
	t.levels = slices.Clone(t.levels)
	for ; t.closed < closed; t.closed++ {
		n := sort.Search(len(rows), func(i int) bool { return rows[i].rank > (t.closed+1)*t.width })
		if n > 0 {
			begin := len(t.last)
			t.last = appendSums(t.last, t.closed, sumsOfRows(rows[:n]))
			t.add(0, t.last[begin:begin+1])
			rows = rows[n:]
		}
		if (t.closed+1)%fan == 0 {
			t.add(1, appendSums(nil, t.closed/fan, t.last))
			t.last = nil
			t.widen()
		}
	}
	return t
}

// add appends sums to a level.
func (t *sumTree) add(level int, sums []spanSum) {
	for level >= len(t.levels) { // the first spans may have no deltas
		t.levels = append(t.levels, nil)
	}
	t.levels[level] = append(t.levels[level], sums...)
}

// widen adds the spans of level 2 and more that end with the span t.closed.
func (t *sumTree) widen() {
	for level := 2; level <= maxLevel && (t.closed+1)%spans(level) == 0; level++ {
		span := t.closed / spans(level)
		t.add(level, appendSums(nil, span, t.between(level-1, span*fan, (span+1)*fan)))
	}
}

// sumsOfRows returns a sum of each delta.
func sumsOfRows(rows []deltaRow) []spanSum {
	out := make([]spanSum, len(rows))
	for i := range rows {
		r := &rows[i]
		out[i] = spanSum{component: int32(r.component()), actionCounts: r.actionCounts, minAt: r.at, maxAt: r.at}
	}
	return out
}

// appendSums appends the sums of a span, those of all its parts added up: of all
// components first, then of each one in order of appearance.
func appendSums(list []spanSum, span int64, parts []spanSum) []spanSum {
	sum := func(component int32) spanSum {
		return spanSum{span: int32(span), component: component, minAt: math.MaxInt64, maxAt: math.MinInt64}
	}
	begin, at := len(list), map[int32]int{}
	list = append(list, sum(everyComponent))
	for i := range parts {
		p := &parts[i]
		if p.component == everyComponent {
			continue
		}
		j, ok := at[p.component]
		if !ok {
			j = len(list)
			at[p.component] = j
			list = append(list, sum(p.component))
		}
		list[j].add(p)
		list[begin].add(p)
	}
	if len(at) < 2 { // without parts nothing is left
		list = slices.Delete(list, begin, begin+1)
	}
	return list
}
