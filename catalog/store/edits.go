package store

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/edit"
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
	EditUpdateFile EditKind = "update-file" // a file is updated to its template: Source is its blob, Context its strings
	EditTemplate   EditKind = "template"    // the template is another blob, Source: its files may have to be updated
)

// EditKinds lists the kinds of edits.
func EditKinds() []EditKind {
	return []EditKind{EditText, EditAddString, EditAddFile, EditRemoveFile, EditUpdateFile, EditTemplate}
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
	// Identity is the string's, zero if the edit is of a file.
	Identity catalog.Identity
	// Edit has the string, if it is of one, what the repository had, the last text, and who
	// wrote a text. The context and the source of a text only answers have; what was sent of
	// it only Snapshot.PendingTexts sets.
	edit.Edit
	// Status is where the edit is, Reason why. A pending one with a reason cannot be done
	// for now.
	Status EditStatus
	Reason string
	// Pushed is the branch of ours that has just this, zero if none has.
	Pushed Place
	// Committed says that a client asked to commit just this text.
	Committed bool
	// Created and Updated are the times of the first and of the last change.
	Created, Updated time.Time
	// Lossy says that files would lose more than half of their strings by this template.
	Lossy bool
	// Stranger is, of a suggestion by an account without a role in the project, the account.
	Stranger int64
	// Away says that the file of a text does not have the string now. The edit waits for it.
	Away bool
}

const (
	editColumns = `e.id, e.kind, e.component_id, p.slug, c.slug, e.translation_id, COALESCE(t.language, e.language), COALESCE(t.filename, e.path), e.unit_id,
		COALESCE(u.id_hash, e.id_hash), COALESCE(u.id_key, e.id_key), COALESCE(s.source, e.source), COALESCE(s.context, e.context),
		e.base_target, e.base_state, e.target, e.state, e.previous, e.status, e.reason,
		COALESCE((SELECT MAX(s.repo) FROM sent s WHERE ` + sameText + ` AND s.at_commit <> ''), ''), ` + pushedTo + `, e.committed, e.created_at, e.updated_at, e.lossy, e.reviewer_name, e.reviewer_email, e.stranger, COALESCE(u.removed, 0)`
	pushedTo = `COALESCE((SELECT MAX(s.branch) FROM sent s WHERE ` + sameText + ` AND s.at_commit <> ''), '')`
	editFrom = ` FROM edits e JOIN components c ON c.id = e.component_id JOIN projects p ON p.id = c.project_id
		LEFT JOIN translations t ON t.id = e.translation_id AND e.kind = 'text' LEFT JOIN units u ON u.id = e.unit_id LEFT JOIN units s ON s.id = u.source_id`
)

func (e *Edit) fields() []any {
	return []any{
		&e.ID, &e.Kind, &e.ComponentID, &e.Project, &e.Component, &e.TranslationID, &e.Language, &e.Path, &e.UnitID,
		&e.Identity.Hash, &e.Identity.Key, &e.Source, &e.Context, &e.Base.Target, &e.Base.State, &e.Ours.Target, &e.Ours.State, &e.Previous, &e.Status, &e.Reason,
		&e.Pushed.Repo, &e.Pushed.Branch, &e.Committed, &e.Created, &e.Updated, &e.Lossy, &e.Reviewer.Name, &e.Reviewer.Email, &e.Stranger, &e.Away,
	}
}

func (e *Edit) id() int64 { return e.ID }

func editsWhere(ctx context.Context, s *sqldb.Session, where string, args ...any) ([]Edit, error) {
	return sqldb.Rows(ctx, s, `SELECT `+editColumns+editFrom+where, args, (*Edit).fields)
}

// editsIn is editsWhere for a condition with $ids.
func editsIn(ctx context.Context, s *sqldb.Session, ids []int64, where string, args ...any) ([]Edit, error) {
	return sqldb.RowsIn(ctx, s, `SELECT `+editColumns+editFrom+where, args, ids, (*Edit).fields)
}

// TextOf begins an edit of the text of a unit, which is its base.
func TextOf(u *catalog.Unit) Edit {
	now := edit.Text{Target: u.Target, State: u.State}
	return Edit{
		Kind: EditText, ComponentID: u.ID / catalog.UnitsPerComponent, TranslationID: u.TranslationID, UnitID: u.ID,
		Edit: edit.Edit{Base: now, Ours: now},
	}
}

