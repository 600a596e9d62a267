package store

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store/internal/sqldb"
)

// EditStatus is where an edit is.
type EditStatus string

// The states of an edit. Only a pending one is served and written into commits.
const (
	EditPending   EditStatus = "pending"
	EditFlushed   EditStatus = "flushed"   // the repository has its text
	EditConflict  EditStatus = "conflict"  // the repository has another text, which is served
	EditDiscarded EditStatus = "discarded" // somebody took it back, or answered a suggestion
	EditSuggested EditStatus = "suggested" // somebody suggested its text
)

// Known reports whether s is one of the states above.
func (s EditStatus) Known() bool {
	return s == EditPending || s == EditFlushed || s == EditConflict || s == EditDiscarded || s == EditSuggested
}

// EditKind is what an edit changes.
type EditKind string

// The kinds of edits. The text of a string is laid over its file at once; the others wait
// until the repository has what they are about.
const (
	EditText       EditKind = "text"        // the text of a string
	EditAddString  EditKind = "add-string"  // a string is added to a file
	EditAddFile    EditKind = "add-file"    // the file of a language is added
	EditRemoveFile EditKind = "remove-file" // the file of a language is removed
)

// Known reports whether k is one of the kinds above.
func (k EditKind) Known() bool {
	return k == EditText || k == EditAddString || k == EditAddFile || k == EditRemoveFile
}

// Edit is what people changed since the repository's text: a row of the journal. It
// outlives what it is about; only what was taken back is forgotten (ForgetDiscarded).
type Edit struct {
	// ID is assigned once and never reused.
	ID int64
	// Kind is what it changes.
	Kind EditKind
	// ComponentID is the component. Project and Component are slugs; only answers have them.
	ComponentID        int64
	Project, Component string
	// TranslationID is the translation; 0 for a file that is added. Language and Path are
	// its code and its file.
	TranslationID  int64
	Language, Path string
	// UnitID is the string of a text, 0 in other kinds.
	UnitID int64
	// Identity, Source and Context are the string's, zero if the edit is of a file. Those of
	// a text only answers have.
	Identity        catalog.Identity
	Source, Context string
	// BaseTarget and BaseState are what the repository had when the first change was
	// made, forms joined.
	BaseTarget string
	BaseState  catalog.State
	// Target and State are the last text.
	Target string
	State  catalog.State
	// Status is where the edit is, Reason why. A pending one with a reason cannot be done
	// for now.
	Status EditStatus
	Reason string
	// Pushed is the branch of ours that has just this, zero if none has.
	Pushed Place
	// Sent are the texts that were sent and may still arrive, the oldest first; only
	// Snapshot.PendingTexts sets them.
	Sent []SentText
	// Committed says that a client asked to commit just this text.
	Committed bool
	// Created and Updated are the times of the first and of the last change.
	Created, Updated time.Time
	// Authors are all who wrote a text, in the order of their last ones.
	Authors []EditAuthor
}

// EditAuthor is somebody who wrote a text of an edit.
type EditAuthor struct {
	Name, Email string
	At          time.Time
}

// Last is who wrote the last text, zero in an answer without authors.
func (e *Edit) Last() EditAuthor {
	if len(e.Authors) == 0 {
		return EditAuthor{}
	}
	return e.Authors[len(e.Authors)-1]
}

const (
	editColumns = `e.id, e.kind, e.component_id, p.slug, c.slug, e.translation_id, COALESCE(t.language, e.language), COALESCE(t.filename, e.path), e.unit_id,
		COALESCE(u.id_hash, e.id_hash), COALESCE(u.id_key, e.id_key), COALESCE(s.source, e.source), COALESCE(s.context, e.context),
		e.base_target, e.base_state, e.target, e.state, e.status, e.reason,
		COALESCE((SELECT MAX(s.repo) FROM sent s WHERE ` + sameText + ` AND s.at_commit <> ''), ''), ` + pushedTo + `, e.committed, e.created_at, e.updated_at`
	pushedTo = `COALESCE((SELECT MAX(s.branch) FROM sent s WHERE ` + sameText + ` AND s.at_commit <> ''), '')`
	editFrom = ` FROM edits e JOIN components c ON c.id = e.component_id JOIN projects p ON p.id = c.project_id
		LEFT JOIN translations t ON t.id = e.translation_id AND e.kind = 'text' LEFT JOIN units u ON u.id = e.unit_id LEFT JOIN units s ON s.id = u.source_id`
)

