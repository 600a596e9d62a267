package resource

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"

	"github.com/repoglot/repoglot/api/rest"
	"github.com/repoglot/repoglot/api/wire"
	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/edit"
	"github.com/repoglot/repoglot/catalog/store"
)

// added is the answer to a POST that made a translation, in Weblate's form.
type added struct {
	Data wire.Object `json:"data"`
}

// MayAdd refuses a client that may not add a language to a component; "" is any.
func MayAdd(ctx context.Context, row *store.ComponentRow, code string) error {
	return may(ctx, catalog.ScopeWrite, row, code)
}

func mayAddSome(ctx context.Context, row *store.ComponentRow) error { return MayAdd(ctx, row, "") }

func (e *Env) addTranslation(ctx context.Context, r *rest.Request, row *store.ComponentRow, body *rest.Body) (any, error) {
	code, err := body.Text("language_code")
	if err != nil {
		return nil, err
	}
	return e.AddLanguage(ctx, r, row, code)
}

// AddLanguage adds a language to a component: its file is made, committed, pushed and
// pulled. What cannot be done now stays in the journal, and the answer says so.
func (e *Env) AddLanguage(ctx context.Context, r *rest.Request, row *store.ComponentRow, code string) (any, error) {
	if _, ok := e.Languages.ByCode(code); !ok {
		return nil, rest.BadParameter("language_code", fmt.Sprintf("No language code '%.50s' found!", code))
	}
	in := func(ctx context.Context, _ *store.Snapshot) error { return MayAdd(ctx, row, code) }
	if err := e.Read(ctx, in); err != nil {
		return nil, err
	}
	switch err := e.Edits(ctx, 0, func(to Edits) error { return to.AddTranslation(ctx, row.ID, code, AuthorOf(ctx)) }); {
	case errors.Is(err, edit.ErrNotAdded):
		e.Logger.Info("a language was not added", "component", row.Project.Slug+"/"+row.Slug, "error", err)
		return nil, rest.BadParameter("language_code", fmt.Sprintf("Could not add '%s'!", code))
	case err != nil:
		return nil, err
	}
	served := func(ctx context.Context, snap *store.Snapshot, r *rest.Request) (any, error) {
		t, err := snap.Translation(ctx, row.Project.Slug, row.Slug, code)
		switch {
		case errors.Is(err, catalog.ErrNotFound):
			return nil, nil
		case err != nil:
			return nil, err
		}
		sources, err := snap.Sources(ctx, []int64{row.ID})
		made := added{e.newTranslation(r.Link, &t.Translation, sources[row.ID], row.Project.Slug, row.Slug, nil)}
		return rest.Answer{Status: http.StatusCreated, Value: made}, err
	}
	return e.pushed(ctx, r, row.ID, "The language is served when the repository has its file.", served)
}

// pushed pushes what a client has just stored of a component, also if the client goes away.
// It answers with what served finds, and without it that the change waits.
func (e *Env) pushed(ctx context.Context, r *rest.Request, component int64, waits string, served finder[any]) (any, error) {
	token := rest.AccessOf(ctx).Token
	_, pushErr := e.Errands.Do(ctx, rand.Text(), func(ctx context.Context) (any, error) {
		return Take(ctx, e.Operations, 0, func(to Operations) (bool, error) { return to.Push(ctx, component, &token) })
	})
	if answer, err := Read(ctx, e, r, served); err != nil || answer != nil {
		return answer, err
	}
	if pushErr != nil {
		e.Logger.Warn("a change of a file waits to be pushed", "error", pushErr)
		waits = "It could not be pushed and stays pending: the server's log says why. " + waits
	}
	return rest.Answer{Status: http.StatusAccepted, Value: wire.Done{Result: pushErr == nil, Detail: waits}}, nil
}

var errSourceStays = &rest.Problem{Status: http.StatusForbidden, Detail: "The source translation cannot be removed: remove its file in the repository."}

func mayRemove(ctx context.Context, t *store.TranslationRow) error {
	switch err := mayOperateOn(ctx, RowOf(t)); {
	case t.Removed:
		return catalog.ErrNotFound
	case !t.Component.Settings.Edits.Taken():
		return rest.ErrReadOnly
	case err != nil:
		return err
	case t.IsSource || t.Filename == "":
		return errSourceStays
	}
	return nil
}

// removeTranslation removes a translation's file from the repository, by a commit. The
// translation is served until a pull finds that.
func (e *Env) removeTranslation(ctx context.Context, r *rest.Request, t *store.TranslationRow, _ *rest.Body) (any, error) {
	if err := e.Edits(ctx, 0, func(to Edits) error { return to.RemoveTranslation(ctx, t.ComponentID, &t.Translation, AuthorOf(ctx)) }); err != nil {
		return nil, err
	}
	gone := func(ctx context.Context, snap *store.Snapshot, _ *rest.Request) (any, error) {
		now, err := snap.Translation(ctx, t.Project.Slug, t.Component.Slug, t.Language)
		if errors.Is(err, catalog.ErrNotFound) || err == nil && now.Removed {
			return rest.Answer{Status: http.StatusNoContent}, nil
		}
		return nil, err
	}
	return e.pushed(ctx, r, t.ComponentID, "The translation is served until the repository has no such file.", gone)
}

