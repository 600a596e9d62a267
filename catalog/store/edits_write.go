package store

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/edit"
	"github.com/repoglot/repoglot/catalog/store/internal/sqldb"
)

// PendingEdits returns the pending edits of a translation of a component, of all kinds, by
// id. Translation 0 has the files that are added.
func (tx *StepTx) PendingEdits(ctx context.Context, component, translation int64) ([]Edit, error) {
	list, err := editsWhere(ctx, tx.s, ` WHERE e.component_id = $1 AND e.translation_id = $2 AND e.status = 'pending' ORDER BY e.id`, component, translation)
	return list, tx.fail(ctx, fmt.Sprintf("read the pending edits of translation %d", translation), err)
}

// PendingTexts returns the pending edits of the texts of a translation, by id.
func (tx *StepTx) PendingTexts(ctx context.Context, translation int64) ([]Edit, error) {
	list, err := editsWhere(ctx, tx.s, ` WHERE e.translation_id = $1 AND e.status = 'pending' AND e.kind = 'text' ORDER BY e.id`, translation)
	return list, tx.fail(ctx, fmt.Sprintf("read the pending edits of translation %d", translation), err)
}

// PendingTextsOf returns the pending edits of units, by unit.
func (tx *StepTx) PendingTextsOf(ctx context.Context, units []int64) (map[int64]Edit, error) {
	found := map[int64]Edit{}
	list, err := editsIn(ctx, tx.s, units, ` WHERE e.unit_id IN $ids AND e.status = 'pending'`)
	for _, e := range list {
		found[e.UnitID] = e
	}
	return found, tx.fail(ctx, "read pending edits", err)
}

// about names what an edit is about, for errors.
func (e *Edit) about() string {
	if e.Kind == EditText {
		return fmt.Sprintf("unit %d", e.UnitID)
	}
	return e.Path
}

// touch notes that answers about what an edit changes have changed.
func (tx *StepTx) touch(ctx context.Context, e *Edit) error {
	if e.Kind == EditText {
		return tx.markChanged(ctx, e.TranslationID)
	}
	m, err := tx.member(e.ComponentID)
	if err == nil {
		m.dirty = true
	}
	return err
}

// PutEdit stores an edit that the author by made: a new one if e.ID is 0, else another text
// of a pending one. The error wraps catalog.ErrConflict if one of the same string, or of the
// same file, is pending.
func (tx *StepTx) PutEdit(ctx context.Context, e *Edit, by edit.Author) (err error) {
	defer tx.s.Failed(ctx, &err, "store an edit of %s", e.about())
	if err := tx.touch(ctx, e); err != nil {
		return err
	}
	if e.ID == 0 {
		return tx.addEdit(ctx, e, EditPending, "edited", by)
	}
	if err := tx.s.Do(ctx, `UPDATE edits AS e SET target = $1, state = $2, since = CASE WHEN `+pushedTo+` = '' THEN since ELSE $3 END, committed = 0, reason = '', updated_at = $3, previous = $5, reviewer_name = $6, reviewer_email = $7 WHERE id = $4 AND status = 'pending'`,
		e.Ours.Target, int64(e.Ours.State), by.Time.UnixMicro(), e.ID, e.Previous, e.Reviewer.Name, e.Reviewer.Email); err != nil {
		return err
	}
	return tx.wroteEdit(ctx, e, "edited", by)
}

