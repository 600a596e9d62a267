package store

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store/internal/rows"
	"github.com/repoglot/repoglot/catalog/store/internal/sqldb"
)

// LaggingString is a source string that is translated in fewer than half of its
// component's languages.
type LaggingString struct {
	// SourceID is the source unit.
	SourceID int64
	// Since is the committer time of the commit that brought it.
	Since time.Time
	// Total is the number of its live translations. Translated counts those that
	// are neither empty nor need editing.
	Total, Translated int
}

func (l *LaggingString) fields() []any { return []any{&l.SourceID, &l.Since, &l.Total, &l.Translated} }

// LaggingState is for what it was decided last which lagging strings of a component
// fail long_untranslated.
type LaggingState struct {
	// Counted says that the lagging strings are stored.
	Counted bool
	// Decided says that Before and Percent are known.
	Decided bool
	// Before is the time before which strings were old.
	Before time.Time
	// Percent is the translated part of the component, in tenths of a percent.
	Percent int64
	// Oldest is the smallest Since of the component's strings; zero if it is unknown.
	Oldest time.Time
}

// HeadTime is the committer time of the commit to which a component of the convoy
// points after the step; zero if unknown.
func (tx *StepTx) HeadTime(ctx context.Context, component int64) (time.Time, error) {
	if tx.info.Commit != nil {
		return tx.info.Commit.CommitTime, nil
	}
	c, err := rows.HeadCommit(ctx, tx.s, component)
	if err != nil || !rows.IsAt(&c, tx.info.To) {
		return time.Time{}, tx.fail(ctx, fmt.Sprintf("read the commit of component %d", component), err)
	}
	return c.CommitTime, nil
}

// LaggingState returns the state of a component of the convoy.
func (tx *StepTx) LaggingState(ctx context.Context, component int64) (l LaggingState, err error) {
	_, err = tx.s.First(ctx, `SELECT behind, behind_before IS NOT NULL AND behind_percent IS NOT NULL, behind_before, COALESCE(behind_percent, 0) FROM components WHERE id = $1`,
		[]any{component}, &l.Counted, &l.Decided, &l.Before, &l.Percent)
	if m := tx.convoy[component]; m != nil {
		l.Oldest = sqldb.FromMicros(m.oldest)
	}
	return l, tx.fail(ctx, fmt.Sprintf("read component %d", component), err)
}

// SetLaggingState stores Before and Percent of a component whose lagging strings are
// stored.
func (tx *StepTx) SetLaggingState(ctx context.Context, component int64, l LaggingState) error {
	err := tx.s.Do(ctx, `UPDATE components SET behind_before = $1, behind_percent = $2 WHERE id = $3 AND behind = 1`, sqldb.Micros(l.Before), l.Percent, component)
	return tx.fail(ctx, fmt.Sprintf("store what was decided of component %d", component), err)
}

// Lagging returns the lagging strings of a component that appeared before a time, as
// counted by CountLagging and RecountLagging.
func (tx *StepTx) Lagging(ctx context.Context, component int64, before time.Time) ([]LaggingString, error) {
	return tx.laggingWhere(ctx, component, ` AND created < $2`, sqldb.Micros(before))
}

// LaggingBetween returns the lagging strings that may be old enough, and translated
// little enough, in one of two states and not in the other.
func (tx *StepTx) LaggingBetween(ctx context.Context, component int64, a, b LaggingState) ([]LaggingString, error) {
	if b.Before.Before(a.Before) {
		a.Before, b.Before = b.Before, a.Before
	}
	list, err := tx.laggingWhere(ctx, component, ` AND created >= $2 AND created < $3`, sqldb.Micros(a.Before), sqldb.Micros(b.Before))
	if err != nil || a.Percent == b.Percent {
		return list, err
	}
	more, err := tx.laggingWhere(ctx, component, ` AND created < $2 AND 2000 * translated >= $3 * total AND 2000 * translated <= $4 * total`,
		sqldb.Micros(a.Before), min(a.Percent, b.Percent), max(a.Percent, b.Percent))
	return append(list, more...), err
}

