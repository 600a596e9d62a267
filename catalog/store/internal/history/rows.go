package history

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store/internal/sqldb"
)

// ledger is a list of deltas in the order of their ranks. One index has all of its
// columns.
type ledger struct {
	key           ledgerKey
	column, first string // the column that selects the deltas, and their ranks
	id            int64  // the value of column
	extra         string // a further condition, this column = extraID; or ""
	extraID       int64
	byID          bool // ranks are ids of entries
}

// ledgerKey names a ledger.
type ledgerKey struct {
	kind   byte // t, c, p or s
	id     int64
	author int64
	hidden string // filter.hidden
}

// ledger returns the list of deltas that a query with a filter reads. An index
// lists the deltas of each author; within a translation or a component the author
// is only a condition.
func (q *Query) ledger(f *filter) ledger {
	sc, author := q.scope(), f.author
	l := ledger{key: ledgerKey{sc.kind, sc.id, author, f.hidden}, column: sc.column, first: sc.first, id: sc.id, byID: sc.column == everywhere}
	switch {
	case author == 0:
	case sc.kind == 't' || sc.kind == 'c':
		l.extra, l.extraID = "d.author_id", author
	default:
		l.column, l.first, l.id, l.byID = "d.author_id", "d.first_change", author, true
		if sc.kind == 'p' {
			l.extra, l.extraID = "d.project_id", sc.id
		}
	}
	return l
}

// deltaRow is what a filter needs of a delta.
type deltaRow struct {
	actionCounts
	id, rank, firstChange, at int64
}

// isEvent reports whether a delta holds events or edits: it then holds nothing else.
func (r *deltaRow) isEvent() bool { return r.n > r.added+r.updated+r.removed }

// rankRange are the ranks in (lo, hi].
type rankRange struct{ lo, hi int64 }

// rangesAtOnce is the number of ranges of a statement.
const rangesAtOnce = 16

// rows returns the deltas of the ledger that begin in ranges, ascending, up to
// rangesAtOnce of them, and match the filter's actions, time and components.
func (s *Reader) rows(ctx context.Context, l *ledger, f *filter, ranges []rankRange) ([]deltaRow, error) {
	ranges = slices.DeleteFunc(slices.Clone(ranges), func(r rankRange) bool { return r.lo >= r.hi })
	if len(ranges) == 0 {
		return nil, nil
	}
	if len(ranges) > 1 {
		ranges = append(ranges, make([]rankRange, rangesAtOnce-len(ranges))...) // two statements are enough
	}
	extra, extraID := cmp.Or(l.extra, everywhere), cmp.Or(l.extraID, 1)
	condition, args := f.deltas(3)
	args = append([]any{l.id, extraID}, args...)
	var parts []string
	for _, r := range ranges {
		parts = append(parts, fmt.Sprintf(`SELECT d.id, %s AS first, d.first_change, d.n, d.added, d.updated, d.removed, d.at FROM deltas d
			WHERE %s = $1 AND %[1]s > $%[3]d AND %[1]s <= $%[4]d AND %[5]s = $2 AND %[6]s`, l.first, l.column, len(args)+1, len(args)+2, extra, condition))
		args = append(args, r.lo, r.hi)
	}
	query := strings.Join(parts, ` UNION ALL `) + ` ORDER BY first`
	var out []deltaRow
	var r deltaRow
	err := s.s.Query(ctx, query, args, func(scan sqldb.Scan) error {
		err := scan(&r.id, &r.rank, &r.firstChange, &r.n, &r.added, &r.updated, &r.removed, &r.at)
		if err == nil && f.ofComponent(r.id/catalog.UnitsPerComponent) {
			out = append(out, r)
		}
		return err
	})
	if err == nil && f.events {
		err = s.countEvents(ctx, out)
	}
	return out, err
}

// countEvents fills in the actions of the events among rows.
func (s *Reader) countEvents(ctx context.Context, rows []deltaRow) error {
	var ids []int64
	at := map[int64]int{}
	for i := range rows {
		if rows[i].isEvent() {
			ids = append(ids, rows[i].id)
			at[rows[i].id] = i
			rows[i].events = map[catalog.Action]int32{}
		}
	}
	return sqldb.Chunks(ids, func(chunk []any) error {
		return s.s.Query(ctx, `SELECT c.delta_id, c.action, COUNT(*) FROM changes c WHERE c.delta_id IN `+sqldb.List(1, len(chunk))+` GROUP BY c.delta_id, c.action`,
			chunk, func(scan sqldb.Scan) error {
				var id int64
				var action catalog.Action
				var n int32
				err := scan(&id, &action, &n)
				rows[at[id]].events[action] = n
				return err
			})
	})
}

// straddling is the rank of the last delta that begins at or before a rank: the
// only one that can extend beyond it. It is 0 if the ledger has no such delta.
func (s *Reader) straddling(ctx context.Context, l *ledger, rank int64) (int64, error) {
	query, args := `SELECT COALESCE(MAX(`+l.first+`), 0) FROM deltas d WHERE `+l.column+` = $1 AND `+l.first+` <= $2`, []any{l.id, rank}
	if l.extra != "" {
		query += ` AND ` + l.extra + ` = $3`
		args = append(args, l.extraID)
	}
	var first int64
	_, err := s.s.First(ctx, query, args, &first)
	return first, err
}