// The answers to new strings that are refused.
var (
	errNewOfSource = &rest.Problem{Status: http.StatusForbidden, Detail: "You do not have permission to perform this action: add the string to a translation."}
	errNewPlural   = rest.BadParameter("source", "Plurals cannot be added.")
	errNotAddedNow = rest.BadParameter("source", "The string cannot be added for now: its file is being removed, or too many strings wait to be in the repository.")
	errNotMissing  = rest.BadParameter("source", "The template has no such string that the file lacks.")
	errNoTarget    = rest.BadParameter("target", "This field may not be blank.")
)

// addUnit adds a string to a translation (POST …/units/): one that the template has and the
// file lacks, which is an edit, or any to that of a glossary. The latter is written into the
// file, committed, pushed and pulled. What cannot be done now stays in the journal, and the
// answer says so.
func (e *Env) addUnit(ctx context.Context, r *rest.Request, t *store.TranslationRow, body *rest.Body) (any, error) {
	n, err := newString(body)
	if err != nil {
		return nil, err
	}
	n.Author = AuthorOf(ctx)
	switch {
	case !t.Component.Settings.IsGlossary:
		return e.translateMissing(ctx, r, t, &n)
	case catalog.HasForms(n.Source), catalog.HasForms(n.Text.Target):
		return nil, errNewPlural
	}
	return e.addString(ctx, r, t, n)
}

// translateMissing translates a string that the template has and the file lacks.
func (e *Env) translateMissing(ctx context.Context, r *rest.Request, t *store.TranslationRow, n *edit.NewString) (any, error) {
	want := edit.Request{Target: catalog.SplitForms(n.Text.Target), State: n.Text.State}
	if err := e.Store.Read(ctx, func(ctx context.Context, snap *store.Snapshot) error {
		all, err := snap.Translations(ctx, t.ComponentID)
		if err != nil {
			return err
		}
		template := store.TemplateOf(all)
		if template == nil {
			return rest.ErrReadOnly
		}
		u, err := snap.UnitOfSource(ctx, template.ID, n.Source, n.Context)
		if err == nil && u == nil {
			err = errNotMissing
		}
		if err == nil {
			want.SourceID = u.ID
		}
		return err
	}); err != nil {
		return nil, err
	}
	if catalog.EmptyForms(n.Text.Target) {
		return nil, errNoTarget
	}
	list := []edit.Request{want}
	if err := e.Edit(ctx, t.ComponentID, t.ID, n.Author, list...); errors.Is(err, edit.ErrChanged) {
		return nil, errNotMissing
	} else if err != nil {
		return nil, err
	}
	return Read(ctx, e, r, servedString(t, n))
}

// mayAddStrings refuses a client that may not add strings to a translation.
func mayAddStrings(ctx context.Context, t *store.TranslationRow) error {
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

// newString reads the fields source, target, context and state. Forms are joined.
func newString(body *rest.Body) (n edit.NewString, err error) {
	for field, to := range map[string]*string{"source": &n.Source, "target": &n.Text.Target} {
		if !body.Has(field) {
			return n, rest.Required(field)
		}
		forms, err := body.List(field)
		if err != nil {
			return n, err
		}
		*to = catalog.JoinForms(forms)
	}
	if n.Context, err = body.Text("context"); err != nil {
		return n, err
	}
	if n.Text.State = catalog.StateTranslated; n.Text.Target == "" {
		n.Text.State = catalog.StateEmpty
	}
	if body.Has("state") {
		n.Text.State, err = stateOf(body)
	}
	return n, err
}

func (e *Env) addString(ctx context.Context, r *rest.Request, t *store.TranslationRow, n edit.NewString) (any, error) {
	bytes := editBytes + len(n.Context) + len(n.Source) + len(n.Text.Target)
	switch err := e.Edits(ctx, bytes, func(to Edits) error { return to.AddString(ctx, t.Component.ID, &t.Translation, n) }); {
	case errors.Is(err, edit.ErrNotAdded):
		e.Logger.Info("a string was not added", "component", t.Project.Slug+"/"+t.Component.Slug, "error", err)
		return nil, errNotAddedNow
	case err != nil:
		return nil, err
	}
	return e.pushed(ctx, r, t.Component.ID, "The string is served when the repository has it.", servedString(t, &n))
}

// servedString finds the answer to a string that was added; nil while it is not served.
func servedString(t *store.TranslationRow, n *edit.NewString) finder[any] {
	return func(ctx context.Context, snap *store.Snapshot, r *rest.Request) (any, error) {
		u, err := snap.UnitOfSource(ctx, t.ID, n.Source, n.Context)
		if err != nil || u == nil {
			return nil, err
		}
		scope := wire.NewUnitScope(r.Link, &t.Translation, t.Project.Slug, t.Component.Slug)
		return scope.Unit(u), nil
	}
}