// addEdit adds a row to the journal and sets its id.
func (tx *StepTx) addEdit(ctx context.Context, e *Edit, status EditStatus, event string, by edit.Author) error {
	if err := tx.s.WillTakeIDs(ctx); err != nil {
		return err
	}
	var own Edit // what its string and its translation do not say
	if e.Kind != EditText {
		own = *e
	}
	if e.Source != "" && e.Kind != EditText {
		var h catalog.Hasher
		own.Identity = h.Identity(e.Source, e.Context)
	}
	found, err := tx.s.First(ctx, `INSERT INTO edits (kind, component_id, translation_id, unit_id, language, path, id_hash, id_key, source, context,
			base_target, base_state, target, state, status, reason, created_at, updated_at, since, previous, reviewer_name, reviewer_email, stranger)
		SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, '', $16, $16, $16, $17, $18, $19, $20 WHERE $15 <> 'pending' OR NOT EXISTS (
			SELECT 1 FROM edits WHERE unit_id = $4 AND component_id = $2 AND path = $6 AND id_hash = $7 AND id_key = $8 AND status = 'pending') RETURNING id`,
		[]any{
			string(e.Kind), e.ComponentID, e.TranslationID, e.UnitID, own.Language, own.Path, own.Identity.Hash, own.Identity.Key, own.Source, own.Context,
			e.Base.Target, int64(e.Base.State), e.Ours.Target, int64(e.Ours.State), string(status), by.Time.UnixMicro(), e.Previous,
			e.Reviewer.Name, e.Reviewer.Email, e.Stranger,
		}, &e.ID)
	if err == nil && !found {
		err = sqldb.Conflict("an edit of %s is pending", e.about())
	}
	if err != nil {
		return err
	}
	e.Status = status
	return tx.wroteEdit(ctx, e, event, by)
}

// wroteEdit notes who wrote the text of an edit.
func (tx *StepTx) wroteEdit(ctx context.Context, e *Edit, event string, by edit.Author) error {
	return cmp.Or(tx.noteEdit(ctx, e, by, event, by.Time), tx.s.Do(ctx, `INSERT INTO edit_authors (edit_id, name, email, at, n) SELECT CAST($1 AS BIGINT), CAST($2 AS TEXT), CAST($3 AS TEXT), CAST($4 AS BIGINT), MAX(n) FROM edit_events WHERE edit_id = $1
		ON CONFLICT (edit_id, name, email) DO UPDATE SET at = excluded.at, n = excluded.n`, e.ID, by.Name, by.Email, by.Time.UnixMicro()))
}

// Credit names somebody among the authors of an edit besides the last one, who changed their
// text.
func (tx *StepTx) Credit(ctx context.Context, id int64, a edit.Author) error {
	return tx.fail(ctx, fmt.Sprintf("credit an author of edit %d", id), tx.s.Do(ctx, `INSERT INTO edit_authors (edit_id, name, email, at, n) VALUES ($1, $2, $3, $4, 0)
		ON CONFLICT (edit_id, name, email) DO NOTHING`, id, a.Name, a.Email, a.Time.UnixMicro()))
}

// CommitEdits notes that a client asked to commit the pending edits of a translation.
func (tx *StepTx) CommitEdits(ctx context.Context, translation int64) error {
	err := cmp.Or(tx.markChanged(ctx, translation),
		tx.s.Do(ctx, `UPDATE edits SET committed = 1 WHERE translation_id = $1 AND status = 'pending' AND kind = 'text' AND committed = 0`, translation))
	return tx.fail(ctx, fmt.Sprintf("commit the edits of translation %d", translation), err)
}

// RebaseEdit stores what the repository has now instead of the text that a pending edit
// began with, where the edit is written nevertheless.
func (tx *StepTx) RebaseEdit(ctx context.Context, e *Edit, base edit.Text) error {
	e.Base = base
	err := cmp.Or(tx.markChanged(ctx, e.TranslationID),
		tx.s.Do(ctx, `UPDATE edits SET base_target = $1, base_state = $2 WHERE id = $3`, base.Target, int64(base.State), e.ID))
	return tx.fail(ctx, fmt.Sprintf("store the base of an edit of unit %d", e.UnitID), err)
}

// EndEdit gives a pending edit its last status; one that has ended stays as it is. by is who
// did it, zero for the server. What was sent of a text and may still arrive is remembered,
// unless the repository refused it.
func (tx *StepTx) EndEdit(ctx context.Context, e *Edit, status EditStatus, reason string, by edit.Author, at time.Time) (err error) {
	defer tx.s.Failed(ctx, &err, "end the edit of %s", e.about())
	if at.Before(e.Updated) { // a commit is older than the edit that it ends
		at = e.Updated
	}
	e.Status, e.Reason = status, reason
	if err := tx.touch(ctx, e); err != nil {
		return err
	}
	n, err := tx.s.Exec(ctx, `UPDATE edits SET status = $1, reason = $2, updated_at = $3 WHERE id = $4 AND status = 'pending'`, string(status), reason, at.UnixMicro(), e.ID)
	if err != nil || n == 0 {
		return err
	}
	if err := tx.noteEdit(ctx, e, edit.Author{Name: by.Name}, string(status), at); err != nil {
		return err
	}
	if status == EditConflict {
		tx.conflicts[e.UnitID] = struct{}{}
	}
	if e.Kind != EditText {
		return tx.s.Do(ctx, `DELETE FROM sent WHERE unit_id = 0 AND edit_id = $1`, e.ID)
	}
	if err := tx.endSent(ctx, e, by); err != nil || status != EditConflict || strings.ReplaceAll(e.Ours.Target, catalog.FormSeparator, "") == "" {
		return err
	}
	return tx.suggestEdit(ctx, e)
}

