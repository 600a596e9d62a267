package store

import (
	"context"

	"github.com/repoglot/repoglot/catalog"
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
}

// ledger returns the list of deltas that a query with a filter reads. An index
// lists the deltas of each author; within a translation or a component the author
// is only a condition.
func (q *ChangeQuery) ledger(author int64) ledger {
	sc := q.scope()
	l := ledger{key: ledgerKey{sc.kind, sc.id, author}, column: sc.column, first: sc.first, id: sc.id, byID: sc.column == everywhere}
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

func (r *deltaRow) component() int64 { return r.id / catalog.UnitsPerComponent }

// isEvent reports whether a delta holds events or edits: it then holds nothing else.
func (r *deltaRow) isEvent() bool { return r.n > r.added+r.updated+r.removed }

// rows returns the deltas of the ledger that begin at a rank in (lo, hi] and match
// the filter's actions, time and components.
func (s *Snapshot) rows(ctx context.Context, l *ledger, f *changeFilter, lo, hi int64) ([]deltaRow, error) {
	args := []any{l.id, lo, hi, f.from, f.to, smallint(f.added), smallint(f.updated), smallint(f.removed), smallint(f.events)}
	query := `SELECT d.id, ` + l.first + `, d.first_change, d.n, d.added, d.updated, d.removed, d.at FROM deltas d
		WHERE ` + l.column + ` = $1 AND ` + l.first + ` > $2 AND ` + l.first + ` <= $3 AND d.at >= $4 AND d.at <= $5
		AND d.added * $6 + d.updated * $7 + d.removed * $8 + (d.n - d.added - d.updated - d.removed) * $9 > 0`
	if l.extra != "" {
		query += ` AND ` + l.extra + ` = $10`
		args = append(args, l.extraID)
	}
	var out []deltaRow
	var r deltaRow
	err := s.s.query(ctx, query+` ORDER BY `+l.first, args, func(scan scan) error {
		err := scan(&r.id, &r.rank, &r.firstChange, &r.n, &r.added, &r.updated, &r.removed, &r.at)
		if err == nil && f.ofComponent(r.component()) {
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
func (s *Snapshot) countEvents(ctx context.Context, rows []deltaRow) error {
	var ids []int64
	at := map[int64]int{}
	for i := range rows {
		if rows[i].isEvent() {
			ids = append(ids, rows[i].id)
			at[rows[i].id] = i
			rows[i].events = map[catalog.Action]int32{}
		}
	}
	return chunks(ids, func(chunk []any) error {
		return s.s.query(ctx, `SELECT c.delta_id, c.action, COUNT(*) FROM changes c WHERE c.delta_id IN `+list(1, len(chunk))+` GROUP BY c.delta_id, c.action`,
			chunk, func(scan scan) error {
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
func (s *Snapshot) straddling(ctx context.Context, l *ledger, rank int64) (int64, error) {
	query, args := `SELECT COALESCE(MAX(`+l.first+`), 0) FROM deltas d WHERE `+l.column+` = $1 AND `+l.first+` <= $2`, []any{l.id, rank}
	if l.extra != "" {
		query += ` AND ` + l.extra + ` = $3`
		args = append(args, l.extraID)
	}
	var first int64
	_, err := s.s.first(ctx, query, args, &first)
	return first, err
}
