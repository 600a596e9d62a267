package store

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sort"

	"github.com/repoglot/repoglot/catalog"
)

// ChangeList is a counted list of changes in one snapshot. It must not outlive the
// snapshot.
type ChangeList struct {
	s     *Snapshot
	name  string
	count int64
	page  func(ctx context.Context, lo, hi int64) ([]catalog.Change, error) // the lo-th to hi-th entry, ascending, from 1
	spans []spanCount
	// newest reverses the order.
	newest bool
}

// ChangeList counts the list of a query, without Offset and Limit. Without a
// filter it reads counters. With one it sums up deltas and caches the sums: cost
// does not grow with the list.
func (s *Snapshot) ChangeList(ctx context.Context, q ChangeQuery) (*ChangeList, error) {
	c := &ChangeList{s: s, name: q.scope().name, newest: q.Newest}
	var err error
	if q.filtered() {
		err = c.filtered(ctx, &q)
	} else {
		err = c.plain(ctx, &q)
	}
	return c, s.db.fail(ctx, "count changes of "+c.name, err)
}

// Count is the number of entries.
func (c *ChangeList) Count() int64 { return c.count }

// Page returns up to limit entries, starting at offset. Its cost does not depend
// on offset.
func (c *ChangeList) Page(ctx context.Context, offset, limit int) ([]catalog.Change, error) {
	if limit <= 0 || offset < 0 || int64(offset) >= c.count {
		return nil, nil
	}
	lo := int64(offset) + 1
	hi := min(int64(offset)+min(int64(limit), c.count), c.count)
	if c.newest {
		lo, hi = c.count+1-hi, c.count+1-lo
	}
	entries, err := c.page(ctx, lo, hi)
	if c.newest {
		slices.Reverse(entries)
	}
	return entries, c.s.db.fail(ctx, "read changes of "+c.name, err)
}

// plain counts the list without a filter: the position of an entry follows from
// its rank.
func (c *ChangeList) plain(ctx context.Context, q *ChangeQuery) error {
	l := q.scope()
	total, err := c.s.length(ctx, l)
	if err != nil {
		return err
	}
	skipped, err := c.s.rank(ctx, l, q.AfterID, total)
	c.count = total - skipped
	c.page = func(ctx context.Context, lo, hi int64) ([]catalog.Change, error) {
		return c.s.entries(ctx, l, skipped+lo, skipped+hi)
	}
	return err
}

// selection is a filtered list that is being counted and read.
type selection struct {
	s      *Snapshot
	l      ledger
	f      changeFilter
	after  int64 // entries up to this rank are left out
	length int64 // entries of the ledger
}

// spanCount counts the selected entries of the deltas that begin in (lo, hi].
type spanCount struct {
	lo, hi, count int64
}

func (c *ChangeList) filtered(ctx context.Context, q *ChangeQuery) error {
	f, possible, err := c.s.filter(ctx, q)
	if err != nil || !possible {
		return err
	}
	sel := &selection{s: c.s, f: f, l: q.ledger(f.author)}
	from, err := sel.bound(ctx, q)
	if err != nil {
		return err
	}
	if c.spans, err = sel.count(ctx, from); err != nil {
		return err
	}
	for i := range c.spans {
		c.count += c.spans[i].count
	}
	c.page = func(ctx context.Context, lo, hi int64) ([]catalog.Change, error) {
		return sel.page(ctx, c.spans, lo, hi)
	}
	return nil
}

// bound finds the ledger's length and the rank of AfterID. It returns the rank
// after which the first delta of the selection begins.
func (sel *selection) bound(ctx context.Context, q *ChangeQuery) (int64, error) {
	sc := q.scope()
	if sel.l.byID {
		sc = (&ChangeQuery{}).scope()
	}
	var err error
	if sel.length, err = sel.s.length(ctx, sc); err != nil {
		return 0, err
	}
	if sel.after, err = sel.s.rank(ctx, sc, q.AfterID, sel.length); err != nil || sel.after == 0 {
		return 0, err
	}
	first, err := sel.s.straddling(ctx, &sel.l, sel.after)
	if first == 0 {
		return sel.after, err
	}
	return first - 1, err
}

// nearEnd is the number of spans at the end of a ledger for which sums are not
// worth their cost: pollers ask for these.
const nearEnd = 4

