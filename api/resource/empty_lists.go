package resource

import (
	"context"

	"github.com/repoglot/repoglot/api/rest"
	"github.com/repoglot/repoglot/api/wire"
	"github.com/repoglot/repoglot/catalog/store"
)

// Some lists are about things that people make in a translation service: groups
// and roles, shared components, labels, categories, screenshots, a translation
// memory, lists of components, notifications. A server over repositories has
// none of them, but clients follow the links. So each list exists, with paging,
// and is empty.

// parent finds the object that a list belongs to and returns its path.
type parent func(ctx context.Context, snap *store.Snapshot, r *rest.Request) (path string, err error)

// emptyList answers an empty list if the object that it belongs to is visible.
func emptyList(of parent, name string) Handler {
	return func(ctx context.Context, snap *store.Snapshot, r *rest.Request) (any, error) {
		p, err := of(ctx, snap, r)
		if err != nil {
			return nil, err
		}
		return rest.ListOf(r, []struct{}{}, rest.MaxPageSize, p+name+"/")
	}
}

func ofServer(context.Context, *store.Snapshot, *rest.Request) (string, error) { return "/api/", nil }

func ofProject(ctx context.Context, snap *store.Snapshot, r *rest.Request) (string, error) {
	project, err := VisibleProject(ctx, snap, r)
	return wire.ProjectPath(project.Slug), err
}

func ofComponent(ctx context.Context, snap *store.Snapshot, r *rest.Request) (string, error) {
	row, err := VisibleComponent(ctx, snap, r)
	return wire.ComponentPath(row.Project.Slug, row.Slug), err
}

func ofUser(ctx context.Context, snap *store.Snapshot, r *rest.Request) (string, error) {
	user, err := VisibleUser(ctx, snap, r)
	return wire.UserPath(user.Username), err
}

// noSuch answers requests for members of a list that is always empty.
func noSuch(context.Context, *store.Snapshot, *rest.Request) (any, error) {
	return nil, rest.ErrNotFound
}

// writeOnly answers GET for a resource that has other methods only.
func writeOnly(_ context.Context, _ *store.Snapshot, r *rest.Request) (any, error) {
	return nil, rest.MethodNotAllowed(r.HTTP.Method)
}
