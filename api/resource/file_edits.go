package resource

import (
	"context"
	"errors"

	"github.com/repoglot/repoglot/api/rest"
	"github.com/repoglot/repoglot/api/wire"
	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/edit"
	"github.com/repoglot/repoglot/catalog/store"
)

// listFileEdits answers which languages clients added to a project or a component and
// removed from it, and what became of that.
func (e *Env) listFileEdits(ctx context.Context, snap *store.Snapshot, r *rest.Request) (any, error) {
	q, path, err := e.journalOf(ctx, snap, r)
	if err != nil {
		return nil, err
	}
	status, _ := r.Params.Get("status")
	switch q.Status = store.EditStatus(status); q.Status {
	case "", store.EditPending, store.EditFlushed, store.EditDiscarded:
	default:
		return nil, rest.BadParameter("status", "\""+status+"\" is not a valid choice.")
	}
	return journalPage(ctx, r, q, path+"file-edits/", snap.FileEdits, wireFileEdit)
}

func wireFileEdit(l wire.Links, e *store.FileEdit) wire.FileEdit {
	o := wire.FileEdit{
		ID: e.ID, Component: l.API(wire.ComponentPath(e.Project, e.Component)), LanguageCode: e.Language, Filename: e.Path, Operation: "add",
		Status: string(e.Status), Reason: e.Reason, Author: e.Author.Name, Branch: wire.OrNull(e.Pushed.Branch), Created: wire.UnitTime(e.Author.At), Updated: wire.UnitTime(e.Updated),
		Source: e.Source, Target: e.Target, Context: e.Context,
	}
	switch {
	case e.Removes:
		o.Operation = "remove"
	case e.AddsString():
		o.Operation = "add-string"
	}
	return o
}

// visibleFileEdit finds the edit of a file that the path names.
func (e *Env) visibleFileEdit(ctx context.Context, snap *store.Snapshot, r *rest.Request) (j store.FileEdit, row store.ComponentRow, err error) {
	id, err := r.PathID()
	if err == nil {
		j, err = snap.FileEditByID(ctx, id)
	}
	if err == nil {
		row, err = e.importedComponentBySlug(ctx, snap, j.Project, j.Component)
	}
	return j, row, err
}

func (e *Env) getFileEdit(ctx context.Context, snap *store.Snapshot, r *rest.Request) (any, error) {
	j, _, err := e.visibleFileEdit(ctx, snap, r)
	return wireFileEdit(r.Link, &j), err
}

// fileEditOf is visibleFileEdit for clients that may add what it adds, or remove what it
// removes.
func (e *Env) fileEditOf(ctx context.Context, r *rest.Request) (j store.FileEdit, row store.ComponentRow, err error) {
	err = e.Store.Read(ctx, func(ctx context.Context, snap *store.Snapshot) error {
		j, row, err = e.visibleFileEdit(ctx, snap, r)
		return err
	})
	token := rest.AccessOf(ctx).Token
	switch {
	case err != nil:
	case !row.Settings.Edits.Taken() || e.Files == nil || e.Operations == nil:
		err = rest.ErrReadOnly
	case j.Removes:
		err = mayOperate(ctx, &row)
	case !token.Writes():
		err = rest.ErrScope
	case !token.Edits(row.Project.Slug, j.Language):
		err = errOtherLanguage
	}
	return j, row, err
}

// restoreString adds the string of an edit again.
func (e *Env) restoreString(ctx context.Context, r *rest.Request, j *store.FileEdit) (any, error) {
	var t store.TranslationRow
	err := e.Store.Read(ctx, func(ctx context.Context, snap *store.Snapshot) (err error) {
		t, err = snap.Translation(ctx, j.Project, j.Component, j.Language)
		return err
	})
	if err == nil {
		err = e.mayAddStrings(ctx, &t)
	}
	if err != nil {
		return nil, err
	}
	n := edit.NewString{Context: j.Context, Source: j.Source, Text: edit.Text{Target: j.Target, State: j.State}, Author: AuthorOf(ctx)}
	return e.addString(ctx, r, &t, n)
}

// restoreFileEdit adds the language of an edit again, removes it again, or adds its string.
func (e *Env) restoreFileEdit(ctx context.Context, r *rest.Request) (any, error) {
	j, row, err := e.fileEditOf(ctx, r)
	if err != nil {
		return nil, err
	}
	if j.AddsString() {
		return e.restoreString(ctx, r, &j)
	}
	if !j.Removes {
		return e.add(ctx, r, &row, j.Language)
	}
	var t store.TranslationRow
	err = e.Store.Read(ctx, func(ctx context.Context, snap *store.Snapshot) error {
		t, err = snap.Translation(ctx, j.Project, j.Component, j.Language)
		return err
	})
	switch {
	case errors.Is(err, catalog.ErrNotFound), err == nil && t.Removed:
		return rest.NoContent{}, nil // as it shall be
	case err != nil:
		return nil, err
	}
	return e.remove(ctx, &t)
}

// deleteFileEdit takes a pending edit of a file back.
func (e *Env) deleteFileEdit(ctx context.Context, r *rest.Request) (any, error) {
	j, row, err := e.fileEditOf(ctx, r)
	if err != nil {
		return nil, err
	}
	n, err := e.Operations.DiscardFiles(ctx, row.ID, "taken back", func(o *store.FileEdit) bool { return o.ID == j.ID })
	if err != nil {
		return nil, err
	}
	return wire.Done{Result: n > 0}, nil
}
