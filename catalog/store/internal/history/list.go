package history

import (
	"context"
	"slices"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store/internal/sqldb"
)

// List is a counted list of changes in one snapshot. It must not outlive the
// snapshot.
type List struct {
	s     *Reader
	query Query
	count int64
	page  func(ctx context.Context, lo, hi int64) ([]catalog.Change, error) // the lo-th to hi-th entry, ascending, from 1
	spans []spanCount
}

// ChangeList counts the list of a query, without Offset and Limit. Without a filter it reads
// counters. With one it sums up deltas and keeps the sums: cost does not grow with the list.
func (s *Reader) ChangeList(ctx context.Context, q Query) (*List, error) {
	defer q.about(ctx, s.s).End()
	c := &List{s: s, query: q}
	var err error
	switch {
	case q.UnitID != 0:
		err = c.ofUnit(ctx, &q)
	case q.filtered():
		err = c.filtered(ctx, &q)
	default:
		err = c.plain(ctx, &q)
	}
	return c, s.s.Fail(ctx, "count changes of "+q.scope().name, err)
}

// about begins a section of the list that the query selects from; nil for the list of
// the server.
func (q *Query) about(ctx context.Context, s *sqldb.Session) *sqldb.Reading {
	switch {
	case q.TranslationID != 0:
		return s.AboutTranslation(ctx, q.TranslationID)
	case q.ComponentID != 0:
		return s.About(q.ComponentID)
	case q.ProjectID != 0:
		return s.AboutProject(q.ProjectID)
	}
	return nil
}

// Count is the number of entries.
func (c *List) Count() int64 { return c.count }

// Page returns up to limit entries, starting at offset. Its cost does not depend
// on offset.
func (c *List) Page(ctx context.Context, offset, limit int) ([]catalog.Change, error) {
	if limit <= 0 || offset < 0 || int64(offset) >= c.count {
		return nil, nil
	}
	lo := int64(offset) + 1
	hi := min(int64(offset)+min(int64(limit), c.count), c.count)
	if c.query.Newest {
		lo, hi = c.count+1-hi, c.count+1-lo
	}
	defer c.query.about(ctx, c.s.s).End()
	entries, err := c.page(ctx, lo, hi)
	if c.query.Newest {
		slices.Reverse(entries)
	}
	return entries, c.s.s.Fail(ctx, "read changes of "+c.query.scope().name, err)
}

// plain counts the list without a filter: the position of an entry follows from
// its rank.
func (c *List) plain(ctx context.Context, q *Query) error {
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
	s      *Reader
	l      ledger
	f      filter
	after  int64 // entries up to this rank are left out
	length int64 // entries of the ledger
	from   int64 // the first delta begins after this rank
}

// spanCount counts the selected entries of the deltas that begin in (lo, hi].
type spanCount struct {
	lo, hi, count int64
	exact         bool // otherwise count is only an upper bound
}