func (tx *StepTx) laggingWhere(ctx context.Context, component int64, where string, args ...any) (out []LaggingString, err error) {
	out, err = sqldb.Rows(ctx, tx.s, `SELECT source_id, created, total, translated FROM behind WHERE component_id = $1`+where, append([]any{component}, args...), (*LaggingString).fields)
	return out, tx.fail(ctx, fmt.Sprintf("read strings of component %d", component), err)
}

// CountLagging counts the translations of all strings of a component of the
// convoy. The lagging ones are stored in the table behind.
func (tx *StepTx) CountLagging(ctx context.Context, component int64) error {
	err := cmp.Or(tx.forgetLagging(ctx, component), tx.s.Do(ctx, `INSERT INTO behind (component_id, source_id, created, total, translated)
			SELECT $1, c.* FROM (`+rows.StringCounts+rows.HavingLagging+`) c`, component),
		tx.s.Do(ctx, `UPDATE components SET behind = 1 WHERE id = $1`, component))
	return tx.fail(ctx, fmt.Sprintf("count translations of component %d", component), err)
}

// ForgetLagging deletes the counted strings of a component.
func (tx *StepTx) ForgetLagging(ctx context.Context, component int64) error {
	err := cmp.Or(tx.forgetLagging(ctx, component),
		tx.s.Do(ctx, `UPDATE components SET behind = 0, behind_before = NULL, behind_percent = NULL WHERE id = $1 AND behind = 1`, component))
	return tx.fail(ctx, fmt.Sprintf("forget translations of component %d", component), err)
}

func (tx *StepTx) forgetLagging(ctx context.Context, component int64) error {
	return tx.s.Do(ctx, `DELETE FROM behind WHERE component_id = $1`, component)
}

// RecountLagging counts some strings of a component again, by source unit,
// including removed ones, and returns the lagging ones.
func (tx *StepTx) RecountLagging(ctx context.Context, component int64, sources []int64) (lagging []LaggingString, err error) {
	defer tx.s.Failed(ctx, &err, "count translations of component %d", component)
	type unit struct{ id, created int64 }
	units, err := sqldb.RowsIn(ctx, tx.s, `SELECT id, COALESCE(since, created, 0) FROM units WHERE id IN $ids`, nil, sources, func(u *unit) []any { return []any{&u.id, &u.created} })
	if err != nil {
		return nil, err
	}
	ids := make([]int64, len(units))
	for i, u := range units {
		ids[i] = u.id
		if err := tx.s.Do(ctx, `DELETE FROM behind WHERE component_id = $1 AND created = $2 AND source_id = $3`, component, u.created, u.id); err != nil {
			return nil, err
		}
	}
	lagging, err = sqldb.RowsIn(ctx, tx.s, rows.StringCounts+` AND u.source_id IN $ids GROUP BY u.source_id, COALESCE(s.since, s.created)`, []any{component}, ids, (*LaggingString).fields)
	if err != nil {
		return nil, err
	}
	lagging = slices.DeleteFunc(lagging, func(l LaggingString) bool { return 2*l.Translated >= l.Total })
	in := sqldb.NewInserter("behind", "component_id", "source_id", "created", "total", "translated")
	for _, l := range lagging {
		_ = in.Add(ctx, tx.s, component, l.SourceID, l.Since.UnixMicro(), l.Total, l.Translated)
	}
	return lagging, in.Flush(ctx, tx.s)
}

// ExtraString is a live source string that the component's template does not have.
type ExtraString struct {
	// SourceID is its source unit.
	SourceID int64
	// ChangedTo is the source unit of the template's string with the same context and
	// msgid and another msgid_plural; 0 without one.
	ChangedTo int64
}