// SetLocked locks a component, or unlocks it.
func (tx *StepTx) SetLocked(ctx context.Context, component int64, locked bool) error {
	m, err := tx.member(component)
	if err == nil {
		m.dirty = true
		err = tx.s.Do(ctx, `UPDATE components SET locked = $1 WHERE id = $2`, sqldb.Smallint(locked), component)
	}
	return tx.fail(ctx, fmt.Sprintf("lock component %d", component), err)
}

// noteEdit writes what was done with an edit into its history.
func (tx *StepTx) noteEdit(ctx context.Context, e *Edit, by edit.Author, event string, at time.Time) error {
	return tx.s.Do(ctx, `INSERT INTO edit_events (edit_id, n, at, name, event, target, state, person)
		SELECT $1, COALESCE(MAX(n), 0) + 1, $2, $3, $4, $5, $6, $7 FROM edit_events WHERE edit_id = $1`,
		e.ID, at.UnixMicro(), by.Name, event, e.Ours.Target, int64(e.Ours.State), by.Person)
}

// NotePush stores what a push of the edits of components came to at a time: why it failed,
// or with the zero failure that it did not. Then held are the edits that stay pending, with
// the reason; the others have none. Reasons of texts that changed meanwhile are not stored.
// What failed before keeps its Since.
func (db *DB) NotePush(ctx context.Context, components []int64, problem catalog.Failure, held []Edit, at time.Time) error {
	return db.fail(ctx, "store what a push came to", db.write(ctx, func(s *sqldb.Session) error {
		changed, err := notePushProblem(ctx, s, components, StoredFailure(problem))
		if err == nil && !problem.Failed() {
			var others []int64
			others, err = noteHeld(ctx, s, components, held, at)
			changed = append(changed, others...)
		}
		if err != nil {
			return err
		}
		return noteChanged(ctx, s, changed)
	}))
}

func notePushProblem(ctx context.Context, s *sqldb.Session, components []int64, problem catalog.Failure) (changed []int64, err error) {
	err = s.IDsIn(ctx, `UPDATE components SET `+setFailure("push_problem")+` WHERE (push_problem <> $1 OR push_problem_kind <> $2) AND id IN $ids RETURNING id`,
		[]any{problem.Words, string(problem.Kind), sqldb.Micros(problem.Since)}, components, &changed)
	return changed, err
}

// noteHeld stores the reasons of pending edits, for those of files also since when they
// cannot be done, which an update that stopped can be, and returns the components of those whose reason changed.
func noteHeld(ctx context.Context, s *sqldb.Session, components []int64, held []Edit, at time.Time) (changed []int64, err error) {
	want := make(map[int64]Edit, len(held))
	for _, e := range held {
		e.Reason = problemText(e.Reason)
		want[e.ID] = e
	}
	noted, err := editsIn(ctx, s, components, ` WHERE e.status = 'pending' AND e.reason <> '' AND e.component_id IN $ids`)
	if err != nil {
		return nil, err
	}
	for _, e := range noted {
		if now, still := want[e.ID]; !still {
			e.Reason = ""
			want[e.ID] = e
		} else if now.Reason == e.Reason {
			delete(want, e.ID)
		}
	}
	for _, id := range sqldb.SortedKeys(want) {
		e := want[id]
		found, err := s.First(ctx, `UPDATE edits SET reason = $1, lossy = $7, away_at = CASE WHEN unit_id <> 0 THEN away_at WHEN $1 IN ('', $6) THEN 0 WHEN away_at = 0 THEN $5 ELSE away_at END
			WHERE id = $2 AND status = 'pending' AND target = $3 AND state = $4 RETURNING id`,
			[]any{e.Reason, id, e.Ours.Target, int64(e.Ours.State), at.UnixMicro(), edit.UpdateStopped, sqldb.Smallint(e.Lossy)}, &id)
		if err != nil {
			return nil, err
		}
		if found {
			changed = append(changed, e.ComponentID)
		}
	}
	return changed, nil
}

