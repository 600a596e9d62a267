package store

import (
	"context"
	"fmt"
	"time"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store/internal/sqldb"
)

// FileEdit is a translation file that a client adds or removes, or a string that it adds to
// one: a row of the journal. Only what was taken back is forgotten (ForgetDiscarded).
type FileEdit struct {
	// ID is assigned once and never reused.
	ID int64
	// ComponentID and Language name the translation, Path its file. Project and Component
	// are slugs; only answers have them.
	ComponentID        int64
	Project, Component string
	Language, Path     string
	// Removes tells a removal from an addition.
	Removes bool
	// Context and Source identify a string that is added to the file, Target and State are
	// its text. Source is "" if the file itself is added or removed.
	Context, Source, Target string
	State                   catalog.State
	// Status is pending, flushed or discarded, Reason why. A pending one with a reason
	// cannot be done for now.
	Status EditStatus
	Reason string
	// Pushed is the branch of ours that has it, zero if none has.
	Pushed Place
	// Author is who wants it, and when.
	Author EditAuthor
	// Updated is when anything of it changed last.
	Updated time.Time
}

// AddsString reports whether it adds a string to a file that is there.
func (e *FileEdit) AddsString() bool { return e.Source != "" }

// identity tells the strings of a file apart; that of the file itself is zero.
func (e *FileEdit) identity() (id catalog.Identity) {
	if e.AddsString() {
		var h catalog.Hasher
		id = h.Identity(e.Source, e.Context)
	}
	return id
}

// PutFileEdit stores a new one and sets its id. The error wraps catalog.ErrConflict if one
// of the same path and string is pending.
func (tx *StepTx) PutFileEdit(ctx context.Context, e *FileEdit) error {
	op := "store an edit of " + e.Path
	m, err := tx.member(e.ComponentID)
	if err != nil {
		return tx.fail(ctx, op, err)
	}
	m.dirty = true
	if err := tx.s.WillTakeIDs(ctx); err != nil {
		return tx.fail(ctx, op, err)
	}
	id := e.identity()
	found, err := tx.s.First(ctx, `INSERT INTO file_edits (component_id, language, path, removes, id_hash, id_key, context, source, target, state,
			status, reason, author_name, author_email, created_at, updated_at)
		SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, 'pending', '', $11, $12, $13, $13 WHERE NOT EXISTS (
			SELECT 1 FROM file_edits WHERE component_id = $1 AND path = $3 AND id_hash = $5 AND id_key = $6 AND status = 'pending') RETURNING id`,
		[]any{
			e.ComponentID, e.Language, e.Path, sqldb.Smallint(e.Removes), id.Hash, id.Key, e.Context, e.Source, e.Target, int64(e.State),
			e.Author.Name, e.Author.Email, e.Author.At.UnixMicro(),
		}, &e.ID)
	e.Status = EditPending
	if err == nil && !found {
		err = sqldb.Conflict("an edit of %s is pending", e.Path)
	}
	return tx.fail(ctx, op, err)
}

// UpdateFileEdit stores status and reason of a pending one.
func (tx *StepTx) UpdateFileEdit(ctx context.Context, e *FileEdit, at time.Time) error {
	op := fmt.Sprintf("store edit %d of a file", e.ID)
	m, err := tx.member(e.ComponentID)
	if err == nil {
		m.dirty = true
		err = tx.s.Do(ctx, `UPDATE file_edits SET status = $1, reason = $2, updated_at = $3 WHERE id = $4 AND status = 'pending'`,
			string(e.Status), e.Reason, at.UnixMicro(), e.ID)
	}
	if err == nil && e.Status != EditPending {
		err = tx.s.Do(ctx, `DELETE FROM sent WHERE unit_id = 0 AND file_edit_id = $1`, e.ID)
	}
	return tx.fail(ctx, op, err)
}

