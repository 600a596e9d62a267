package store

import (
	"context"
	"fmt"
	"time"
)

// FileEdit is a translation file that a client adds or removes: a row of the journal. Rows
// are never deleted.
type FileEdit struct {
	// ID is assigned once and never reused.
	ID int64
	// ComponentID and Language name the translation, Path its file.
	ComponentID    int64
	Language, Path string
	// Removes tells a removal from an addition.
	Removes bool
	// Status is pending, flushed or discarded, Reason why.
	Status EditStatus
	Reason string
	// Pushed is the branch that it was pushed to, "" before.
	Pushed string
	// Author is who wants it, and when.
	Author EditAuthor
}

// PutFileEdit stores a new one and sets its id. The error wraps catalog.ErrConflict if one
// of the same path is pending.
func (tx *StepTx) PutFileEdit(ctx context.Context, e *FileEdit) error {
	op := "store an edit of " + e.Path
	m, err := tx.member(e.ComponentID)
	if err != nil {
		return tx.fail(ctx, op, err)
	}
	m.dirty = true
	if err := tx.s.willTakeIDs(ctx); err != nil {
		return tx.fail(ctx, op, err)
	}
	found, err := tx.s.first(ctx, `INSERT INTO file_edits (component_id, language, path, removes, status, reason, pushed, author_name, author_email, created_at, updated_at)
		SELECT $1, $2, $3, $4, 'pending', '', '', $5, $6, $7, $7 WHERE NOT EXISTS (SELECT 1 FROM file_edits WHERE component_id = $1 AND path = $3 AND status = 'pending') RETURNING id`,
		[]any{e.ComponentID, e.Language, e.Path, smallint(e.Removes), e.Author.Name, e.Author.Email, e.Author.At.UnixMicro()}, &e.ID)
	e.Status = EditPending
	if err == nil && !found {
		err = conflict("an edit of %s is pending", e.Path)
	}
	return tx.fail(ctx, op, err)
}

// UpdateFileEdit stores status, reason and branch of a pending one.
func (tx *StepTx) UpdateFileEdit(ctx context.Context, e *FileEdit, at time.Time) error {
	op := fmt.Sprintf("store edit %d of a file", e.ID)
	m, err := tx.member(e.ComponentID)
	if err == nil {
		m.dirty = true
		err = tx.s.do(ctx, `UPDATE file_edits SET status = $1, reason = $2, pushed = $3, updated_at = $4 WHERE id = $5 AND status = 'pending'`,
			string(e.Status), e.Reason, e.Pushed, at.UnixMicro(), e.ID)
	}
	return tx.fail(ctx, op, err)
}

// PendingFileEdits returns the pending ones of a component, by id.
func (s *Snapshot) PendingFileEdits(ctx context.Context, component int64) (list []FileEdit, err error) {
	defer s.about(component).end()
	err = s.s.query(ctx, `SELECT id, language, path, removes, pushed, author_name, author_email, created_at FROM file_edits
		WHERE component_id = $1 AND status = 'pending' ORDER BY id`, []any{component}, func(scan scan) error {
		e := FileEdit{ComponentID: component, Status: EditPending}
		var removes, at int64
		err := scan(&e.ID, &e.Language, &e.Path, &removes, &e.Pushed, &e.Author.Name, &e.Author.Email, &at)
		e.Removes, e.Author.At = removes != 0, time.UnixMicro(at).UTC()
		list = append(list, e)
		return err
	})
	return list, s.db.fail(ctx, fmt.Sprintf("read the edits of files of component %d", component), err)
}