// expireBatch bounds the edits that one call notes, returns or forgets.
const expireBatch = 500

// Clock is the time of the database, which the processes that share it agree on.
func (db *DB) Clock(ctx context.Context) (time.Time, error) {
	micros, err := ask(ctx, db, "read the clock", func(s *sqldb.Session) (int64, error) { return s.Now(ctx) })
	return time.UnixMicro(micros).UTC(), err
}

// awayEdits are pending edits with a state of their string: gone from its file, or
// together with it.
const awayEdits = `SELECT e.id FROM edits e JOIN units u ON u.id = e.unit_id JOIN translations t ON t.id = e.translation_id WHERE e.status = 'pending'`

// NoteAway notes for pending edits since when files lack their strings, and that strings
// are back.
func (db *DB) NoteAway(ctx context.Context, now time.Time) error {
	return db.fail(ctx, "note whose strings are away", db.write(ctx, func(s *sqldb.Session) error {
		return cmp.Or(s.Do(ctx, `UPDATE edits SET away_at = $1 WHERE id IN (`+awayEdits+` AND e.away_at = 0 AND (u.removed = 1 OR t.removed = 1) ORDER BY e.id LIMIT $2)`,
			now.UnixMicro(), expireBatch),
			s.Do(ctx, `UPDATE edits SET away_at = 0 WHERE id IN (`+awayEdits+` AND e.away_at > 0 AND u.removed = 0 AND t.removed = 0 ORDER BY e.id LIMIT $1)`, expireBatch))
	}))
}

// AwaySince returns pending edits of configured components that cannot be done since a time
// or longer, by component, translation and id: those of texts whose strings have been away,
// or those of files.
func (s *Snapshot) AwaySince(ctx context.Context, since time.Time, files bool) ([]Edit, error) {
	list, err := editsWhere(ctx, s.s, ` WHERE e.status = 'pending' AND e.away_at > 0 AND e.away_at <= $1 AND (e.unit_id = 0) = (CAST($2 AS BIGINT) = 1) AND c.active = 1 AND p.active = 1
		ORDER BY e.component_id, e.translation_id, e.id LIMIT $3`, since.UnixMicro(), sqldb.Smallint(files), expireBatch)
	return list, s.s.Fail(ctx, "read edits that cannot be done", err)
}

// ForgetDiscarded deletes edits that were taken back, and
// suggestions that were answered, at a time or before it, and returns their number. The
// newest edit stays, so that no id is used twice. Texts that no branch of ours has since
// then cannot arrive any more.
func (db *DB) ForgetDiscarded(ctx context.Context, until time.Time) (n int, err error) {
	err = db.write(ctx, func(s *sqldb.Session) error {
		var ids []int64
		err := s.IDs(ctx, `SELECT id FROM edits WHERE status = 'discarded' AND updated_at <= $1 AND id < (SELECT MAX(id) FROM edits) ORDER BY id LIMIT $2`,
			[]any{until.UnixMicro(), expireBatch}, &ids)
		n = len(ids)
		for _, rows := range []string{"edit_authors WHERE edit_id", "edit_events WHERE edit_id", "edits WHERE id"} {
			if err == nil {
				err = s.DoIn(ctx, `DELETE FROM `+rows+` IN $ids`, nil, ids)
			}
		}
		if err != nil {
			return err
		}
		return s.Do(ctx, `DELETE FROM sent WHERE left_at > 0 AND left_at <= $1 AND next_commit = ''
			AND NOT EXISTS (SELECT 1 FROM edits e WHERE e.unit_id = sent.unit_id AND e.status = 'pending')`, until.UnixMicro())
	})
	if err != nil {
		return 0, db.fail(ctx, fmt.Sprintf("forget edits that were taken back until %s", until.Format(time.DateOnly)), err)
	}
	return n, nil
}