// Unpushed counts the pending edits of a component whose strings the repository has and
// that no branch of a place has. It returns the number of those that the last push could not
// write, and of the others the time of the first change that was not pushed.
func (s *Snapshot) Unpushed(ctx context.Context, component int64, to Place) (n, held int, oldest time.Time, err error) {
	_, err = s.s.First(ctx, `SELECT COUNT(*), COALESCE(SUM(CASE WHEN e.reason = '' THEN 0 ELSE 1 END), 0),
		COALESCE(MIN(CASE WHEN e.reason <> '' THEN NULL WHEN e.since = 0 THEN e.updated_at ELSE e.since END), 0) FROM edits e JOIN units u ON u.id = e.unit_id
		WHERE e.status = 'pending' AND NOT EXISTS (SELECT 1 FROM sent s WHERE `+sameText+` AND `+onPlace+`) AND u.removed = 0 AND e.component_id = $1`, []any{component, to.Repo, to.Branch}, &n, &held, &oldest)
	return n - held, held, oldest, s.s.Fail(ctx, fmt.Sprintf("count the pending edits of component %d", component), err)
}

// Waiting counts the pending edits of a component that wait to be committed, and those
// that are committed and wait to be pushed. Those whose strings the repository does not
// have wait for neither.
func (s *Snapshot) Waiting(ctx context.Context, component int64, to Place) (commit, push int, err error) {
	_, err = s.s.First(ctx, `SELECT COALESCE(SUM(1 - e.committed), 0), COALESCE(SUM(e.committed), 0) FROM edits e JOIN units u ON u.id = e.unit_id
		WHERE e.status = 'pending' AND NOT EXISTS (SELECT 1 FROM sent s WHERE `+sameText+` AND `+onPlace+`) AND u.removed = 0 AND e.component_id = $1`, []any{component, to.Repo, to.Branch}, &commit, &push)
	return commit, push, s.s.Fail(ctx, fmt.Sprintf("count the waiting edits of component %d", component), err)
}

// PendingEdits returns the pending edits of a component, of all kinds, by translation and id.
func (s *Snapshot) PendingEdits(ctx context.Context, component int64) ([]Edit, error) {
	list, err := editsWhere(ctx, s.s, ` WHERE e.component_id = $1 AND e.status = 'pending' ORDER BY e.translation_id, e.id`, component)
	return list, s.s.Fail(ctx, fmt.Sprintf("read the pending edits of component %d", component), err)
}

// PendingTexts returns the pending edits of texts of a component with their authors, and what
// was sent of them, by translation and id.
func (s *Snapshot) PendingTexts(ctx context.Context, component int64) ([]Edit, error) {
	list, err := s.editsWithAuthors(ctx, ` WHERE e.component_id = $1 AND e.status = 'pending' AND e.kind = 'text' ORDER BY e.translation_id, e.id`, component)
	if err == nil && len(list) > 0 {
		err = s.fillSent(ctx, component, list)
	}
	return list, s.s.Fail(ctx, fmt.Sprintf("read the pending edits of component %d", component), err)
}

// PendingFiles returns the pending edits of a component but those of texts with their
// authors, by id: files that are added and removed, and strings that are added.
func (s *Snapshot) PendingFiles(ctx context.Context, component int64) ([]Edit, error) {
	defer s.s.About(component).End()
	list, err := s.editsWithAuthors(ctx, ` WHERE e.component_id = $1 AND e.status = 'pending' AND e.unit_id = 0 ORDER BY e.id`, component)
	return list, s.s.Fail(ctx, fmt.Sprintf("read the pending edits of files of component %d", component), err)
}

// EditedTranslations returns the ids of the translations of a component with pending edits of
// texts, also of those whose file is away.
func (s *Snapshot) EditedTranslations(ctx context.Context, component int64) (ids []int64, err error) {
	err = s.s.IDs(ctx, `SELECT DISTINCT translation_id FROM edits WHERE status = 'pending' AND kind = 'text' AND component_id = $1 ORDER BY translation_id`,
		[]any{component}, &ids)
	return ids, s.s.Fail(ctx, fmt.Sprintf("read which translations of component %d have pending edits", component), err)
}

// PendingTextsOf returns the pending edits of texts of a translation without their authors,
// by id.
func (s *Snapshot) PendingTextsOf(ctx context.Context, translation int64) ([]Edit, error) {
	defer s.s.AboutTranslation(ctx, translation).End()
	list, err := editsWhere(ctx, s.s, ` WHERE e.translation_id = $1 AND e.status = 'pending' AND e.kind = 'text' ORDER BY e.id`, translation)
	return list, s.s.Fail(ctx, fmt.Sprintf("read the pending edits of translation %d", translation), err)
}