// count counts the selection span by span: from the sums of the span where they
// are exact, otherwise from the span's deltas.
func (sel *selection) count(ctx context.Context, from int64) ([]spanCount, error) {
	tail := from
	var out []spanCount
	cache := sel.s.db.caches.spans
	if sel.length-from > nearEnd*cache.width {
		list, closed, err := sel.s.spanSums(ctx, &sel.l, sel.length)
		if err != nil {
			return nil, err
		}
		tail = closed * cache.width
		first := cache.spanOf(from + 1)
		list = list[sort.Search(len(list), func(i int) bool { return list[i].span >= first }):]
		if out, err = sel.countSums(ctx, list, from); err != nil {
			return nil, err
		}
	}
	n, err := sel.countExactly(ctx, tail, sel.length)
	return append(out, spanCount{tail, sel.length, n}), err
}

func (sel *selection) countSums(ctx context.Context, list []spanSum, from int64) ([]spanCount, error) {
	var out []spanCount
	for len(list) > 0 {
		n := 1
		for n < len(list) && list[n].span == list[0].span {
			n++
		}
		lo := int64(list[0].span) * sel.s.db.caches.spans.width
		c := spanCount{lo: max(lo, from), hi: lo + sel.s.db.caches.spans.width}
		count, exact := sel.sum(list[:n])
		if count > 0 && (!exact || lo < sel.after) {
			var err error
			if count, err = sel.countExactly(ctx, c.lo, c.hi); err != nil {
				return nil, err
			}
		}
		if c.count = count; count > 0 {
			out = append(out, c)
		}
		list = list[n:]
	}
	return out, nil
}

// sum adds up the sums of one span. exact is false if only some of the deltas in a
// sum are within the filter's time.
func (sel *selection) sum(span []spanSum) (n int64, exact bool) {
	exact = true
	for i := range span {
		m := &span[i]
		if m.maxAt < sel.f.from || m.minAt > sel.f.to || !sel.f.ofComponent(int64(m.component)) {
			continue
		}
		matches := sel.f.matches(&m.actionCounts)
		n += matches
		exact = exact && (matches == 0 || sel.f.inTime(m.minAt) && sel.f.inTime(m.maxAt))
	}
	return n, exact
}

// selected is a delta that has selected entries.
type selected struct {
	deltaRow
	skip  int64 // entries at its start that sel.after leaves out
	count int64 // selected entries
}

// uniform reports whether all entries of the delta after skip are selected.
func (r *selected) uniform() bool { return r.count == int64(r.n)-r.skip }

func (sel *selection) countExactly(ctx context.Context, lo, hi int64) (int64, error) {
	rows, err := sel.readSelected(ctx, lo, hi)
	var n int64
	for i := range rows {
		n += rows[i].count
	}
	return n, err
}

// readSelected reads the deltas that begin in (lo, hi].
func (sel *selection) readSelected(ctx context.Context, lo, hi int64) ([]selected, error) {
	if lo >= hi {
		return nil, nil
	}
	rows, err := sel.s.rows(ctx, &sel.l, &sel.f, lo, hi)
	if err != nil {
		return nil, err
	}
	out := make([]selected, 0, len(rows))
	for i := range rows {
		r := selected{deltaRow: rows[i], count: sel.f.matches(&rows[i].actionCounts)}
		if r.rank <= sel.after {
			if err := sel.skipHead(ctx, &r); err != nil {
				return nil, err
			}
		}
		if r.count > 0 {
			out = append(out, r)
		}
	}
	return out, nil
}

// skipHead drops the entries up to sel.after.
func (sel *selection) skipHead(ctx context.Context, r *selected) error {
	r.skip = min(sel.after-r.rank+1, int64(r.n))
	if r.count == int64(r.n) {
		r.count -= r.skip
		return nil
	}
	if r.count == 0 {
		return nil
	}
	_, err := sel.s.s.first(ctx, `SELECT COUNT(*) FROM changes c WHERE c.delta_id = $1 AND c.n >= $2 AND c.action IN `+list(3, actionSlots),
		append([]any{r.id, r.skip}, sel.f.actionArgs()...), &r.count)
	return err
}

