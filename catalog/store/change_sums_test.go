package store

import (
	"math/rand/v2"
	"testing"

	"github.com/repoglot/repoglot/catalog"
)

// Every span of every level has the sums of its deltas, however the tree grew, and an
// older copy stays as it was.
func TestSumTree(t *testing.T) {
	const width, closed = 3, 5000
	random := rand.New(rand.NewPCG(1, 2))
	var rows []deltaRow
	for rank := int64(1); rank <= width*closed; {
		r := deltaRow{rank: rank, at: random.Int64N(1000), id: (1 + random.Int64N(4)) * catalog.UnitsPerComponent}
		switch n := 1 + random.Int32N(7); random.IntN(3) {
		case 0:
			r.n, r.added = n, n
		case 1:
			r.n, r.events = n, map[catalog.Action]int32{catalog.ActionHook: n}
		default:
			r.n, r.removed, r.updated = n+1, n, 1
		}
		rows = append(rows, r)
		if rank += int64(r.n); random.IntN(50) == 0 {
			rank += random.Int64N(100) // spans without deltas
		}
	}
	tree := sumTree{width: width}
	var older sumTree
	size := 0
	for rest := rows; tree.closed < closed; {
		if random.IntN(20) == 0 {
			older, size = tree, tree.size()
		}
		upTo := min(closed, tree.closed+1+random.Int64N(60))
		n := 0
		for n < len(rest) && rest[n].rank <= upTo*width {
			n++
		}
		tree = tree.extended(rest[:n], upTo)
		rest = rest[n:]
	}
	if older.size() != size {
		t.Errorf("an older tree has %d sums, had %d", older.size(), size)
	}
	if len(tree.levels) != 4 { // 5000 / 16³ = 1
		t.Fatalf("%d levels", len(tree.levels))
	}
	for level, list := range tree.levels {
		for span := range closed / spans(level) {
			checkSums(t, &tree, level, span, rows)
		}
		for i := 1; i < len(list); i++ {
			if list[i].span < list[i-1].span {
				t.Fatalf("level %d is not ascending", level)
			}
		}
	}
}

// checkSums compares the sums of a span with its deltas.
func checkSums(t *testing.T, tree *sumTree, level int, span int64, rows []deltaRow) {
	t.Helper()
	want, got := map[int32]*spanSum{}, map[int32]*spanSum{}
	ranks := spans(level) * tree.width
	for i := range rows {
		if r := &rows[i]; r.rank > span*ranks && r.rank <= (span+1)*ranks {
			for _, component := range []int32{everyComponent, int32(r.component())} {
				one := spanSum{component: component, actionCounts: r.actionCounts, minAt: r.at, maxAt: r.at}
				if want[component] == nil {
					one.events = nil
					one.n, one.added, one.updated, one.removed = 0, 0, 0, 0
					want[component] = &one
				}
				want[component].add(&spanSum{actionCounts: r.actionCounts, minAt: r.at, maxAt: r.at})
			}
		}
	}
	if len(want) == 2 {
		delete(want, everyComponent)
	} else if level == 0 && len(want) > 0 {
		want = map[int32]*spanSum{everyComponent: want[everyComponent]}
	}
	for _, m := range tree.between(level, span, span+1) {
		got[m.component] = &m
	}
	if len(got) != len(want) {
		t.Fatalf("level %d, span %d: sums of %d components, want %d", level, span, len(got), len(want))
	}
	for component, w := range want {
		g := got[component]
		if g == nil || g.n != w.n || g.added != w.added || g.updated != w.updated || g.removed != w.removed || g.minAt != w.minAt || g.maxAt != w.maxAt ||
			g.events[catalog.ActionHook] != w.events[catalog.ActionHook] {
			t.Fatalf("level %d, span %d, component %d: %+v, want %+v", level, span, component, g, w)
		}
	}
}
