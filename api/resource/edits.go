package resource

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/repoglot/repoglot/api/rest"
	"github.com/repoglot/repoglot/api/wire"
	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/edit"
	"github.com/repoglot/repoglot/catalog/store"
)

// The answers to edits that are refused, with Weblate's texts where it has one.
var (
	errStringReadOnly = &rest.Problem{Status: http.StatusForbidden, Detail: "The string is read-only."}
	errSourceOnly     = &rest.Problem{Status: http.StatusForbidden, Detail: "Source strings properties can be set only on source strings"}
	errBoth           = rest.BadParameter("target", "Please provide both state and target for a partial update")
	errState          = rest.BadParameter("state", "Invalid state")
	errLocked         = &rest.Problem{Status: http.StatusForbidden, Detail: "The component is locked: it takes no edits for now."}
	errMoved          = &rest.Problem{Status: http.StatusPreconditionFailed, Detail: "The string has changed since you read it: read it again."}
	errNoSuggestions  = &rest.Problem{Status: http.StatusForbidden, Detail: "You do not have permission to perform this action: suggestions are turned off."}
	errNoRoom         = &rest.Problem{Status: http.StatusServiceUnavailable, Detail: "The disk of the server is full: edits are stored when there is room again.", RetryAfter: 60}
	errOtherLanguage  = &rest.Problem{Status: http.StatusForbidden, Detail: "You do not have permission to perform this action: the token is for other projects or languages."}
)

// AuthorOf is who the edits of a request are by. Everyone can read the name.
func AuthorOf(ctx context.Context) edit.Author {
	t := rest.AccessOf(ctx).Token
	return edit.Author{Name: catalog.PersonName(cmp.Or(t.AuthorName, t.Name)), Email: t.AuthorEmail, Person: t.Person()}
}

// SuggesterOf is AuthorOf for a suggestion in a translation, outside of snapshots: whom the forge
// lets push is no stranger.
func SuggesterOf(ctx context.Context, t *store.TranslationRow) edit.Author {
	a, by := rest.AccessOf(ctx), AuthorOf(ctx)
	stranger := func() bool { return a.Token.Stranger(t.Project.Slug) && !a.Pushes(RowOf(t)) }
	if by.Stranger = stranger(); a.Asks() {
		a.Ask(ctx)
		by.Stranger = stranger()
	}
	return by
}

// HidesText reports whether a text of an account without a role, 0 for others, is not shown to
// a client: only those who are signed in see it before somebody accepts it.
func HidesText(ctx context.Context, stranger int64) bool {
	return stranger != 0 && rest.AccessOf(ctx).Token.ID == 0
}

// changing refuses what may refuses, and every change of a string that takes none.
func changing(may func(context.Context, *store.TranslationRow) error) func(context.Context, *store.UnitRow) error {
	return func(ctx context.Context, u *store.UnitRow) error {
		switch err := may(ctx, &u.Translation); {
		case err != nil:
			return err
		case u.Removed || u.Translation.Removed:
			return rest.ErrNotFound
		case u.State == catalog.StateReadOnly:
			return errStringReadOnly
		}
		return nil
	}
}

// Read finds what the path names for a request that writes, which has no snapshot.
func Read[T any](ctx context.Context, e *Env, r *rest.Request, find finder[T]) (object T, err error) {
	err = e.Read(ctx, func(ctx context.Context, snap *store.Snapshot) (err error) {
		object, err = find(ctx, snap, r)
		return err
	})
	return object, err
}

// Read reads in a snapshot of the store, and once more if forges had to be asked meanwhile.
func (e *Env) Read(ctx context.Context, fn func(context.Context, *store.Snapshot) error) error {
	err := e.Store.Read(ctx, fn)
	if a := rest.AccessOf(ctx); a.Asks() {
		a.Ask(ctx)
		err = e.Store.Read(ctx, fn)
	}
	return err
}

// MayEdit refuses a client that may not edit the strings of a translation. A component
// that takes no edits answers as a server without writes.
func MayEdit(ctx context.Context, t *store.TranslationRow) error {
	return may(ctx, catalog.ScopeWrite, RowOf(t), t.Language)
}

// MaySuggest refuses a client that may not suggest texts for the strings of a translation.
func MaySuggest(ctx context.Context, t *store.TranslationRow) error {
	err := may(ctx, catalog.ScopeSuggest, RowOf(t), t.Language)
	if err == nil && !t.Component.Settings.EnableSuggestions {
		err = errNoSuggestions
	}
	return err
}

// may refuses a client that may not do what a scope permits in a component that takes edits,
// in a language of it, or with "" in any.
func may(ctx context.Context, s catalog.Scope, c *store.ComponentRow, language string) error {
	a := rest.AccessOf(ctx)
	switch token, private := &a.Token, c.Settings.Private(&c.Project); {
	case !c.Settings.Edits.Taken():
		return rest.ErrReadOnly
	case token.May(s, c.Project.Slug, private, language):
		return nil
	case token.Account != nil && token.Scope.Permits(s) && catalog.ScopeWrite.Permits(s) && (!private || token.Sees(c.Project.Slug)) && a.Pushes(c):
		return nil
	case !token.Writes() && (s != catalog.ScopeSuggest || !token.Scope.Permits(s)):
		return rest.ErrScope
	case s == catalog.ScopeAdmin && (token.Account != nil || token.Scope != s):
		return errAdmin
	}
	return errOtherLanguage
}