// editsWithAuthors is editsWhere, with all authors.
func (s *Snapshot) editsWithAuthors(ctx context.Context, where string, args ...any) ([]Edit, error) {
	edits, err := editsWhere(ctx, s.s, where, args...)
	if err != nil {
		return nil, err
	}
	all := catalog.ByKey(edits, (*Edit).id)
	return edits, s.s.QueryIn(ctx, `SELECT edit_id, name, email, at FROM edit_authors WHERE edit_id IN $ids ORDER BY edit_id, n, at, name, email`, nil, sqldb.SortedKeys(all), sqldb.Cols4(func(id int64, name, email string, when time.Time) {
		e := all[id]
		e.Authors = append(e.Authors, edit.Author{Name: name, Email: email, Time: when})
	}))
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
	// Waits, if not nil, selects the suggestions of people that wait for translations; Person,
	// if not 0, what somebody wrote (edit.Author), the newest first.
	Waits  []int64
	Person int64
	// Offset and Limit select a page, by id; a Limit of 0 only counts.
	Offset, Limit int
	// Counted says that the number is known, and is not to be counted again.
	Counted bool
}

// Edits returns a page of the journal, by id, and the number of edits without Offset
// and Limit, 0 if it is known.
func (s *Snapshot) Edits(ctx context.Context, q EditQuery) (page []Edit, count int, err error) {
	defer s.s.About(q.Components...).End()
	from := ` FROM edits e WHERE e.component_id IN ` + sqldb.List(4, len(q.Components)) + ` AND (CAST($1 AS TEXT) = '' OR e.status = $1)
		AND (CAST($2 AS TEXT) = '' OR e.kind = $2) AND (CAST($3 AS BIGINT) = 0 OR e.translation_id = $3)`
	args := sqldb.Append([]any{string(q.Status), string(q.Kind), q.TranslationID}, q.Components)
	order := "e.id"
	if q.Waits != nil {
		from += ` AND e.translation_id IN ` + sqldb.List(len(args)+1, len(q.Waits)) + ` AND e.status IN ('suggested', 'conflict') AND EXISTS (SELECT 1 FROM suggestions n WHERE n.unit_id = e.unit_id AND n.branch = ':' || CAST(e.id AS TEXT))`
		args = sqldb.Append(args, q.Waits)
	}
	if q.Person != 0 {
		order = "e.id DESC"
		from += fmt.Sprintf(` AND e.id IN (SELECT v.edit_id FROM edit_events v WHERE v.person = %d AND v.person <> 0)`, q.Person)
	}
	if len(q.Components) == 0 || q.Waits != nil && len(q.Waits) == 0 {
		return nil, 0, nil
	}
	if !q.Counted {
		_, err = s.s.First(ctx, `SELECT COUNT(*)`+from, args, &count)
	}
	if err == nil && q.Limit > 0 {
		n := len(args)
		page, err = s.editsWithAuthors(ctx, fmt.Sprintf(` WHERE e.id IN (SELECT e.id%s ORDER BY %s LIMIT $%d OFFSET $%d) ORDER BY %[2]s`, from, order, n+1, n+2), append(args, q.Limit, q.Offset)...)
	}
	return page, count, s.s.Fail(ctx, "read the journal of edits", err)
}

// EditByID returns an edit, or ErrNotFound.
func (s *Snapshot) EditByID(ctx context.Context, id int64) (e Edit, err error) {
	list, err := s.editsWithAuthors(ctx, ` WHERE e.id = $1`, id)
	if e, err = sqldb.Only(list, err, "no such edit"); err == nil {
		s.s.About(e.ComponentID).End()
	}
	return e, s.s.Fail(ctx, fmt.Sprintf("read edit %d", id), err)
}

// SuggestedBy returns suggestions of somebody that wait, with 0 those of all blocked accounts,
// up to a bound.
func (s *Snapshot) SuggestedBy(ctx context.Context, person int64) ([]Edit, error) {
	list, err := editsWhere(ctx, s.s, ` WHERE e.status = 'suggested' AND e.id IN (SELECT v.edit_id FROM edit_events v WHERE v.event = 'suggested' AND v.person <> 0
		AND v.person IN (SELECT a.id FROM accounts a WHERE CAST($1 AS BIGINT) = 0 AND a.blocked = 1 UNION ALL SELECT CAST($1 AS BIGINT))) ORDER BY e.id LIMIT $2`, person, expireBatch)
	return list, s.s.Fail(ctx, "read what somebody suggested", err)
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
func (s *Snapshot) EditEvents(ctx context.Context, id int64) ([]EditEvent, error) {
	list, err := sqldb.Rows(ctx, s.s, `SELECT at, name, event, target, state FROM edit_events WHERE edit_id = $1 ORDER BY n DESC LIMIT $2`, []any{id, maxEvents}, func(e *EditEvent) []any {
		return []any{&e.At, &e.Name, &e.Event, &e.Target, &e.State}
	})
	slices.Reverse(list)
	return list, s.s.Fail(ctx, fmt.Sprintf("read what happened to edit %d", id), err)
}
