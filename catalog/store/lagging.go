package store

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/checks"
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
	c, err := headCommit(ctx, tx.s, component)
	if err != nil || c.Hash != tx.info.To {
		return time.Time{}, tx.fail(ctx, fmt.Sprintf("read the commit of component %d", component), err)
	}
	return c.CommitTime, nil
}

// headCommit returns the stored description of a component's head; zero without one.
func headCommit(ctx context.Context, s *sqldb.Session, component int64) (c catalog.Commit, err error) {
	var text string
	found, err := s.First(ctx, `SELECT COALESCE(head_commit, '') FROM components WHERE id = $1`, []any{component}, &text)
	if err != nil || !found || text == "" {
		return c, err
	}
	return sqldb.CommitOf(text)
}

// LaggingState returns the state of a component of the convoy.
func (tx *StepTx) LaggingState(ctx context.Context, component int64) (l LaggingState, err error) {
	var counted int64
	var before, percent sql.NullInt64
	_, err = tx.s.First(ctx, `SELECT behind, behind_before, behind_percent FROM components WHERE id = $1`, []any{component}, &counted, &before, &percent)
	l.Counted, l.Decided, l.Before, l.Percent = counted != 0, before.Valid && percent.Valid, sqldb.FromMicros(before), percent.Int64
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
	err = tx.s.Query(ctx, `SELECT source_id, created, total, translated FROM behind WHERE component_id = $1`+where, append([]any{component}, args...), func(scan sqldb.Scan) error {
		var b LaggingString
		var since, total, translated int64
		err := scan(&b.SourceID, &since, &total, &translated)
		b.Since, b.Total, b.Translated = time.UnixMicro(since).UTC(), int(total), int(translated)
		out = append(out, b)
		return err
	})
	return out, tx.fail(ctx, fmt.Sprintf("read strings of component %d", component), err)
}

// stringCounts selects the live translations of a component's strings.
const stringCounts = `SELECT u.source_id, COALESCE(s.since, s.created), COUNT(*), SUM(CASE WHEN u.state >= 20 THEN 1 ELSE 0 END)
	FROM translations t JOIN units u ON u.translation_id = t.id JOIN units s ON s.id = u.source_id
	WHERE t.component_id = $1 AND t.removed = 0 AND t.is_source = 0 AND u.removed = 0 AND s.removed = 0 AND COALESCE(s.since, s.created) IS NOT NULL`

// havingLagging selects the lagging ones of stringCounts.
const havingLagging = ` GROUP BY u.source_id, COALESCE(s.since, s.created) HAVING 2 * SUM(CASE WHEN u.state >= 20 THEN 1 ELSE 0 END) < COUNT(*)`

// lagging compares the stored lagging strings of a component with a recount.
func (v *verifier) lagging(ctx context.Context, c *verifyScope) error {
	const stored, counted = `SELECT source_id, created, total, translated FROM behind WHERE component_id = $1`,
		stringCounts + ` AND (SELECT behind FROM components WHERE id = $1) = 1` + havingLagging
	err := v.wantNoRows(ctx, c, "lagging strings that are not", `SELECT COUNT(*) FROM (`+stored+` EXCEPT `+counted+`) AS x`, c.id)
	if err == nil {
		err = v.wantNoRows(ctx, c, "lagging strings that are not stored", `SELECT COUNT(*) FROM (`+counted+` EXCEPT `+stored+`) AS x`, c.id)
	}
	return err
}

// longUntranslated decides anew which source strings of a component fail
// long_untranslated, by its units and its head, and compares that with what is stored.
// It leaves out what is to be checked by the next pull.
func (v *verifier) longUntranslated(ctx context.Context, c *verifyScope) error {
	var settings, head string
	var source, translated, total int64
	found, err := v.s.First(ctx, `SELECT c.settings, c.head, s.id, (SELECT CAST(SUM(t.translated) AS BIGINT) FROM translations t WHERE t.component_id = c.id AND t.removed = 0),
			(SELECT CAST(SUM(t.total) AS BIGINT) FROM translations t WHERE t.component_id = c.id AND t.removed = 0)
		FROM components c JOIN translations s ON s.component_id = c.id AND s.is_source = 1 AND s.removed = 0 AND s.checked <> ''
		WHERE c.id = $1 AND c.imported = 1 AND (c.behind = 1 AND c.behind_before IS NOT NULL OR c.behind = 0 AND c.oldest IS NOT NULL)`,
		[]any{c.id}, &settings, &head, &source, &translated, &total)
	if err != nil || !found {
		return err
	}
	commit, err := headCommit(ctx, v.s, c.id)
	if err != nil || commit.Hash != head {
		return err
	}
	of, err := v.s.DB.Components.Decode(c.id, []byte(settings))
	if err != nil {
		return err
	}
	counted := map[int64]int64{}
	if !of.IsGlossary && !checks.Ignores(of.CheckFlags, checks.LongUntranslated) {
		before := commit.CommitTime.Add(-checks.LongUntranslatedDays * 24 * time.Hour)
		err = v.s.Query(ctx, `SELECT id, flags FROM units WHERE id IN (SELECT source_id FROM (`+stringCounts+` AND COALESCE(s.since, s.created) < $2
				GROUP BY u.source_id, COALESCE(s.since, s.created) HAVING 2000 * SUM(CASE WHEN u.state >= 20 THEN 1 ELSE 0 END) < $3 * COUNT(*)) AS x)`,
			[]any{c.id, sqldb.Micros(before), int64(catalog.Percent(translated, total, 1000))}, func(scan sqldb.Scan) error {
				var id int64
				var flags string
				err := scan(&id, &flags)
				if !checks.Ignores(flags, checks.LongUntranslated) {
					counted[id] = 1
				}
				return err
			})
		if err != nil {
			return err
		}
	}
	stored := map[int64]int64{}
	err = v.s.Query(ctx, `SELECT unit_id, low, high FROM failing WHERE translation_id = $1`, []any{source}, func(scan sqldb.Scan) error {
		var id, low, high int64
		err := scan(&id, &low, &high)
		if (checks.Mask{uint64(low), uint64(high)}).Has(checks.LongUntranslated) {
			stored[id] = 1
		}
		return err
	})
	if err != nil {
		return err
	}
	named := 0
	for _, id := range slices.Sorted(maps.Keys(union(stored, counted))) {
		if stored[id] != counted[id] && named < maxNamed {
			named++
			v.compare(c, fmt.Sprintf("long_untranslated of unit %d", id), stored[id], counted[id])
		}
	}
	return nil
}