const (
	fileEditColumns = `e.id, e.component_id, p.slug, c.slug, e.language, e.path, e.removes, e.context, e.source, e.target, e.state, e.status, e.reason, ` + fileAt + `, e.author_name, e.author_email, e.created_at, e.updated_at`
	fileAt          = `COALESCE((SELECT MAX(s.repo) FROM sent s WHERE s.unit_id = 0 AND s.file_edit_id = e.id AND s.at_commit <> ''), ''),
		COALESCE((SELECT MAX(s.branch) FROM sent s WHERE s.unit_id = 0 AND s.file_edit_id = e.id AND s.at_commit <> ''), '')`
	fileEditFrom = ` FROM file_edits e JOIN components c ON c.id = e.component_id JOIN projects p ON p.id = c.project_id`
)

func fileEditsWhere(ctx context.Context, s *sqldb.Session, where string, args ...any) (list []FileEdit, err error) {
	err = s.Query(ctx, `SELECT `+fileEditColumns+fileEditFrom+where, args, func(scan sqldb.Scan) error {
		var e FileEdit
		var removes, created, updated int64
		err := scan(&e.ID, &e.ComponentID, &e.Project, &e.Component, &e.Language, &e.Path, &removes, &e.Context, &e.Source, &e.Target, &e.State, &e.Status, &e.Reason, &e.Pushed.Repo, &e.Pushed.Branch, &e.Author.Name, &e.Author.Email, &created, &updated)
		e.Removes, e.Author.At, e.Updated = removes != 0, time.UnixMicro(created).UTC(), time.UnixMicro(updated).UTC()
		list = append(list, e)
		return err
	})
	return list, err
}

// PendingFileEdits returns the pending ones of a component, by id.
func (s *Snapshot) PendingFileEdits(ctx context.Context, component int64) ([]FileEdit, error) {
	defer s.about(component).End()
	list, err := fileEditsWhere(ctx, s.s, ` WHERE e.component_id = $1 AND e.status = 'pending' ORDER BY e.id`, component)
	return list, s.db.fail(ctx, fmt.Sprintf("read the edits of files of component %d", component), err)
}

// FileEdits returns a page of the edits of files of components, by id, and their number
// without Offset and Limit, 0 if it is known. TranslationID is not used.
func (s *Snapshot) FileEdits(ctx context.Context, q EditQuery) (page []FileEdit, count int, err error) {
	defer s.about(q.Components...).End()
	if len(q.Components) == 0 {
		return nil, 0, nil
	}
	where := ` WHERE (CAST($1 AS TEXT) = '' OR e.status = $1) AND e.component_id IN ` + sqldb.List(2, len(q.Components))
	args := []any{string(q.Status)}
	for _, id := range q.Components {
		args = append(args, id)
	}
	if !q.Counted {
		_, err = s.s.First(ctx, `SELECT COUNT(*) FROM file_edits e`+where, args, &count)
	}
	if err == nil && q.Limit > 0 {
		n := len(args)
		page, err = fileEditsWhere(ctx, s.s, where+fmt.Sprintf(` ORDER BY e.id LIMIT $%d OFFSET $%d`, n+1, n+2), append(args, q.Limit, q.Offset)...)
	}
	return page, count, s.db.fail(ctx, "read edits of files", err)
}

// FileEditByID returns an edit of a file, or ErrNotFound.
func (s *Snapshot) FileEditByID(ctx context.Context, id int64) (e FileEdit, err error) {
	list, err := fileEditsWhere(ctx, s.s, ` WHERE e.id = $1`, id)
	switch {
	case err == nil && len(list) == 0:
		err = sqldb.NotFound("no such edit of a file")
	case err == nil:
		s.about(list[0].ComponentID).End()
		e = list[0]
	}
	return e, s.db.fail(ctx, fmt.Sprintf("read edit %d of a file", id), err)
}

// StuckFileEdits returns edits of files of configured components that could not be done
// since a time or longer, by component and id.
func (s *Snapshot) StuckFileEdits(ctx context.Context, since time.Time) ([]FileEdit, error) {
	list, err := fileEditsWhere(ctx, s.s, ` WHERE e.status = 'pending' AND e.reason <> '' AND e.updated_at <= $1 AND c.active = 1 AND p.active = 1
		ORDER BY e.component_id, e.id LIMIT $2`, since.UnixMicro(), expireBatch)
	return list, s.db.fail(ctx, "read edits of files that cannot be done", err)
}