func scanEdit(scan sqldb.Scan) (e Edit, err error) {
	var committed, created, updated int64
	err = scan(&e.ID, &e.Kind, &e.ComponentID, &e.Project, &e.Component, &e.TranslationID, &e.Language, &e.Path, &e.UnitID,
		&e.Identity.Hash, &e.Identity.Key, &e.Source, &e.Context, &e.BaseTarget, &e.BaseState, &e.Target, &e.State, &e.Status, &e.Reason,
		&e.Pushed.Repo, &e.Pushed.Branch, &committed, &created, &updated)
	e.Committed = committed != 0
	e.Created, e.Updated = time.UnixMicro(created).UTC(), time.UnixMicro(updated).UTC()
	return e, err
}

func editsWhere(ctx context.Context, s *sqldb.Session, where string, args ...any) (list []Edit, err error) {
	err = s.Query(ctx, `SELECT `+editColumns+editFrom+where, args, func(scan sqldb.Scan) error {
		e, err := scanEdit(scan)
		list = append(list, e)
		return err
	})
	return list, err
}

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

// TextOf begins an edit of the text of a unit, which is its base.
func TextOf(u *catalog.Unit) Edit {
	return Edit{
		Kind: EditText, ComponentID: u.ID / catalog.UnitsPerComponent, TranslationID: u.TranslationID, UnitID: u.ID,
		BaseTarget: u.Target, BaseState: u.State, Target: u.Target, State: u.State,
	}
}