// putUnit changes the text of a string (PATCH and PUT units/ID/).
func (e *Env) putUnit(ctx context.Context, r *rest.Request, u *store.UnitRow, body *rest.Body) (any, error) {
	if slices.ContainsFunc([]string{"explanation", "extra_flags", "labels"}, body.Has) {
		return nil, errSourceOnly
	}
	for _, field := range []string{"target", "state"} {
		switch {
		case body.Has(field):
		case r.HTTP.Method == http.MethodPatch:
			return nil, errBoth
		default:
			return nil, rest.Required(field)
		}
	}
	target, err := body.List("target")
	if err != nil {
		return nil, err
	}
	state, err := stateOf(body)
	if err != nil {
		return nil, err
	}
	want := edit.Request{UnitID: u.ID, Target: target, State: state}
	if r.Seen != nil {
		seen, ok := r.Seen.(wire.Unit)
		want.If = func(now *catalog.Unit) bool { return ok && seen.HasText(now) }
	}
	return e.edited(ctx, u.Translation.Component.ID, u.TranslationID, want)
}

func (e *Env) edited(ctx context.Context, component, translation int64, want edit.Request) (any, error) {
	err := e.Edit(ctx, component, translation, AuthorOf(ctx), want)
	return wire.Object{"target", want.Target, "state", int64(want.State), "explanation", "", "extra_flags", "", "labels", []string{}}, err
}

func stateOf(body *rest.Body) (catalog.State, error) {
	state, err := body.Int("state")
	if err != nil || state < 0 || state > 100 {
		return 0, errState
	}
	return catalog.State(state), nil
}

// EditProblem is what a client is told of a refused edit.
func EditProblem(err error) error {
	var invalid *edit.InvalidError
	var bound *edit.BoundError
	switch {
	case errors.As(err, &invalid):
		return rest.BadParameter(invalid.Field, invalid.Message)
	case errors.As(err, &bound) && bound.Until.IsZero():
		return &rest.Problem{Status: http.StatusForbidden, Detail: bound.Message}
	case errors.As(err, &bound):
		return &rest.Problem{Status: http.StatusTooManyRequests, Detail: bound.Message, RetryAfter: max(1, int(time.Until(bound.Until).Seconds()))}
	case errors.Is(err, edit.ErrReadOnly):
		return errStringReadOnly
	case errors.Is(err, edit.ErrLocked):
		return errLocked
	case errors.Is(err, edit.ErrChanged):
		return errMoved
	case errors.Is(err, edit.ErrNoRoom), errors.Is(err, store.ErrFull):
		return errNoRoom
	case errors.Is(err, edit.ErrNotTaken):
		return rest.ErrReadOnly
	}
	return err
}

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
	if q.Kind = store.EditKind(kind); kind != "" && !slices.Contains(store.EditKinds(), q.Kind) {
		return nil, rest.BadParameter("kind", "\""+kind+"\" is not a valid choice.")
	}
	_, count, err := snap.Edits(ctx, q)
	if err != nil {
		return nil, err
	}
	return r.List(int64(count), rest.MaxUnitsSize, of.path+"edits/", func(w rest.Window) (any, error) {
		q.Offset, q.Limit, q.Counted = w.Offset, w.Limit, true
		list, _, err := snap.Edits(ctx, q)
		return rest.Objects(list, func(e *store.Edit) wire.Object { return wireEdit(ctx, r.Link, e) }), err
	})
}

// wireEdit makes the object of an edit of the journal; ours. unit is null for kinds other than text,
// authors are all who wrote a text, the last one last, and branch is the branch of ours that has it.
func wireEdit(ctx context.Context, l wire.Links, e *store.Edit) wire.Object {
	var unit *string
	source, base, authors, reason := []string{}, []string{}, []string{}, e.Reason
	if e.Source != "" || e.Kind == store.EditText {
		source = catalog.SplitForms(e.Source)
	}
	if e.Status == store.EditPending && e.Away {
		reason = "the file does not have the string now: the edit waits for it, for 90 days"
	}
	if e.Kind == store.EditText {
		unit, base = wire.OrNull(l.Unit(e.UnitID)), catalog.SplitForms(e.Base.Target)
	}
	for _, a := range e.Authors {
		authors = append(authors, a.Name)
	}
	return wire.Object{
		"id", e.ID, "kind", string(e.Kind), "unit", unit, "component", l.API(wire.ComponentPath(e.Project, e.Component)), "language_code", e.Language,
		"filename", e.Path, "status", string(e.Status), "reason", reason, "source", source, "context", e.Context,
		"base_target", base, "base_state", int64(e.Base.State), "target", formsOfEdit(ctx, e, e.Ours.Target), "state", int64(e.Ours.State),
		"authors", authors, "branch", wire.OrNull(e.Pushed.Branch), "created", wire.UnitTime(e.Created), "updated", wire.UnitTime(e.Updated),
	}
}