func (c *List) filtered(ctx context.Context, q *Query) error {
	f, possible, err := c.s.filter(ctx, q)
	if err != nil || !possible {
		return err
	}
	sel := &selection{s: c.s, f: f, l: q.ledger(f.author)}
	if sel.from, err = sel.bound(ctx, q); err != nil {
		return err
	}
	if c.spans, err = sel.count(ctx); err != nil {
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
func (sel *selection) bound(ctx context.Context, q *Query) (int64, error) {
	sc := q.scope()
	if sel.l.byID {
		sc = (&Query{}).scope()
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

// count counts the selection by the sums of spans where these are exact, and otherwise
// by deltas.
func (sel *selection) count(ctx context.Context) (out []spanCount, err error) {
	tail, width := sel.from, sel.s.spans.width
	if sel.length-sel.from > nearEnd*width {
		sums, err := sel.s.spanSums(ctx, &sel.l, sel.length)
		if err != nil {
			return nil, err
		}
		tail = sel.length / width * width
		for i := range sums {
			m := &sums[i]
			c := spanCount{lo: max(m.span*width, sel.from), hi: (m.span + 1) * width}
			if c.hi <= sel.from || m.maxAt < sel.f.from || m.minAt > sel.f.to || !sel.f.ofComponent(m.component) {
				continue
			}
			if c.count = sel.f.matches(&m.actionCounts); c.count == 0 {
				continue
			}
			c.exact = m.span*width >= sel.after && sel.f.inTime(m.minAt) && sel.f.inTime(m.maxAt)
			if n := len(out) - 1; n >= 0 && out[n].hi == c.hi { // of another component
				c.count, c.exact = c.count+out[n].count, c.exact && out[n].exact
				out = out[:n]
			}
			out = append(out, c)
		}
	}
	return sel.settle(ctx, append(out, spanCount{lo: tail, hi: sel.length}))
}

// settle counts the deltas of the spans whose counts are not exact, and leaves out the
// spans without selected entries.
func (sel *selection) settle(ctx context.Context, list []spanCount) ([]spanCount, error) {
	var open []*spanCount
	for i := range list {
		if !list[i].exact {
			open = append(open, &list[i])
		}
	}
	for chunk := range slices.Chunk(open, rangesAtOnce) {
		var ranges []rankRange
		for _, c := range chunk {
			ranges = append(ranges, rankRange{c.lo, c.hi})
			c.count, c.exact = 0, true
		}
		rows, err := sel.readSelected(ctx, ranges)
		if err != nil {
			return nil, err
		}
		for i := range rows {
			for rows[i].rank > chunk[0].hi {
				chunk = chunk[1:]
			}
			chunk[0].count += rows[i].count
		}
	}
	return slices.DeleteFunc(list, func(c spanCount) bool { return c.count == 0 }), nil
}

// selected is a delta that has selected entries.
type selected struct {
	deltaRow
	skip  int64 // entries at its start that sel.after leaves out
	count int64 // selected entries
}

// readSelected reads the deltas that begin in ranges, ascending.
func (sel *selection) readSelected(ctx context.Context, ranges []rankRange) ([]selected, error) {
	rows, err := sel.s.rows(ctx, &sel.l, &sel.f, ranges)
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
	_, err := sel.s.s.First(ctx, `SELECT COUNT(*) FROM changes c WHERE c.delta_id = $1 AND c.n >= $2 AND c.action IN `+sqldb.List(3, actionSlots),
		append([]any{r.id, r.skip}, sel.f.actionArgs()...), &r.count)
	return err
}

// ofUnit lists the entries of one unit, which are few: an index names them, the other
// conditions of the query are applied here.
func (c *List) ofUnit(ctx context.Context, q *Query) error {
	f, possible, err := c.s.filter(ctx, q)
	if err != nil || !possible {
		return err
	}
	var all []catalog.Change
	err = c.s.s.Query(ctx, `SELECT `+changeColumns+`, d.translation_id, d.component_id, d.project_id, COALESCE(d.author_id, 0)
		FROM changes c JOIN deltas d ON d.id = c.delta_id`+changeJoins+` WHERE c.unit_id = $1 ORDER BY d.first_change, c.n`, []any{q.UnitID}, func(scan sqldb.Scan) error {
		var translation, component, project, author int64
		entry, err := scanChange(func(dest ...any) error { return scan(append(dest, &translation, &component, &project, &author)...) })
		if err != nil {
			return err
		}
		inList := (q.TranslationID == 0 || translation == q.TranslationID) && (q.ComponentID == 0 || component == q.ComponentID) && (q.ProjectID == 0 || project == q.ProjectID)
		if inList && entry.ID > q.AfterID && f.selects(&entry, component, author) {
			all = append(all, entry)
		}
		return nil
	})
	c.count = int64(len(all))
	c.page = func(_ context.Context, lo, hi int64) ([]catalog.Change, error) {
		return slices.Clone(all[lo-1 : hi]), nil
	}
	return err
}
