package object

import (
	"container/heap"
	"context"
)

// slop is how many more commits are read after all that are left are older than
// the commits found, since commit times can be wrong. Git takes 5 (revision.c).
const slop = 512

// Unseen returns the commits reachable from tip that are not in seen. With each
// commit seen has all its ancestors.
func (s *Store) Unseen(ctx context.Context, tip Hash, seen map[Hash]struct{}) (map[Hash]Node, error) {
	fresh := map[Hash]Node{}
	todo := []Hash{tip}
	for len(todo) > 0 {
		h := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if _, ok := seen[h]; ok {
			continue
		}
		if _, ok := fresh[h]; ok {
			continue
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		n, err := s.Node(h)
		if err != nil {
			return nil, err
		}
		fresh[h] = n
		todo = append(todo, n.Parents...)
	}
	return fresh, nil
}

// painted is a commit met by Difference.
type painted struct {
	hash    Hash
	node    Node
	old     bool // reachable from the commit to leave out
	visited bool // its parents were painted
}

// Difference returns the commits reachable from tip and not from any of without (git's
// without..tip). It reads the newest commits first, until the rest is reachable from
// both. With most > 0 it stops soon after it finds more than most commits. The zero id
// reaches nothing.
func (s *Store) Difference(ctx context.Context, tip Hash, without []Hash, most int) (map[Hash]Node, error) {
	d := painter{s: s, all: map[Hash]*painted{}}
	if err := d.push(tip, false); err != nil {
		return nil, err
	}
	for _, h := range without {
		if h.IsZero() {
			continue
		}
		if err := d.push(h, true); err != nil {
			return nil, err
		}
	}
	for extra := 0; d.queue.Len() > 0 && (most <= 0 || d.fresh <= most); {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if d.open == 0 { // all queued commits are to be left out
			if d.fresh == 0 {
				break
			}
			if extra++; extra > slop && d.queue[0].node.When < d.oldest {
				break
			}
		}
		if err := d.pop(); err != nil {
			return nil, err
		}
	}
	fresh := make(map[Hash]Node, d.fresh)
	for h, p := range d.all {
		if !p.old {
			fresh[h] = p.node
		}
	}
	return fresh, nil
}

// InHistory returns those of some objects that are tip or its ancestors. It reads
// the newest commits first, until it has met all of them or the history ends.
func (s *Store) InHistory(ctx context.Context, tip Hash, some map[Hash]bool) (map[Hash]bool, error) {
	d := painter{s: s, all: map[Hash]*painted{}}
	if err := d.push(tip, false); err != nil {
		return nil, err
	}
	found := make(map[Hash]bool, len(some))
	for d.queue.Len() > 0 && len(found) < len(some) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if h := d.queue[0].hash; some[h] {
			found[h] = true
		}
		if err := d.pop(); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// painter is the state of Difference.
type painter struct {
	s      *Store
	all    map[Hash]*painted
	queue  newestFirst
	open   int   // queued commits that are not known to be old
	fresh  int   // commits that are not known to be old
	oldest int64 // smallest time of a commit pushed as fresh
}

func (d *painter) push(h Hash, old bool) error {
	if p, ok := d.all[h]; ok {
		if old {
			d.paint(p)
		}
		return nil
	}
	n, err := d.s.Node(h)
	if err != nil {
		return err
	}
	p := &painted{hash: h, node: n, old: old}
	d.all[h] = p
	heap.Push(&d.queue, p)
	if !old {
		if d.fresh == 0 || n.When < d.oldest {
			d.oldest = n.When
		}
		d.open++
		d.fresh++
	}
	return nil
}

func (d *painter) pop() error {
	p, _ := heap.Pop(&d.queue).(*painted)
	p.visited = true
	if !p.old {
		d.open--
	}
	for _, parent := range p.node.Parents {
		if err := d.push(parent, p.old); err != nil {
			return err
		}
	}
	return nil
}

// paint marks a commit, and the commits that were reached from it, as old.
func (d *painter) paint(p *painted) {
	todo := []*painted{p}
	for len(todo) > 0 {
		p, todo = todo[len(todo)-1], todo[:len(todo)-1]
		if p.old {
			continue
		}
		p.old = true
		d.fresh--
		if !p.visited {
			d.open--
			continue
		}
		for _, parent := range p.node.Parents {
			if q, ok := d.all[parent]; ok {
				todo = append(todo, q)
			}
		}
	}
}

// newestFirst is a heap by commit time, then id.
type newestFirst []*painted

func (q newestFirst) Len() int { return len(q) }
func (q newestFirst) Less(i, j int) bool {
	if q[i].node.When != q[j].node.When {
		return q[i].node.When > q[j].node.When
	}
	return q[i].hash.Compare(q[j].hash) < 0
}
func (q newestFirst) Swap(i, j int) { q[i], q[j] = q[j], q[i] }

func (q *newestFirst) Push(x any) { *q = append(*q, x.(*painted)) }

func (q *newestFirst) Pop() any {
	old := *q
	x := old[len(old)-1]
	*q = old[:len(old)-1]
	return x
}