// PendingEditsOf returns the pending edits of units, by unit.
func (tx *StepTx) PendingEditsOf(ctx context.Context, units []int64) (map[int64]Edit, error) {
	found := map[int64]Edit{}
	err := sqldb.Chunks(units, func(chunk []any) error {
		list, err := editsWhere(ctx, tx.s, ` WHERE e.unit_id IN `+sqldb.List(1, len(chunk))+` AND e.status = 'pending'`, chunk...)
		for _, e := range list {
			found[e.UnitID] = e
		}
		return err
	})
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
func (tx *StepTx) PutEdit(ctx context.Context, e *Edit, by EditAuthor) error {
	op := "store an edit of " + e.about()
	if err := tx.touch(ctx, e); err != nil {
		return tx.fail(ctx, op, err)
	}
	if e.ID == 0 {
		return tx.fail(ctx, op, tx.addEdit(ctx, e, EditPending, "edited", by))
	}
	err := tx.s.Do(ctx, `UPDATE edits AS e SET target = $1, state = $2, since = CASE WHEN `+pushedTo+` = '' THEN since ELSE $3 END, committed = 0, reason = '', updated_at = $3 WHERE id = $4 AND status = 'pending'`,
		e.Target, int64(e.State), by.At.UnixMicro(), e.ID)
	if err == nil {
		err = tx.wroteEdit(ctx, e, "edited", by)
	}
	return tx.fail(ctx, op, err)
}

// addEdit adds a row to the journal and sets its id.
func (tx *StepTx) addEdit(ctx context.Context, e *Edit, status EditStatus, event string, by EditAuthor) error {
	if err := tx.s.WillTakeIDs(ctx); err != nil {
		return err
	}
	var own Edit // what its string and its translation do not say
	if e.Kind != EditText {
		own = *e
	}
	if e.Kind == EditAddString {
		var h catalog.Hasher
		own.Identity = h.Identity(e.Source, e.Context)
	}
	found, err := tx.s.First(ctx, `INSERT INTO edits (kind, component_id, translation_id, unit_id, language, path, id_hash, id_key, source, context,
			base_target, base_state, target, state, status, reason, created_at, updated_at, since)
		SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, '', $16, $16, $16 WHERE $15 <> 'pending' OR NOT EXISTS (
			SELECT 1 FROM edits WHERE unit_id = $4 AND component_id = $2 AND path = $6 AND id_hash = $7 AND id_key = $8 AND status = 'pending') RETURNING id`,
		[]any{
			string(e.Kind), e.ComponentID, e.TranslationID, e.UnitID, own.Language, own.Path, own.Identity.Hash, own.Identity.Key, own.Source, own.Context,
			e.BaseTarget, int64(e.BaseState), e.Target, int64(e.State), string(status), by.At.UnixMicro(),
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
func (tx *StepTx) wroteEdit(ctx context.Context, e *Edit, event string, by EditAuthor) error {
	if err := tx.noteEdit(ctx, e, by.Name, event, by.At); err != nil {
		return err
	}
	return tx.s.Do(ctx, `INSERT INTO edit_authors (edit_id, name, email, at, n) SELECT CAST($1 AS BIGINT), CAST($2 AS TEXT), CAST($3 AS TEXT), CAST($4 AS BIGINT), MAX(n) FROM edit_events WHERE edit_id = $1
		ON CONFLICT (edit_id, name, email) DO UPDATE SET at = excluded.at, n = excluded.n`, e.ID, by.Name, by.Email, by.At.UnixMicro())
}

// CommitEdits notes that a client asked to commit the pending edits of a translation.
func (tx *StepTx) CommitEdits(ctx context.Context, translation int64) error {
	err := tx.markChanged(ctx, translation)
	if err == nil {
		err = tx.s.Do(ctx, `UPDATE edits SET committed = 1 WHERE translation_id = $1 AND status = 'pending' AND kind = 'text' AND committed = 0`, translation)
	}
	return tx.fail(ctx, fmt.Sprintf("commit the edits of translation %d", translation), err)
}

// RebaseEdit stores what the repository has now instead of the text that a pending edit
// began with, where the edit is written nevertheless.
func (tx *StepTx) RebaseEdit(ctx context.Context, e *Edit, target string, state catalog.State) error {
	e.BaseTarget, e.BaseState = target, state
	err := tx.markChanged(ctx, e.TranslationID)
	if err == nil {
		err = tx.s.Do(ctx, `UPDATE edits SET base_target = $1, base_state = $2 WHERE id = $3`, target, int64(state), e.ID)
	}
	return tx.fail(ctx, fmt.Sprintf("store the base of an edit of unit %d", e.UnitID), err)
}

// EndEdit gives a pending edit its last status; one that has ended stays as it is. by is who
// did it, zero for the server. What was sent of a text and may still arrive is remembered,
// unless the repository refused it.
func (tx *StepTx) EndEdit(ctx context.Context, e *Edit, status EditStatus, reason string, by EditAuthor, at time.Time) error {
	if at.Before(e.Updated) { // a commit is older than the edit that it ends
		at = e.Updated
	}
	e.Status, e.Reason = status, reason
	var n int64
	err := tx.touch(ctx, e)
	if err == nil {
		n, err = tx.s.Exec(ctx, `UPDATE edits SET status = $1, reason = $2, updated_at = $3 WHERE id = $4 AND status = 'pending'`, string(status), reason, at.UnixMicro(), e.ID)
	}
	if err == nil && n > 0 {
		err = tx.ended(ctx, e, by, at)
	}
	return tx.fail(ctx, "end the edit of "+e.about(), err)
}

// ended notes what follows from the end of an edit.
func (tx *StepTx) ended(ctx context.Context, e *Edit, by EditAuthor, at time.Time) error {
	err := tx.noteEdit(ctx, e, by.Name, string(e.Status), at)
	switch {
	case err != nil:
		return err
	case e.Kind != EditText:
		return tx.s.Do(ctx, `DELETE FROM sent WHERE unit_id = 0 AND edit_id = $1`, e.ID)
	}
	if err = tx.endSent(ctx, e, by); err == nil && e.Status == EditConflict && strings.ReplaceAll(e.Target, catalog.FormSeparator, "") != "" {
		err = tx.suggestEdit(ctx, e)
	}
	return err
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
func (tx *StepTx) noteEdit(ctx context.Context, e *Edit, by, event string, at time.Time) error {
	return tx.s.Do(ctx, `INSERT INTO edit_events (edit_id, n, at, name, event, target, state)
		SELECT $1, COALESCE(MAX(n), 0) + 1, $2, $3, $4, $5, $6 FROM edit_events WHERE edit_id = $1`,
		e.ID, at.UnixMicro(), by, event, e.Target, int64(e.State))
}

// UnitsToEdit returns live units of a translation with all that UpdateUnits stores, by
// id; unknown and removed ones are left out.
func (tx *StepTx) UnitsToEdit(ctx context.Context, translation int64, ids []int64) (map[int64]catalog.Unit, error) {
	units := make(map[int64]catalog.Unit, len(ids))
	var r unitScan
	dest := r.dest()
	err := sqldb.Chunks(ids, func(chunk []any) error {
		return tx.s.Query(ctx, `SELECT `+unitColumns+unitFrom+` WHERE u.removed = 0 AND u.translation_id = $1 AND u.id IN `+sqldb.List(2, len(chunk)),
			append([]any{translation}, chunk...), func(scan sqldb.Scan) error {
				err := scan(dest...)
				units[r.u.ID] = r.unit()
				return err
			})
	})
	return units, tx.fail(ctx, fmt.Sprintf("read units of translation %d", translation), err)
}

// Unpushed counts the pending edits of a component whose strings the repository has and
// that no branch of a place has. It returns the number of those that the last push could not
// write, and of the others the time of the first change that was not pushed.
func (s *Snapshot) Unpushed(ctx context.Context, component int64, to Place) (n, held int, oldest time.Time, err error) {
	var at int64
	_, err = s.s.First(ctx, `SELECT COUNT(*), COALESCE(SUM(CASE WHEN e.reason = '' THEN 0 ELSE 1 END), 0),
		COALESCE(MIN(CASE WHEN e.reason <> '' THEN NULL WHEN e.since = 0 THEN e.updated_at ELSE e.since END), 0) FROM edits e JOIN units u ON u.id = e.unit_id
		WHERE e.status = 'pending' AND NOT EXISTS (SELECT 1 FROM sent s WHERE `+sameText+` AND `+onPlace+`) AND u.removed = 0 AND e.component_id = $1`, []any{component, to.Repo, to.Branch}, &n, &held, &at)
	return n - held, held, time.UnixMicro(at).UTC(), s.db.fail(ctx, fmt.Sprintf("count the pending edits of component %d", component), err)
}

// Waiting counts the pending edits of a component that wait to be committed, and those
// that are committed and wait to be pushed. Those whose strings the repository does not
// have wait for neither.
func (s *Snapshot) Waiting(ctx context.Context, component int64, to Place) (commit, push int, err error) {
	_, err = s.s.First(ctx, `SELECT COALESCE(SUM(1 - e.committed), 0), COALESCE(SUM(e.committed), 0) FROM edits e JOIN units u ON u.id = e.unit_id
		WHERE e.status = 'pending' AND NOT EXISTS (SELECT 1 FROM sent s WHERE `+sameText+` AND `+onPlace+`) AND u.removed = 0 AND e.component_id = $1`, []any{component, to.Repo, to.Branch}, &commit, &push)
	return commit, push, s.db.fail(ctx, fmt.Sprintf("count the waiting edits of component %d", component), err)
}

// PendingEdits returns the pending edits of a component, of all kinds, by translation and id.
func (s *Snapshot) PendingEdits(ctx context.Context, component int64) ([]Edit, error) {
	list, err := editsWhere(ctx, s.s, ` WHERE e.component_id = $1 AND e.status = 'pending' ORDER BY e.translation_id, e.id`, component)
	return list, s.db.fail(ctx, fmt.Sprintf("read the pending edits of component %d", component), err)
}

// PendingTexts returns the pending edits of texts of a component with their authors, and what
// was sent of them, by translation and id.
func (s *Snapshot) PendingTexts(ctx context.Context, component int64) ([]Edit, error) {
	list, err := s.editsWithAuthors(ctx, ` WHERE e.component_id = $1 AND e.status = 'pending' AND e.kind = 'text' ORDER BY e.translation_id, e.id`, component)
	if err == nil && len(list) > 0 {
		err = s.fillSent(ctx, component, list)
	}
	return list, s.db.fail(ctx, fmt.Sprintf("read the pending edits of component %d", component), err)
}

// PendingFiles returns the pending edits of a component but those of texts with their
// authors, by id: files that are added and removed, and strings that are added.
func (s *Snapshot) PendingFiles(ctx context.Context, component int64) ([]Edit, error) {
	defer s.about(component).End()
	list, err := s.editsWithAuthors(ctx, ` WHERE e.component_id = $1 AND e.status = 'pending' AND e.unit_id = 0 ORDER BY e.id`, component)
	return list, s.db.fail(ctx, fmt.Sprintf("read the pending edits of files of component %d", component), err)
}

// EditedTranslations returns the ids of the translations of a component with pending edits of
// texts, also of those whose file is away.
func (s *Snapshot) EditedTranslations(ctx context.Context, component int64) (ids []int64, err error) {
	err = s.s.Query(ctx, `SELECT DISTINCT translation_id FROM edits WHERE status = 'pending' AND kind = 'text' AND component_id = $1 ORDER BY translation_id`,
		[]any{component}, func(scan sqldb.Scan) error {
			var id int64
			err := scan(&id)
			ids = append(ids, id)
			return err
		})
	return ids, s.db.fail(ctx, fmt.Sprintf("read which translations of component %d have pending edits", component), err)
}

// PendingEditsOf returns the pending edits of texts of a translation without their authors,
// by id.
func (s *Snapshot) PendingEditsOf(ctx context.Context, translation int64) ([]Edit, error) {
	defer s.aboutTranslation(ctx, translation).End()
	list, err := editsWhere(ctx, s.s, ` WHERE e.translation_id = $1 AND e.status = 'pending' AND e.kind = 'text' ORDER BY e.id`, translation)
	return list, s.db.fail(ctx, fmt.Sprintf("read the pending edits of translation %d", translation), err)
}

// FailingOf returns the failing checks of units, as the bits of a checks.Mask; units
// without any are absent.
func (s *Snapshot) FailingOf(ctx context.Context, units []int64) (map[int64][2]uint64, error) {
	out := map[int64][2]uint64{}
	err := sqldb.Chunks(units, func(chunk []any) error {
		return s.s.Query(ctx, `SELECT unit_id, low, high FROM failing WHERE unit_id IN `+sqldb.List(1, len(chunk)), chunk, func(scan sqldb.Scan) error {
			var id, low, high int64
			err := scan(&id, &low, &high)
			out[id] = [2]uint64{uint64(low), uint64(high)}
			return err
		})
	})
	return out, s.db.fail(ctx, "read failing checks of units", err)
}

// editsWithAuthors is editsWhere, with all authors.
func (s *Snapshot) editsWithAuthors(ctx context.Context, where string, args ...any) ([]Edit, error) {
	list, err := editsWhere(ctx, s.s, where, args...)
	if err == nil {
		err = s.fillAuthors(ctx, list)
	}
	return list, err
}

// fillAuthors sets the authors of edits.
func (s *Snapshot) fillAuthors(ctx context.Context, edits []Edit) error {
	at := make(map[int64]int, len(edits))
	ids := make([]int64, len(edits))
	for i := range edits {
		ids[i], at[edits[i].ID] = edits[i].ID, i
	}
	return sqldb.Chunks(ids, func(chunk []any) error {
		return s.s.Query(ctx, `SELECT edit_id, name, email, at FROM edit_authors WHERE edit_id IN `+sqldb.List(1, len(chunk))+` ORDER BY edit_id, n, at, name, email`, chunk, func(scan sqldb.Scan) error {
			var id, micros int64
			var a EditAuthor
			err := scan(&id, &a.Name, &a.Email, &micros)
			a.At = time.UnixMicro(micros).UTC()
			e := &edits[at[id]]
			e.Authors = append(e.Authors, a)
			return err
		})
	})
}

// EditQuery selects edits of the journal.
type EditQuery struct {
	// Components and TranslationID select by what was edited; a TranslationID of 0
	// selects all translations of the components.
	Components    []int64
	TranslationID int64
	// Status and Kind select by these; "": all.
	Status EditStatus
	Kind   EditKind
	// Offset and Limit select a page, by id; a Limit of 0 only counts.
	Offset, Limit int
	// Counted says that the number is known, and is not to be counted again.
	Counted bool
}

// Edits returns a page of the journal, by id, and the number of edits without Offset
// and Limit, 0 if it is known.
func (s *Snapshot) Edits(ctx context.Context, q EditQuery) (page []Edit, count int, err error) {
	defer s.about(q.Components...).End()
	from := ` FROM edits e WHERE e.component_id IN ` + sqldb.List(4, len(q.Components)) + ` AND (CAST($1 AS TEXT) = '' OR e.status = $1)
		AND (CAST($2 AS TEXT) = '' OR e.kind = $2) AND (CAST($3 AS BIGINT) = 0 OR e.translation_id = $3)`
	args := []any{string(q.Status), string(q.Kind), q.TranslationID}
	for _, id := range q.Components {
		args = append(args, id)
	}
	if len(q.Components) == 0 {
		return nil, 0, nil
	}
	if !q.Counted {
		_, err = s.s.First(ctx, `SELECT COUNT(*)`+from, args, &count)
	}
	if err == nil && q.Limit > 0 {
		n := len(args)
		page, err = s.editsWithAuthors(ctx, fmt.Sprintf(` WHERE e.id IN (SELECT e.id%s ORDER BY e.id LIMIT $%d OFFSET $%d) ORDER BY e.id`, from, n+1, n+2), append(args, q.Limit, q.Offset)...)
	}
	return page, count, s.db.fail(ctx, "read the journal of edits", err)
}

// EditByID returns an edit, or ErrNotFound.
func (s *Snapshot) EditByID(ctx context.Context, id int64) (e Edit, err error) {
	list, err := s.editsWithAuthors(ctx, ` WHERE e.id = $1`, id)
	switch {
	case err == nil && len(list) == 0:
		err = sqldb.NotFound("no such edit")
	case err == nil:
		s.about(list[0].ComponentID).End()
		e = list[0]
	}
	return e, s.db.fail(ctx, fmt.Sprintf("read edit %d", id), err)
}

// EditEvent is something that happened to an edit.
type EditEvent struct {
	At time.Time
	// Name is who did it, "" for the server.
	Name string
	// Event is edited, suggested, arrived (the text, of before the last one, is in the
	// repository), a status that ended the edit, or what ended a suggestion.
	Event string
	// Target and State are the text after it.
	Target string
	State  catalog.State
}

// maxEvents bounds the events of one edit that are read: each has a text.
const maxEvents = 100

// EditEvents returns the last events of an edit, the oldest first.
func (s *Snapshot) EditEvents(ctx context.Context, id int64) (list []EditEvent, err error) {
	err = s.s.Query(ctx, `SELECT at, name, event, target, state FROM edit_events WHERE edit_id = $1 ORDER BY n DESC LIMIT $2`, []any{id, maxEvents}, func(scan sqldb.Scan) error {
		var e EditEvent
		var at, state int64
		err := scan(&at, &e.Name, &e.Event, &e.Target, &state)
		e.At, e.State = time.UnixMicro(at).UTC(), catalog.State(state)
		list = append(list, e)
		return err
	})
	slices.Reverse(list)
	return list, s.db.fail(ctx, fmt.Sprintf("read what happened to edit %d", id), err)
}

// ComponentByID returns a component as pulls and edits need it, or ErrNotFound.
func (db *DB) ComponentByID(ctx context.Context, id int64) (c BranchComponent, err error) {
	err = db.pools.Readers.Transact(ctx, func(s *sqldb.Session) error {
		row, err := oneComponent(ctx, s, ` WHERE c.id = $1 AND c.active = 1 AND p.active = 1`, id)
		c = BranchComponent{
			Component: row.Component, Project: row.Project,
			Reread: row.reread, Template: row.template, Configured: row.configured,
			ImportAt: sqldb.FromMicros(row.importAt), LastUnit: row.lastUnit, LastAt: sqldb.FromMicros(row.lastAt),
		}
		return err
	})
	return c, db.fail(ctx, fmt.Sprintf("read component %d", id), err)
}

// noteChanged gives components a new generation: answers about them have changed.
func noteChanged(ctx context.Context, s *sqldb.Session, components []int64) error {
	slices.Sort(components)
	ids, public, err := anyPublic(ctx, s, slices.Compact(components), "")
	if err != nil || len(ids) == 0 {
		return err
	}
	g, err := nextGeneration(ctx, s, public)
	if err != nil {
		return err
	}
	return sqldb.Chunks(ids, func(chunk []any) error {
		return s.Do(ctx, `UPDATE components SET generation = $1, content_generation = $1 WHERE id IN `+sqldb.List(2, len(chunk)), append([]any{g}, chunk...)...)
	})
}
