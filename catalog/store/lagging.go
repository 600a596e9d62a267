package store

import (
	"context"
	"fmt"
	"time"
)

// LaggingString is a source string that is translated in fewer than half of its
// component's languages.
type LaggingString struct {
	// SourceID is the source unit.
	SourceID int64
	// Created is the time when it appeared.
	Created time.Time
	// Total is the number of its live translations. Translated counts those that
	// are neither empty nor need editing.
	Total, Translated int
}

// HeadTime is the committer time of the commit to which a component of the convoy
// points after the step, but never later than the pull, like the times of entries;
// zero if unknown.
func (tx *StepTx) HeadTime(ctx context.Context, component int64) (time.Time, error) {
	if tx.info.Commit != nil {
		return tx.notLater(tx.info.Commit.CommitTime), nil
	}
	var text string
	found, err := tx.s.first(ctx, `SELECT COALESCE(head_commit, '') FROM components WHERE id = $1`, []any{component}, &text)
	if err != nil || !found || text == "" {
		return time.Time{}, tx.fail(ctx, fmt.Sprintf("read the commit of component %d", component), err)
	}
	c, err := commitOf(text)
	if err != nil || c.Hash != tx.info.To {
		return time.Time{}, tx.fail(ctx, fmt.Sprintf("read the commit of component %d", component), err)
	}
	return tx.notLater(c.CommitTime), nil
}

func (tx *StepTx) notLater(t time.Time) time.Time {
	if tx.info.At.Before(t) {
		return tx.info.At
	}
	return t
}

// FirstEntry is the time of a component's first change entry; all of its units
// were created then or later. It is zero without entries.
func (tx *StepTx) FirstEntry(ctx context.Context, component int64) (time.Time, error) {
	var at int64
	found, err := tx.s.first(ctx, `SELECT at FROM deltas WHERE component_id = $1 ORDER BY first_in_component LIMIT 1`, []any{component}, &at)
	for i := range tx.deltas {
		if !found && tx.deltas[i].component == component {
			at, found = tx.deltas[i].at, true
		}
	}
	if err != nil || !found {
		return time.Time{}, tx.fail(ctx, fmt.Sprintf("read entries of component %d", component), err)
	}
	return time.UnixMicro(at).UTC(), nil
}

// LaggingCounted reports whether the lagging strings of a component have been
// counted.
func (tx *StepTx) LaggingCounted(ctx context.Context, component int64) (bool, error) {
	var counted int64
	_, err := tx.s.first(ctx, `SELECT behind FROM components WHERE id = $1`, []any{component}, &counted)
	return counted != 0, tx.fail(ctx, fmt.Sprintf("read component %d", component), err)
}

// Lagging returns the lagging strings of a component that were created before a
// time, as counted by CountLagging and RecountLagging.
func (tx *StepTx) Lagging(ctx context.Context, component int64, before time.Time) (out []LaggingString, err error) {
	err = tx.s.query(ctx, `SELECT source_id, created, total, translated FROM behind WHERE component_id = $1 AND created < $2`,
		[]any{component, micros(before)}, func(scan scan) error {
			var b LaggingString
			var created, total, translated int64
			err := scan(&b.SourceID, &created, &total, &translated)
			b.Created, b.Total, b.Translated = time.UnixMicro(created).UTC(), int(total), int(translated)
			out = append(out, b)
			return err
		})
	return out, tx.fail(ctx, fmt.Sprintf("read strings of component %d", component), err)
}

// stringCounts selects the live translations of a component's strings.
const stringCounts = `SELECT u.source_id, s.created, COUNT(*), SUM(CASE WHEN u.state >= 20 THEN 1 ELSE 0 END)
	FROM translations t JOIN units u ON u.translation_id = t.id JOIN units s ON s.id = u.source_id
	WHERE t.component_id = $1 AND t.removed = 0 AND t.is_source = 0 AND u.removed = 0 AND s.removed = 0 AND s.created IS NOT NULL`

// havingLagging selects the lagging ones of stringCounts.
const havingLagging = ` GROUP BY u.source_id, s.created HAVING 2 * SUM(CASE WHEN u.state >= 20 THEN 1 ELSE 0 END) < COUNT(*)`

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

// CountLagging counts the translations of all strings of a component of the
// convoy. The lagging ones are stored in the table behind.
func (tx *StepTx) CountLagging(ctx context.Context, component int64) error {
	err := tx.forgetLagging(ctx, component)
	if err == nil {
		err = tx.s.do(ctx, `INSERT INTO behind (component_id, source_id, created, total, translated)
			SELECT $1, c.* FROM (`+stringCounts+havingLagging+`) c`, component)
	}
	if err == nil {
		err = tx.s.do(ctx, `UPDATE components SET behind = 1 WHERE id = $1`, component)
	}
	return tx.fail(ctx, fmt.Sprintf("count translations of component %d", component), err)
}

// ForgetLagging deletes the counted strings of a component.
func (tx *StepTx) ForgetLagging(ctx context.Context, component int64) error {
	err := tx.forgetLagging(ctx, component)
	if err == nil {
		err = tx.s.do(ctx, `UPDATE components SET behind = 0 WHERE id = $1 AND behind = 1`, component)
	}
	return tx.fail(ctx, fmt.Sprintf("forget translations of component %d", component), err)
}

func (tx *StepTx) forgetLagging(ctx context.Context, component int64) error {
	err := tx.s.do(ctx, `DELETE FROM behind WHERE component_id = $1`, component)
	return err
}

// RecountLagging counts some strings of a component again, by source unit,
// including removed ones.
func (tx *StepTx) RecountLagging(ctx context.Context, component int64, sources []int64) error {
	type unit struct{ id, created int64 }
	var units []unit
	err := chunks(sources, func(chunk []any) error {
		return tx.s.query(ctx, `SELECT id, COALESCE(created, 0) FROM units WHERE id IN `+list(1, len(chunk)), chunk, func(scan scan) error {
			var u unit
			err := scan(&u.id, &u.created)
			units = append(units, u)
			return err
		})
	})
	ids := make([]int64, len(units))
	for i, u := range units {
		if ids[i] = u.id; err == nil {
			err = tx.s.do(ctx, `DELETE FROM behind WHERE component_id = $1 AND created = $2 AND source_id = $3`, component, u.created, u.id)
		}
	}
	var counted [][5]any
	if err == nil {
		err = chunks(ids, func(chunk []any) error {
			return tx.s.query(ctx, stringCounts+` AND u.source_id IN `+list(2, len(chunk))+` GROUP BY u.source_id, s.created`, append([]any{component}, chunk...), func(scan scan) error {
				var id, created, total, translated int64
				if err := scan(&id, &created, &total, &translated); err != nil || 2*translated >= total {
					return err
				}
				counted = append(counted, [5]any{component, id, created, total, translated})
				return nil
			})
		})
	}
	in := newInserter("behind", "component_id", "source_id", "created", "total", "translated")
	for _, row := range counted {
		if err == nil {
			err = in.add(ctx, tx.s, row[:]...)
		}
	}
	if err == nil {
		err = in.flush(ctx, tx.s)
	}
	return tx.fail(ctx, fmt.Sprintf("count translations of component %d", component), err)
}