// formsOfEdit are the forms of a text of an edit; none if it is of a file, or is hidden.
func formsOfEdit(ctx context.Context, e *store.Edit, text string) []string {
	if HidesText(ctx, e.Stranger) || e.Kind != store.EditText && e.Kind != store.EditAddString {
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
		j.Edit, j.row, err = e.VisibleEdit(ctx, snap, id)
	}
	return j, err
}

// VisibleEdit finds an edit and its component, if the client sees it.
func (e *Env) VisibleEdit(ctx context.Context, snap *store.Snapshot, id int64) (edit store.Edit, of store.ComponentRow, err error) {
	if edit, err = snap.EditByID(ctx, id); err == nil {
		of, err = e.importedComponentBySlug(ctx, snap, edit.Project, edit.Component)
	}
	return edit, of, err
}

func getEdit(ctx context.Context, snap *store.Snapshot, r *rest.Request, j *editRow) (any, error) {
	events, err := snap.EditEvents(ctx, j.ID)
	var history []wire.Object // the oldest first
	for _, v := range events {
		history = append(history, wire.Object{"timestamp", wire.UnitTime(v.At), "name", wire.OrNull(v.Name), "event", v.Event, "target", formsOfEdit(ctx, &j.Edit, v.Target), "state", int64(v.State)})
	}
	o := wireEdit(ctx, r.Link, &j.Edit)
	if history != nil {
		o = append(o, "history", history)
	}
	return o, err
}

// mayRedo refuses a client that may not do what an edit does.
func mayRedo(ctx context.Context, j *editRow) error {
	admins := []store.EditKind{store.EditRemoveFile, store.EditUpdateFile, store.EditTemplate}
	if slices.Contains(admins, j.Kind) && j.row.Settings.Edits.Taken() {
		return mayOperateOn(ctx, &j.row)
	}
	return may(ctx, catalog.ScopeWrite, &j.row, j.Language)
}

// mayReject refuses a client that may neither answer suggestions nor make any.
func mayReject(ctx context.Context, j *editRow) error {
	if may(ctx, catalog.ScopeSuggest, &j.row, j.Language) == nil { // if it is its own
		return nil
	}
	return mayRedo(ctx, j)
}

// restoreEdit does again what an edit did: it enters its text, adds its language or its
// string, removes its language, or updates the files.
func (e *Env) restoreEdit(ctx context.Context, r *rest.Request, j *editRow, _ *rest.Body) (any, error) {
	switch j.Kind {
	case store.EditText:
		want := edit.Request{UnitID: j.UnitID, Target: catalog.SplitForms(j.Ours.Target), State: j.Ours.State}
		return e.edited(ctx, j.row.ID, j.TranslationID, want)
	case store.EditAddFile:
		return e.AddLanguage(ctx, r, &j.row, j.Language)
	case store.EditUpdateFile, store.EditTemplate:
		return e.runAll(ctx, "msgmerge", []operated{{row: &j.row}})
	}
	t, err := Read(ctx, e, r, func(ctx context.Context, snap *store.Snapshot, _ *rest.Request) (store.TranslationRow, error) {
		return snap.Translation(ctx, j.Project, j.Component, j.Language)
	})
	remove := j.Kind == store.EditRemoveFile
	switch {
	case remove && (errors.Is(err, catalog.ErrNotFound) || err == nil && t.Removed):
		return rest.Answer{Status: http.StatusNoContent}, nil // as it shall be
	case remove && err == nil:
		err = mayRemove(ctx, &t)
	case err == nil:
		err = mayAddStrings(ctx, &t)
	}
	switch {
	case err != nil:
		return nil, err
	case remove:
		return e.removeTranslation(ctx, r, &t, nil)
	}
	n := edit.NewString{Context: j.Context, Source: j.Source, Text: j.Ours, Author: AuthorOf(ctx)}
	return e.addString(ctx, r, &t, n)
}

func (e *Env) deleteEdit(ctx context.Context, _ *rest.Request, j *editRow, _ *rest.Body) (any, error) {
	done, err := Take(ctx, e.Edits, 0, func(to Edits) (edit.Discarded, error) {
		return to.Discard(ctx, j.row.ID, AuthorOf(ctx), "taken back", false, func(o *store.Edit) bool { return o.ID == j.ID })
	})
	if err != nil {
		return nil, err
	}
	if j.Committed {
		if _, err := Take(ctx, e.Operations, 0, func(to Operations) (bool, error) { return to.Commit(ctx, j.row.ID, nil) }); err != nil {
			e.Logger.Warn("clones still have an edit that was taken back", "edit", j.ID, "error", err)
		}
	}
	return wire.Done{Result: done.Edits > 0, Detail: onItsWay(done.Sent)}, nil
}
