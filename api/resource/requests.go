package resource

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/repoglot/repoglot/api/rest"
	"github.com/repoglot/repoglot/api/wire"
	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store"
)

// Incomings are the requests of others that a component shows, without the words of remotes
// for those who may not write there.
func Incomings(ctx context.Context, snap *store.Snapshot, row *store.ComponentRow) (catalog.Incomings, error) {
	l, err := snap.Incomings(ctx, row.ID)
	if a := rest.AccessOf(ctx); !a.Told(&row.Project) {
		l.Failed = ""
		for i := range l.List {
			l.List[i].Failed = ""
		}
	}
	return l, err
}

// listRequests answers the requests of others that no longer merge.
func listRequests(ctx context.Context, snap *store.Snapshot, _ *rest.Request, row *store.ComponentRow) (any, error) {
	l, err := Incomings(ctx, snap, row)
	return wire.NewIncomings(&l), err
}

// MayMerge refuses a client that may not have requests merged.
func MayMerge(ctx context.Context, row *store.ComponentRow) error {
	if !row.Imported || !row.Settings.Edits.Taken() {
		return rest.ErrReadOnly
	}
	return mayOperateOn(ctx, row)
}

// mergeRequest answers POST of the requests.
func (e *Env) mergeRequest(ctx context.Context, _ *rest.Request, row *store.ComponentRow, body *rest.Body) (any, error) {
	number, err := body.Int("number")
	if err != nil {
		return nil, err
	}
	head, err := body.Text("head")
	if err != nil {
		return nil, err
	}
	return e.Merge(ctx, row, number, head)
}

// errRequestMoved is the answer to whoever was shown another head.
var errRequestMoved = &rest.Problem{Status: http.StatusConflict, Detail: "The request has changed since it was shown, or cannot be merged by meaning: read it again."}

// Merge has a request merged whose head the client saw. It goes on if the client goes away.
func (e *Env) Merge(ctx context.Context, row *store.ComponentRow, number int, head string) (any, error) {
	if e.Operations == nil {
		return nil, rest.ErrReadOnly
	}
	e.Logger.Info("merge of a request", "component", row.ID, "request", number, "head", head, "token", rest.AccessOf(ctx).Token.Name)
	return e.Errands.Do(ctx, fmt.Sprint("merge ", row.ID, " ", number, " ", head), func(ctx context.Context) (any, error) {
		waits, err := Take(ctx, e.Operations, 0, func(to Operations) (bool, error) { return to.Merge(ctx, row.ID, number, head, AuthorOf(ctx)) })
		var refused *rest.Problem
		switch {
		case errors.Is(err, catalog.ErrConflict):
			return nil, errRequestMoved
		case errors.As(err, &refused):
			return nil, err
		case err != nil:
			told, err := e.toldOf(ctx, []operated{{row: row}}, err)
			return wire.Done{Detail: told}, err
		case !waits:
			return wire.Done{Result: true, Detail: "Another process was asked to."}, nil
		}
		l, err := store.Get(ctx, e.Store, (*store.Snapshot).Incomings, row.ID)
		left := l.Find(number, head)
		switch {
		case err != nil || left == nil:
			return wire.Done{Result: err == nil}, err
		case left.Wished != nil:
			return wire.Done{Detail: "It is merged when the forge can be asked again."}, nil
		}
		return wire.Done{Detail: left.Failed}, nil
	})
}
