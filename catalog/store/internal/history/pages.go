package history

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store/internal/sqldb"
)

// page reads the lo-th to the hi-th selected entry.
func (sel *selection) page(ctx context.Context, spans []spanCount, lo, hi int64) ([]catalog.Change, error) {
	pieces, err := sel.piecesOf(ctx, spans, lo, hi)
	if err != nil {
		return nil, err
	}
	entries, err := sel.s.read(ctx, &sel.f, pieces)
	if err == nil && int64(len(entries)) != hi-lo+1 {
		err = fmt.Errorf("%d entries where %d are: restore a backup, or move the database away and import anew", len(entries), hi-lo+1)
	}
	slices.SortFunc(entries, func(a, b catalog.Change) int { return cmp.Compare(a.ID, b.ID) })
	return entries, err
}

// piecesOf returns the parts of deltas with the lo-th to the hi-th selected entry of
// spans.
func (sel *selection) piecesOf(ctx context.Context, list []spanCount, lo, hi int64) (out []piece, err error) {
	for _, c := range list {
		if hi < 1 {
			break
		}
		if lo > c.count {
			lo, hi = lo-c.count, hi-c.count
			continue
		}
		rows, err := sel.readSelected(ctx, []rankRange{{c.lo, c.hi}})
		if err != nil {
			return nil, err
		}
		for i := range rows {
			if n := rows[i].count; lo <= n && hi >= 1 {
				p, err := sel.piece(ctx, &rows[i], max(lo, 1), min(hi, n))
				if err != nil {
					return nil, err
				}
				out = append(out, p)
			}
			lo, hi = lo-rows[i].count, hi-rows[i].count
		}
	}
	return out, nil
}

// piece returns the part of a delta with its x-th to y-th selected entry.
func (sel *selection) piece(ctx context.Context, r *selected, x, y int64) (piece, error) {
	p := piece{delta: r.id, lo: r.skip, hi: int64(r.n) - 1}
	p.whole = r.skip == 0 && x == 1 && y == r.count
	if r.count == int64(r.n)-r.skip {
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
	_, err = sel.s.s.First(ctx, fmt.Sprintf(`SELECT c.n FROM changes c WHERE c.delta_id = $1 AND c.n >= $2 AND c.action IN %s
		ORDER BY c.n LIMIT 1 OFFSET $%d`, sqldb.List(3, actionSlots), 3+actionSlots), args, &n)
	return n, err
}

// read reads those entries of pieces that have an action of the filter, in any
// order.
func (s *Reader) read(ctx context.Context, f *filter, pieces []piece) ([]catalog.Change, error) {
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
	err := sqldb.Chunks(whole, func(chunk []any) error { return s.readPieces(ctx, f, chunk, 0, 1<<40, &out) })
	return out, err
}

func (s *Reader) readPieces(ctx context.Context, f *filter, deltas []any, lo, hi int64, out *[]catalog.Change) error {
	args := append([]any{lo, hi, sqldb.Smallint(f.all)}, f.actionArgs()...)
	query := `SELECT ` + changeColumns + ` FROM deltas d JOIN changes c ON c.delta_id = d.id AND c.n >= $1 AND c.n <= $2` + changeJoins + `
		WHERE ($3 = 1 OR c.action IN ` + sqldb.List(4, actionSlots) + `) AND d.id IN ` + sqldb.List(4+actionSlots, len(deltas))
	return s.s.Query(ctx, query, append(args, deltas...), func(scan sqldb.Scan) error {
		c, err := scanChange(scan)
		*out = append(*out, c)
		return err
	})
}

// piece is a part of a delta: its entries from lo to hi.
type piece struct {
	delta, lo, hi int64
	whole         bool
}

// NewestInLanguage returns the newest entries of the live translations of
// components into a language, up to limit, the newest first. It reads only the
// ends of their lists: one index lookup per translation, however long the list.
func (s *Reader) NewestInLanguage(ctx context.Context, components []int64, language string, limit int) ([]catalog.Change, error) {
	defer s.s.About(components...).End()
	op := "read the newest changes in " + language
	ends, err := s.endsOf(ctx, components, language, limit)
	if err != nil {
		return nil, s.s.Fail(ctx, op, err)
	}
	slices.SortFunc(ends, func(a, b end) int { return cmp.Or(cmp.Compare(b.at, a.at), cmp.Compare(b.first, a.first)) })
	var pieces []piece
	wanted := int64(limit)
	for _, e := range ends {
		if wanted <= 0 {
			break
		}
		pieces = append(pieces, piece{delta: e.delta, lo: max(0, e.n-wanted), hi: e.n - 1})
		wanted -= e.n
	}
	entries, err := s.read(ctx, &filter{all: true}, pieces)
	slices.SortFunc(entries, catalog.CompareNewest)
	return entries, s.s.Fail(ctx, op, err)
}

// NewestOfAuthor returns the newest entries of an author in components, updates among
// them, up to limit, the newest first. nil means all components. An index has all that
// finds them.
func (s *Reader) NewestOfAuthor(ctx context.Context, userID int64, components []int64, limit int) ([]catalog.Change, error) {
	var pieces []piece
	wanted := int64(limit)
	err := s.s.Query(ctx, `SELECT id, n, component_id FROM deltas WHERE author_id = $1 ORDER BY at DESC, first_change DESC`, []any{userID}, func(scan sqldb.Scan) error {
		var id, n, component int64
		if err := scan(&id, &n, &component); err != nil {
			return err
		}
		if components != nil && !slices.Contains(components, component) {
			return nil
		}
		pieces = append(pieces, piece{delta: id, lo: max(0, n-wanted), hi: n - 1})
		if wanted -= n; wanted <= 0 {
			return sqldb.ErrEnough
		}
		return nil
	})
	var entries []catalog.Change
	if err == nil {
		entries, err = s.read(ctx, &filter{all: true}, pieces)
		slices.SortFunc(entries, catalog.CompareNewest)
	}
	return entries, s.s.Fail(ctx, fmt.Sprintf("read the newest entries of author %d", userID), err)
}

// end is one of the last deltas of a translation.
type end struct{ delta, first, at, n int64 }

// endsOf reads, for each translation, the deltas that may hold one of the newest
// entries.
func (s *Reader) endsOf(ctx context.Context, components []int64, language string, limit int) ([]end, error) {
	var translations []int64
	err := s.s.IDsIn(ctx, `SELECT id FROM translations WHERE component_id IN $ids AND removed = 0 AND language = $1`, []any{language}, components, &translations)
	var ends []end
	for _, id := range translations {
		var more []end
		if err == nil {
			more, err = sqldb.Rows(ctx, s.s, `SELECT id, first_change, at, n FROM deltas WHERE translation_id = $1 ORDER BY first_in_translation DESC LIMIT $2`,
				[]any{id, limit}, func(e *end) []any { return []any{&e.delta, &e.first, &e.at, &e.n} })
		}
		ends = append(ends, more...)
	}
	return ends, err
}
