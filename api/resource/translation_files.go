package resource

import (
	"context"
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
	Data *wire.Translation `json:"data"`
}

// addTranslation adds a language to a component: its file is made, committed, pushed and
// pulled. What cannot be done now stays in the journal, and the answer says so.
func (e *Env) addTranslation(ctx context.Context, r *rest.Request) (any, error) {
	var row store.ComponentRow
	token := rest.AccessOf(ctx).Token
	err := e.Store.Read(ctx, func(ctx context.Context, snap *store.Snapshot) (err error) {
		row, err = e.ImportedComponent(ctx, snap, r)
		return err
	})
	switch {
	case err != nil:
		return nil, err
	case !row.Settings.Edits.Taken() || e.Files == nil || e.Operations == nil:
		return nil, rest.ErrReadOnly
	case !token.Writes():
		return nil, rest.ErrScope
	}
	body, err := r.ReadBody(rest.MaxBody)
	if err != nil {
		return nil, err
	}
	if !body.Has("language_code") {
		return nil, rest.Required("language_code")
	}
	code, err := body.Text("language_code")
	if err != nil {
		return nil, err
	}
	if _, ok := e.Languages.ByCode(code); !ok {
		return nil, rest.BadParameter("language_code", fmt.Sprintf("No language code '%.50s' found!", code))
	}
	if !token.Edits(row.Project.Slug, code) {
		return nil, errOtherLanguage
	}
	return e.add(ctx, r, &row, code)
}

// add adds a language to a component.
func (e *Env) add(ctx context.Context, r *rest.Request, row *store.ComponentRow, code string) (any, error) {
	switch err := e.Files.AddTranslation(ctx, row.ID, code, AuthorOf(ctx)); {
	case errors.Is(err, edit.ErrNotAdded):
		e.Logger.Info("a language was not added", "component", row.Project.Slug+"/"+row.Slug, "error", err)
		return nil, rest.BadParameter("language_code", fmt.Sprintf("Could not add '%s'!", code))
	case err != nil:
		return nil, EditProblem(err)
	}
	pushErr := e.pushStored(ctx, row.ID)
	var answer any
	err := e.Store.Read(ctx, func(ctx context.Context, snap *store.Snapshot) error {
		t, err := snap.Translation(ctx, row.Project.Slug, row.Slug, code)
		if err == nil {
			answer = rest.Created{Value: added{e.newTranslation(r.Link, &t.Translation, row.Project.Slug, row.Slug, nil)}}
		}
		return err
	})
	if errors.Is(err, catalog.ErrNotFound) {
		return e.waiting(pushErr, "The language is served when the repository has its file."), nil
	}
	return answer, err
}

// waiting is the answer to a change of a file that is not in the repository yet.
func (e *Env) waiting(pushErr error, then string) rest.Accepted {
	detail := then
	if pushErr != nil {
		e.Logger.Warn("a change of a file waits to be pushed", "error", pushErr)
		detail = "It could not be pushed and stays pending: the server's log says why. " + then
	}
	return rest.Accepted{Value: wire.Done{Result: pushErr == nil, Detail: detail}}
}

// readTranslation reads the translation that the path names, for what is written outside
// of its snapshot.
func (e *Env) readTranslation(ctx context.Context, r *rest.Request) (t store.TranslationRow, err error) {
	err = e.Store.Read(ctx, func(ctx context.Context, snap *store.Snapshot) (err error) {
		t, err = e.VisibleTranslation(ctx, snap, r)
		return err
	})
	return t, err
}

// errSourceStays refuses to remove the source translation.
var errSourceStays = &rest.Problem{Status: http.StatusForbidden, Detail: "The source translation cannot be removed: remove its file in the repository."}

// removeTranslation removes a translation's file from the repository, by a commit. The
// translation is served until a pull finds that.
func (e *Env) removeTranslation(ctx context.Context, r *rest.Request) (any, error) {
	t, err := e.readTranslation(ctx, r)
	if err != nil {
		return nil, err
	}
	return e.remove(ctx, &t)
}

// remove removes a translation's file.
func (e *Env) remove(ctx context.Context, t *store.TranslationRow) (any, error) {
	row := store.ComponentRow{Component: t.Component, Project: t.Project}
	switch {
	case t.Removed:
		return nil, catalog.ErrNotFound
	case !row.Settings.Edits.Taken() || e.Files == nil || e.Operations == nil:
		return nil, rest.ErrReadOnly
	}
	if err := mayOperate(ctx, &row); err != nil {
		return nil, err
	}
	if t.IsSource || t.Filename == "" {
		return nil, errSourceStays
	}
	if err := e.Files.RemoveTranslation(ctx, row.ID, &t.Translation, AuthorOf(ctx)); err != nil {
		return nil, EditProblem(err)
	}
	pushErr := e.pushStored(ctx, row.ID)
	err := e.Store.Read(ctx, func(ctx context.Context, snap *store.Snapshot) error {
		now, err := snap.Translation(ctx, t.Project.Slug, t.Component.Slug, t.Language)
		if err == nil && now.Removed {
			err = catalog.ErrNotFound
		}
		return err
	})
	switch {
	case errors.Is(err, catalog.ErrNotFound):
		return rest.NoContent{}, nil
	case err != nil:
		return nil, err
	}
	return e.waiting(pushErr, "The translation is served until the repository has no such file."), nil
}
