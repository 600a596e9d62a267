package history

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store/internal/sqldb"
)

// Query selects entries of a list of changes. The zero value selects no
// entries because its Limit is 0. At most one of the ids is set; if all are 0 it
// is the list of the whole server.
type Query struct {
	// TranslationID lists the entries 31, 59 and 63 of a translation.
	TranslationID int64
	// ComponentID lists all entries of a component.
	ComponentID int64
	// ProjectID lists all entries of a project.
	ProjectID int64
	// UnitID, if not 0, selects the entries of one unit.
	UnitID int64
	// AfterID leaves out entries up to this id.
	AfterID int64
	// Offset and Limit select a page of the remaining entries.
	Offset, Limit int
	// Newest reverses the order: descending ids.
	Newest bool

	// Actions selects entries with one of these actions; nil selects all. An
	// action that is never recorded selects none.
	Actions []catalog.Action
	// User selects entries whose user has this username
	// (of entries that are [catalog.Action.Credited]: docs/compatibility.md#change-entries);
	// "" selects all, an unknown name none. With Authored it selects all that they are the author of.
	User     string
	Authored bool
	// From and To select entries whose timestamp is in [From, To]; a zero bound is
	// open.
	From, To time.Time
	// Components selects entries of these components; nil selects all. It is for
	// lists that span hidden components.
	Components []int64
}

// Reader reads the history in one transaction.
type Reader struct {
	s     *sqldb.Session
	spans *Spans
}

// NewReader makes a reader of a session, with the sums that are kept of its database.
func NewReader(s *sqldb.Session, spans *Spans) *Reader { return &Reader{s, spans} }

// Change returns one entry, or ErrNotFound.
func (s *Reader) Change(ctx context.Context, id int64) (catalog.Change, error) {
	defer s.s.About().End()
	var component int64 // 0: no entry is so old
	var entries []catalog.Change
	err := s.s.Query(ctx, `SELECT component_id FROM deltas WHERE first_change <= $1 ORDER BY first_change DESC LIMIT 1`, []any{id},
		func(scan sqldb.Scan) error { return scan(&component) })
	if err == nil {
		s.s.Reading.AddComponents(component)
		entries, err = s.entries(ctx, (&Query{}).scope(), id, id)
	}
	if err == nil && (id < 1 || len(entries) != 1) {
		err = sqldb.NotFound("no such change")
	}
	if err != nil {
		return catalog.Change{}, s.s.Fail(ctx, fmt.Sprintf("read change %d", id), err)
	}
	return entries[0], nil
}

// scope is one list: the column that selects its deltas, and the column with the
// rank of each delta's first entry. Ranks count the entries of a list from 1.
type scope struct {
	kind                        byte // t, c, p or s
	name, length, column, first string
	id                          int64
}

// everywhere is the column of the list with all deltas.
const everywhere = "1"

func (q *Query) scope() scope {
	switch {
	case q.TranslationID != 0:
		return scope{'t', fmt.Sprintf("translation %d", q.TranslationID), `SELECT changes FROM translations WHERE id = $1`, "d.translation_id", "d.first_in_translation", q.TranslationID}
	case q.ComponentID != 0:
		return scope{'c', fmt.Sprintf("component %d", q.ComponentID), `SELECT changes FROM components WHERE id = $1`, "d.component_id", "d.first_in_component", q.ComponentID}
	case q.ProjectID != 0:
		return scope{'p', fmt.Sprintf("project %d", q.ProjectID), `SELECT changes FROM projects WHERE id = $1`, "d.project_id", "d.first_in_project", q.ProjectID}
	}
	return scope{'s', "the server", `SELECT last_change FROM clock WHERE one = $1`, everywhere, "d.first_change", 1}
}

func (s *Reader) length(ctx context.Context, l scope) (int64, error) {
	var n int64
	_, err := s.s.First(ctx, l.length, []any{l.id}, &n)
	return n, err
}

// rank is the number of entries of a list of length total whose id is at most
// after. Pollers ask near the end: the search starts there, in steps that double,
// and finishes by bisection; each probe reads one entry of an index.
func (s *Reader) rank(ctx context.Context, l scope, after, total int64) (int64, error) {
	if after <= 0 || total == 0 {
		return 0, nil
	}
	if l.column == everywhere {
		return min(after, total), nil // ids are ranks
	}
	lo, hi := int64(0), total // entries up to lo have ids up to after, entries beyond hi do not
	for step := int64(0); lo < hi; step = step*2 + 1 {
		p := max(lo+1, hi-step)
		if step > hi-lo || step > total {
			p = lo + (hi-lo+1)/2
		}
		first, id, n, err := s.probe(ctx, l, p)
		switch {
		case err != nil:
			return 0, err
		case id > after:
			hi = first - 1
		case id+n-1 <= after:
			lo = first + n - 1
			step = total // bisect from here
		default:
			return first + after - id, nil
		}
	}
	return lo, nil
}

