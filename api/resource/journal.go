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

// listEdits answers the journal of a project, of a component, or of a translation.
func listEdits(ctx context.Context, snap *store.Snapshot, r *rest.Request, of *scope) (any, error) {
	q := store.EditQuery{TranslationID: of.translation}
	var err error
	if q.Components, err = of.components(ctx, snap); err != nil {
		return nil, err
	}
	status, _ := r.Params.Get("status")
	if q.Status = store.EditStatus(status); status != "" && !q.Status.Known() {
		return nil, rest.BadParameter("status", "\""+status+"\" is not a valid choice.")
	}
	kind, _ := r.Params.Get("kind")
	if q.Kind = store.EditKind(kind); kind != "" && !q.Kind.Known() {
		return nil, rest.BadParameter("kind", "\""+kind+"\" is not a valid choice.")
	}
	_, count, err := snap.Edits(ctx, q)
	if err != nil {
		return nil, err
	}
	return r.List(int64(count), rest.MaxUnitsSize, of.path+"edits/", func(w rest.Window) (any, error) {
		q.Offset, q.Limit, q.Counted = w.Offset, w.Limit, true
		list, _, err := snap.Edits(ctx, q)
		return rest.Objects(list, func(e *store.Edit) wire.Edit { return wireEdit(r.Link, e) }), err
	})
}

func wireEdit(l wire.Links, e *store.Edit) wire.Edit {
	o := wire.Edit{
		ID: e.ID, Kind: string(e.Kind), Component: l.API(wire.ComponentPath(e.Project, e.Component)), LanguageCode: e.Language, Filename: e.Path,
		Status: string(e.Status), Reason: e.Reason, Source: []string{}, Context: e.Context,
		BaseTarget: []string{}, BaseState: int16(e.Base.State), Target: formsOfEdit(e, e.Ours.Target), State: int16(e.Ours.State),
		Created: wire.UnitTime(e.Created), Updated: wire.UnitTime(e.Updated), Branch: wire.OrNull(e.Pushed.Branch), Authors: []string{},
	}
	if e.Source != "" || e.Kind == store.EditText {
		o.Source = catalog.SplitForms(e.Source)
	}
	if e.Kind == store.EditText {
		o.Unit, o.BaseTarget = wire.OrNull(l.Unit(e.UnitID)), catalog.SplitForms(e.Base.Target)
	}
	for _, a := range e.Authors {
		o.Authors = append(o.Authors, a.Name)
	}
	return o
}

// formsOfEdit are the forms of a text of an edit; none if it is of a file.
func formsOfEdit(e *store.Edit, text string) []string {
	if e.Kind == store.EditAddFile || e.Kind == store.EditRemoveFile {
		return []string{}
	}
	return catalog.SplitForms(text)
}

type editRow struct {
	store.Edit
	row store.ComponentRow
}

func (e *Env) visibleEdit(ctx context.Context, snap *store.Snapshot, r *rest.Request) (j editRow, err error) {
	id, err := r.PathID()
	if err == nil {
		j.Edit, err = snap.EditByID(ctx, id)
	}
	if err == nil {
		j.row, err = e.importedComponentBySlug(ctx, snap, j.Project, j.Component)
	}
	return j, err
}

// getEdit answers one edit, with what happened to it.
func getEdit(ctx context.Context, snap *store.Snapshot, r *rest.Request, j *editRow) (any, error) {
	events, err := snap.EditEvents(ctx, j.ID)
	o := wireEdit(r.Link, &j.Edit)
	for _, v := range events {
		o.History = append(o.History, wire.EditEvent{Timestamp: wire.UnitTime(v.At), Name: wire.OrNull(v.Name), Event: v.Event, Target: formsOfEdit(&j.Edit, v.Target), State: int16(v.State)})
	}
	return o, err
}

// editOf is visibleEdit for clients that may do what the edit does.
func (e *Env) editOf(ctx context.Context, snap *store.Snapshot, r *rest.Request) (editRow, error) {
	j, err := e.visibleEdit(ctx, snap, r)
	switch {
	case err != nil:
	case !j.row.Settings.Edits.Taken():
		err = rest.ErrReadOnly
	case j.Kind == store.EditRemoveFile:
		err = mayOperate(ctx, &j.row)
	default:
		err = mayEdit(ctx, &j.row, j.Language)
	}
	return j, err
}

// restoreEdit does again what an edit did: it enters its text, adds its language or its
// string, or removes its language.
func (e *Env) restoreEdit(ctx context.Context, r *rest.Request, j *editRow, _ *rest.Body) (any, error) {
	switch j.Kind {
	case store.EditText:
		want := edit.Request{UnitID: j.UnitID, Target: catalog.SplitForms(j.Ours.Target), State: j.Ours.State}
		return e.edited(ctx, j.row.ID, j.TranslationID, want)
	case store.EditAddFile:
		return e.add(ctx, r, &j.row, j.Language)
	}
	t, err := read(ctx, e, r, func(ctx context.Context, snap *store.Snapshot, _ *rest.Request) (store.TranslationRow, error) {
		return snap.Translation(ctx, j.Project, j.Component, j.Language)
	})
	if j.Kind == store.EditRemoveFile {
		switch {
		case errors.Is(err, catalog.ErrNotFound), err == nil && t.Removed:
			return rest.NoContent{}, nil // as it shall be
		case err != nil:
			return nil, err
		}
		return e.removeTranslation(ctx, r, &t, nil)
	}
	if err == nil {
		err = mayAddStrings(ctx, &t)
	}
	if err != nil {
		return nil, err
	}
	n := edit.NewString{Context: j.Context, Source: j.Source, Text: j.Ours, Author: AuthorOf(ctx)}
	return e.addString(ctx, r, &t, n)
}

// deleteEdit takes a pending edit back.
func (e *Env) deleteEdit(ctx context.Context, _ *rest.Request, j *editRow, _ *rest.Body) (any, error) {
	done, err := e.Edits.Discard(ctx, j.row.ID, AuthorOf(ctx), "taken back", false, func(o *store.Edit) bool { return o.ID == j.ID })
	if err != nil {
		return nil, err
	}
	if j.Committed {
		if _, err := e.Operations.Commit(ctx, j.row.ID, nil); err != nil {
			e.Logger.Warn("clones still have an edit that was taken back", "edit", j.ID, "error", err)
		}
	}
	return wire.Done{Result: done.Edits > 0, Detail: onItsWay(done.Sent)}, nil
}
