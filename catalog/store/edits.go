package store

import (
	"context"
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

func (e *Edit) fields() []any {
	return []any{
		&e.ID, &e.Kind, &e.ComponentID, &e.Project, &e.Component, &e.TranslationID, &e.Language, &e.Path, &e.UnitID,
		&e.Identity.Hash, &e.Identity.Key, &e.Source, &e.Context, &e.Base.Target, &e.Base.State, &e.Ours.Target, &e.Ours.State, &e.Status, &e.Reason,
		&e.Pushed.Repo, &e.Pushed.Branch, &e.Committed, &e.Created, &e.Updated,
	}
}

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
