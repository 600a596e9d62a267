package resource

import (
	"context"
	"errors"
	"net/http"

	"github.com/repoglot/repoglot/api/rest"
	"github.com/repoglot/repoglot/api/wire"
	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/edit"
	"github.com/repoglot/repoglot/catalog/store"
)

// The answers to new strings that are refused.
var (
	errNewOfSource = &rest.Problem{Status: http.StatusForbidden, Detail: "You do not have permission to perform this action: add the string to a translation of the glossary."}
	errNewPlural   = rest.BadParameter("source", "Plurals cannot be added.")
	errNotAddedNow = rest.BadParameter("source", "The string cannot be added for now: its file is being removed, or too many strings wait to be in the repository.")
)

// addUnit adds a string to a translation of a glossary (POST …/units/): it is written into
// the file, committed, pushed and pulled. What cannot be done now stays in the journal, and
// the answer says so.
func (e *Env) addUnit(ctx context.Context, r *rest.Request) (any, error) {
	t, err := e.readTranslation(ctx, r)
	if err != nil {
		return nil, err
	}
	if err := e.mayAddStrings(ctx, &t); err != nil {
		return nil, err
	}
	body, err := r.ReadBody(rest.MaxBody)
	if err != nil {
		return nil, err
	}
	n, err := newString(&body)
	if err != nil {
		return nil, err
	}
	n.Author = AuthorOf(ctx)
	return e.addString(ctx, r, &t, n)
}

// mayAddStrings refuses a client that may not add strings to a translation.
func (e *Env) mayAddStrings(ctx context.Context, t *store.TranslationRow) error {
	if e.Files == nil || e.Operations == nil || !t.Component.Settings.IsGlossary {
		return rest.ErrReadOnly
	}
	switch err := MayEdit(ctx, t); {
	case err != nil:
		return err
	case t.Removed:
		return rest.ErrNotFound
	case t.IsSource || t.Filename == "":
		return errNewOfSource
	}
	return nil
}

// newString reads the fields source, target, context and state.
func newString(body *rest.Body) (n edit.NewString, err error) {
	var one [2]string
	for i, field := range []string{"source", "target"} {
		if !body.Has(field) {
			return n, rest.Required(field)
		}
		forms, err := body.List(field)
		switch {
		case err != nil:
			return n, err
		case len(forms) != 1:
			return n, errNewPlural
		}
		one[i] = forms[0]
	}
	n.Source, n.Text.Target = one[0], one[1]
	if n.Context, err = body.Text("context"); err != nil {
		return n, err
	}
	if n.Text.State = catalog.StateTranslated; n.Text.Target == "" {
		n.Text.State = catalog.StateEmpty
	}
	if body.Has("state") {
		state, err := body.Int("state")
		if err != nil || state < 0 || state > 100 {
			return n, errState
		}
		n.Text.State = catalog.State(state)
	}
	return n, nil
}

// addString adds a string to a translation.
func (e *Env) addString(ctx context.Context, r *rest.Request, t *store.TranslationRow, n edit.NewString) (any, error) {
	switch err := e.Files.AddString(ctx, t.Component.ID, &t.Translation, n); {
	case errors.Is(err, edit.ErrNotAdded):
		e.Logger.Info("a string was not added", "component", t.Project.Slug+"/"+t.Component.Slug, "error", err)
		return nil, errNotAddedNow
	case err != nil:
		return nil, EditProblem(err)
	}
	pushErr := e.pushStored(ctx, t.Component.ID)
	var answer any
	err := e.Store.Read(ctx, func(ctx context.Context, snap *store.Snapshot) error {
		u, err := snap.UnitOfSource(ctx, t.ID, n.Source, n.Context)
		if err == nil && u != nil {
			scope := wire.NewUnitScope(r.Link, &t.Translation, t.Project.Slug, t.Component.Slug)
			answer = scope.Unit(u)
		}
		return err
	})
	if err == nil && answer == nil {
		answer = e.waiting(pushErr, "The string is served when the repository has it.")
	}
	return answer, err
}