// union has the keys of both maps.
func union(a, b map[int64]int64) map[int64]int64 {
	all := maps.Clone(a)
	maps.Copy(all, b)
	return all
}

// CountLagging counts the translations of all strings of a component of the
// convoy. The lagging ones are stored in the table behind.
func (tx *StepTx) CountLagging(ctx context.Context, component int64) error {
	err := tx.forgetLagging(ctx, component)
	if err == nil {
		err = tx.s.Do(ctx, `INSERT INTO behind (component_id, source_id, created, total, translated)
			SELECT $1, c.* FROM (`+stringCounts+havingLagging+`) c`, component)
	}
	if err == nil {
		err = tx.s.Do(ctx, `UPDATE components SET behind = 1 WHERE id = $1`, component)
	}
	return tx.fail(ctx, fmt.Sprintf("count translations of component %d", component), err)
}

// ForgetLagging deletes the counted strings of a component.
func (tx *StepTx) ForgetLagging(ctx context.Context, component int64) error {
	err := tx.forgetLagging(ctx, component)
	if err == nil {
		err = tx.s.Do(ctx, `UPDATE components SET behind = 0, behind_before = NULL, behind_percent = NULL WHERE id = $1 AND behind = 1`, component)
	}
	return tx.fail(ctx, fmt.Sprintf("forget translations of component %d", component), err)
}

func (tx *StepTx) forgetLagging(ctx context.Context, component int64) error {
	err := tx.s.Do(ctx, `DELETE FROM behind WHERE component_id = $1`, component)
	return err
}

// RecountLagging counts some strings of a component again, by source unit,
// including removed ones, and returns the lagging ones.
func (tx *StepTx) RecountLagging(ctx context.Context, component int64, sources []int64) (lagging []LaggingString, err error) {
	type unit struct{ id, created int64 }
	var units []unit
	err = sqldb.Chunks(sources, func(chunk []any) error {
		return tx.s.Query(ctx, `SELECT id, COALESCE(since, created, 0) FROM units WHERE id IN `+sqldb.List(1, len(chunk)), chunk, func(scan sqldb.Scan) error {
			var u unit
			err := scan(&u.id, &u.created)
			units = append(units, u)
			return err
		})
	})
	ids := make([]int64, len(units))
	for i, u := range units {
		if ids[i] = u.id; err == nil {
			err = tx.s.Do(ctx, `DELETE FROM behind WHERE component_id = $1 AND created = $2 AND source_id = $3`, component, u.created, u.id)
		}
	}
	var counted [][5]any
	if err == nil {
		err = sqldb.Chunks(ids, func(chunk []any) error {
			return tx.s.Query(ctx, stringCounts+` AND u.source_id IN `+sqldb.List(2, len(chunk))+` GROUP BY u.source_id, COALESCE(s.since, s.created)`, append([]any{component}, chunk...), func(scan sqldb.Scan) error {
				var id, created, total, translated int64
				if err := scan(&id, &created, &total, &translated); err != nil || 2*translated >= total {
					return err
				}
				counted = append(counted, [5]any{component, id, created, total, translated})
				lagging = append(lagging, LaggingString{SourceID: id, Since: time.UnixMicro(created).UTC(), Total: int(total), Translated: int(translated)})
				return nil
			})
		})
	}
	in := sqldb.NewInserter("behind", "component_id", "source_id", "created", "total", "translated")
	for _, row := range counted {
		if err == nil {
			err = in.Add(ctx, tx.s, row[:]...)
		}
	}
	if err == nil {
		err = in.Flush(ctx, tx.s)
	}
	return lagging, tx.fail(ctx, fmt.Sprintf("count translations of component %d", component), err)
}