// probe finds the delta with the entry of a rank.
func (s *Reader) probe(ctx context.Context, l scope, rank int64) (first, id, n int64, err error) {
	found, err := s.s.First(ctx, `SELECT `+l.first+`, d.first_change, d.n FROM deltas d WHERE `+l.column+` = $1 AND `+l.first+` <= $2
		ORDER BY `+l.first+` DESC LIMIT 1`, []any{l.id, rank}, &first, &id, &n)
	if err == nil && (!found || rank >= first+n) {
		err = fmt.Errorf("entry %d of %s is missing: restore a backup, or move the database away and import anew", rank, l.name)
	}
	return first, id, n, err
}

// changeColumns and changeJoins are what scanChange reads, from deltas d and
// changes c.
const (
	changeColumns = `d.first_change + c.n, c.action, COALESCE(c.unit_id, 0), COALESCE(p.slug, ''), COALESCE(m.slug, ''), COALESCE(t.language, ''), COALESCE(t.removed, 0),
		d.at, COALESCE(a.username, ''), COALESCE(a.full_name, ''), c.target, c.old_target, c.state, c.old_state,
		COALESCE(o.source, ''), COALESCE(o.context, ''), d.commit_hash, d.commit_time, c.event, d.co_authors`
	changeJoins = `
		LEFT JOIN projects p ON p.id = d.project_id LEFT JOIN components m ON m.id = d.component_id
		LEFT JOIN translations t ON t.id = d.translation_id LEFT JOIN users a ON a.id = d.author_id
		LEFT JOIN units u ON u.id = c.unit_id LEFT JOIN units o ON o.id = u.source_id`
)

// entries reads the lo-th to the hi-th entry of a list, ascending.
func (s *Reader) entries(ctx context.Context, l scope, lo, hi int64) ([]catalog.Change, error) {
	var out []catalog.Change
	err := s.s.Query(ctx, `SELECT `+changeColumns+`
		FROM deltas d JOIN changes c ON c.delta_id = d.id AND c.n >= $2 - `+l.first+` AND c.n <= $3 - `+l.first+changeJoins+`
		WHERE `+l.column+` = $1 AND `+l.first+` <= $3 AND `+l.first+` >= COALESCE((SELECT MAX(`+l.first+`) FROM deltas d WHERE `+l.column+` = $1 AND `+l.first+` <= $2), $2)
		ORDER BY `+l.first+`, c.n`, []any{l.id, lo, hi}, func(scan sqldb.Scan) error {
		c, err := scanChange(scan)
		out = append(out, c)
		return err
	})
	return out, err
}

func scanChange(scan sqldb.Scan) (catalog.Change, error) {
	var c catalog.Change
	var event, coAuthors sql.NullString
	err := scan(&c.ID, &c.Action, &c.UnitID, &c.Project, &c.Component, &c.Language, &c.TranslationRemoved, &c.Timestamp, &c.Username, &c.AuthorName, &c.Target, &c.Old,
		&c.State, &c.OldState, &c.Source, &c.Context, &c.Commit, &c.CommitTime, &event, &coAuthors)
	if err != nil {
		return c, err
	}
	if coAuthors.Valid {
		if err := json.Unmarshal([]byte(coAuthors.String), &c.CoAuthors); err != nil {
			return c, err
		}
	}
	if c.Event, err = sqldb.EventMap(event); c.Action == catalog.ActionFailedMerge && c.Event["error"] != "" {
		c.Event["error"] = string(catalog.KnownFailure(c.Event["error"])) // older versions stored words
	}
	return c, err
}

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
func (q *Query) ledger(author int64) ledger {
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
	id, rank, at int64
}

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
		parts = append(parts, fmt.Sprintf(`SELECT d.id, %s AS first, d.n, d.added, d.updated, d.removed, d.at FROM deltas d
			WHERE %s = $1 AND %[1]s > $%[3]d AND %[1]s <= $%[4]d AND %[5]s = $2 AND %[6]s`, l.first, l.column, len(args)+1, len(args)+2, extra, condition))
		args = append(args, r.lo, r.hi)
	}
	query := strings.Join(parts, ` UNION ALL `) + ` ORDER BY first`
	var out []deltaRow
	var r deltaRow
	err := s.s.Query(ctx, query, args, func(scan sqldb.Scan) error {
		err := scan(&r.id, &r.rank, &r.n, &r.added, &r.updated, &r.removed, &r.at)
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
		if row := &rows[i]; row.n > row.added+row.updated+row.removed { // a delta of events or edits holds nothing else
			ids = append(ids, rows[i].id)
			at[rows[i].id] = i
			rows[i].events = map[catalog.Action]int32{}
		}
	}
	return s.s.QueryIn(ctx, `SELECT c.delta_id, c.action, COUNT(*) FROM changes c WHERE c.delta_id IN $ids GROUP BY c.delta_id, c.action`, nil, ids,
		sqldb.Cols3(func(id int64, action catalog.Action, n int32) { rows[at[id]].events[action] = n }))
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