// page reads the lo-th to the hi-th selected entry.
func (sel *selection) page(ctx context.Context, spans []spanCount, lo, hi int64) ([]catalog.Change, error) {
	var pieces []piece
	before := int64(0)
	for _, c := range spans {
		if before >= hi {
			break
		}
		if before+c.count >= lo && c.count > 0 {
			rows, err := sel.readSelected(ctx, c.lo, c.hi)
			if err != nil {
				return nil, err
			}
			more, err := sel.pieces(ctx, rows, lo-before, hi-before)
			if err != nil {
				return nil, err
			}
			pieces = append(pieces, more...)
		}
		before += c.count
	}
	entries, err := sel.s.read(ctx, &sel.f, pieces)
	if err == nil && int64(len(entries)) != hi-lo+1 {
		err = fmt.Errorf("%d entries where %d are: restore a backup, or move the database away and import anew", len(entries), hi-lo+1)
	}
	slices.SortFunc(entries, func(a, b catalog.Change) int { return cmp.Compare(a.ID, b.ID) })
	return entries, err
}

// pieces returns the parts of rows with their lo-th to hi-th selected entry; lo
// may be less than 1, hi greater than their number.
func (sel *selection) pieces(ctx context.Context, rows []selected, lo, hi int64) ([]piece, error) {
	var out []piece
	for i := range rows {
		r := &rows[i]
		if hi < 1 {
			break
		}
		if lo <= r.count {
			p, err := sel.piece(ctx, r, max(lo, 1), min(hi, r.count))
			if err != nil {
				return nil, err
			}
			out = append(out, p)
		}
		lo -= r.count
		hi -= r.count
	}
	return out, nil
}

// piece returns the part of a delta with its x-th to y-th selected entry.
func (sel *selection) piece(ctx context.Context, r *selected, x, y int64) (piece, error) {
	p := piece{delta: r.id, lo: r.skip, hi: int64(r.n) - 1}
	p.whole = r.skip == 0 && x == 1 && y == r.count
	if r.uniform() {
		p.lo, p.hi = r.skip+x-1, r.skip+y-1
		return p, nil
	}
	var err error
	if x > 1 {
		if p.lo, err = sel.nth(ctx, r, x); err != nil {
			return p, err
		}
	}
	if y < r.count {
		p.hi, err = sel.nth(ctx, r, y)
	}
	return p, err
}

// nth is the index in its delta of the x-th selected entry. A delta is one file at
// one commit, which limits the search.
func (sel *selection) nth(ctx context.Context, r *selected, x int64) (n int64, err error) {
	args := append(append([]any{r.id, r.skip}, sel.f.actionArgs()...), x-1)
	_, err = sel.s.s.first(ctx, fmt.Sprintf(`SELECT c.n FROM changes c WHERE c.delta_id = $1 AND c.n >= $2 AND c.action IN %s
		ORDER BY c.n LIMIT 1 OFFSET $%d`, list(3, actionSlots), 3+actionSlots), args, &n)
	return n, err
}

// piece is a part of a delta: its entries from lo to hi.
type piece struct {
	delta, lo, hi int64
	whole         bool
}

// read reads those entries of pieces that have an action of the filter, in any
// order.
func (s *Snapshot) read(ctx context.Context, f *changeFilter, pieces []piece) ([]catalog.Change, error) {
	var out []catalog.Change
	var whole []int64
	for _, p := range pieces {
		if p.whole {
			whole = append(whole, p.delta)
			continue
		}
		if err := s.readPieces(ctx, f, []any{p.delta}, p.lo, p.hi, &out); err != nil {
			return nil, err
		}
	}
	err := chunks(whole, func(chunk []any) error { return s.readPieces(ctx, f, chunk, 0, 1<<40, &out) })
	return out, err
}

func (s *Snapshot) readPieces(ctx context.Context, f *changeFilter, deltas []any, lo, hi int64, out *[]catalog.Change) error {
	args := append([]any{lo, hi, smallint(f.all)}, f.actionArgs()...)
	query := `SELECT ` + changeColumns + ` FROM deltas d JOIN changes c ON c.delta_id = d.id AND c.n >= $1 AND c.n <= $2` + changeJoins + `
		WHERE ($3 = 1 OR c.action IN ` + list(4, actionSlots) + `) AND d.id IN ` + list(4+actionSlots, len(deltas))
	return s.s.query(ctx, query, append(args, deltas...), func(scan scan) error {
		c, err := scanChange(scan)
		*out = append(*out, c)
		return err
	})
}
