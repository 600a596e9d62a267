package resource

import (
	"cmp"
	"context"
	"errors"
	"net/http"

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
	return edit.Author{Name: catalog.PersonName(cmp.Or(t.AuthorName, t.Name)), Email: t.AuthorEmail}
}

// editable finds the unit that the path names, if the client may edit it.
func (e *Env) editable(ctx context.Context, snap *store.Snapshot, r *rest.Request) (store.UnitRow, error) {
	u, err := e.visibleUnit(ctx, snap, r)
	if err == nil {
		err = MayEdit(ctx, &u.Translation)
	}
	switch {
	case err != nil:
	case u.Removed || u.Translation.Removed:
		err = rest.ErrNotFound
	case u.State == catalog.StateReadOnly:
		err = errStringReadOnly
	}
	return u, err
}

// read finds what the path names for a request that writes, outside of its snapshot.
func read[T any](ctx context.Context, e *Env, r *rest.Request, find finder[T]) (object T, err error) {
	err = e.Store.Read(ctx, func(ctx context.Context, snap *store.Snapshot) (err error) {
		object, err = find(ctx, snap, r)
		return err
	})
	return object, err
}

// MayEdit refuses a client that may not edit the strings of a translation. A component
// that takes no edits answers as a server without writes.
func MayEdit(ctx context.Context, t *store.TranslationRow) error {
	return mayEdit(ctx, RowOf(t), t.Language)
}

// mayEdit is MayEdit for a language of a component.
func mayEdit(ctx context.Context, c *store.ComponentRow, language string) error {
	switch token := rest.AccessOf(ctx).Token; {
	case !c.Settings.Edits.Taken():
		return rest.ErrReadOnly
	case !token.Writes():
		return rest.ErrScope
	case !token.Edits(c.Project.Slug, language):
		return errOtherLanguage
	}
	return nil
}

// putUnit changes the text of a string (PATCH and PUT units/ID/).
func (e *Env) putUnit(ctx context.Context, r *rest.Request, u *store.UnitRow, body *rest.Body) (any, error) {
	for _, field := range []string{"explanation", "extra_flags", "labels"} {
		if body.Has(field) {
			return nil, errSourceOnly
		}
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

// edited stores an edit and answers with its text.
func (e *Env) edited(ctx context.Context, component, translation int64, want edit.Request) (any, error) {
	_, err := e.Edits.Edit(ctx, component, translation, AuthorOf(ctx), []edit.Request{want})
	return wire.EditedUnit{Target: want.Target, State: int16(want.State), Labels: []string{}}, err
}

// stateOf reads the field state.
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
	switch {
	case errors.As(err, &invalid):
		return rest.BadParameter(invalid.Field, invalid.Message)
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