// PutExtra stores which source strings of a component its template does not have: all of
// them, in any order; none without a template. It is called when the source translation
// is stored and before other translations are.
func (tx *StepTx) PutExtra(ctx context.Context, component int64, extra []ExtraString) (err error) {
	defer tx.s.Failed(ctx, &err, "store what the template of component %d lacks", component)
	m, err := tx.member(component)
	if err != nil {
		return err
	}
	args := []any{component * catalog.UnitsPerComponent, (component + 1) * catalog.UnitsPerComponent}
	old, err := sqldb.Map(ctx, tx.s, `SELECT source_id, changed_to FROM extra_strings WHERE source_id >= $1 AND source_id < $2`, args,
		func(changedTo *int64) []any { return []any{changedTo} })
	if err != nil {
		return err
	}
	fresh := make(map[int64]int64, len(extra))
	var changed, gone []int64
	for _, x := range extra {
		fresh[x.SourceID] = x.ChangedTo
		if was, ok := old[x.SourceID]; !ok || was != x.ChangedTo {
			changed = append(changed, x.SourceID)
		}
	}
	for id := range old {
		if _, ok := fresh[id]; !ok {
			gone = append(gone, id)
		}
	}
	slices.Sort(changed)
	m.compared = m.compared || len(changed)+len(gone) > 0
	in := sqldb.NewInserter("extra_strings", "source_id", "changed_to")
	in.OnConflict(" ON CONFLICT (source_id) DO UPDATE SET changed_to = excluded.changed_to")
	for _, id := range changed {
		_ = in.Add(ctx, tx.s, id, fresh[id])
	}
	return cmp.Or(in.Flush(ctx, tx.s), tx.s.DoIn(ctx, `DELETE FROM extra_strings WHERE source_id IN $ids`, nil, gone))
}

// countAgainst keeps the counts of translations against their templates: of those that the
// step changed, or of whole components if they were imported or PutExtra changed something.
func (tx *StepTx) countAgainst(ctx context.Context) error {
	for _, id := range tx.info.Components {
		m := tx.convoy[id]
		if !m.imported && tx.info.Partial || !m.dirty && !m.compared {
			continue
		}
		if err := tx.compare(ctx, id, !m.imported || m.compared); err != nil {
			return err
		}
	}
	return nil
}

// compare counts translations of a component: all, or those that the step changed.
func (tx *StepTx) compare(ctx context.Context, component int64, all bool) error {
	stored := map[int64]catalog.Against{}
	err := tx.s.Query(ctx, `SELECT id, `+rows.AgainstColumns+` FROM translations t WHERE component_id = $1
		AND ($2 = 1 OR EXISTS (SELECT 1 FROM extra_strings WHERE source_id >= $3 AND source_id < $4))`,
		[]any{component, sqldb.Smallint(all), component * catalog.UnitsPerComponent, (component + 1) * catalog.UnitsPerComponent}, func(scan sqldb.Scan) error {
			var id int64
			var a catalog.Against
			err := scan(append([]any{&id}, rows.AgainstOf(&a)...)...)
			if _, dirty := tx.dirty[id]; all || dirty {
				stored[id] = a
			}
			return err
		})
	if err != nil {
		return err
	}
	ids := sqldb.SortedKeys(stored)
	counted, err := rows.CountAgainst(ctx, tx.s, component, ids)
	for _, id := range ids {
		if a := counted[id]; err == nil && stored[id] != a {
			err = cmp.Or(tx.s.Do(ctx, `UPDATE translations SET extra = $1, extra_words = $2, changed = $3, changed_translated = $4, changed_translated_words = $5, changed_fuzzy = $6
				WHERE id = $7`, a.Extra, a.ExtraWords, a.Changed, a.ChangedTranslated, a.ChangedTranslatedWords, a.ChangedFuzzy, id), tx.markChanged(ctx, id))
		}
	}
	return err
}
