package resource

import (
	"context"

	"github.com/repoglot/repoglot/api/rest"
	"github.com/repoglot/repoglot/api/wire"
	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store"
)

func listProjects(ctx context.Context, snap *store.Snapshot, r *rest.Request) (any, error) {
	all, err := VisibleProjects(ctx, snap)
	if err != nil {
		return nil, err
	}
	return rest.ListOfObjects(r, all, "/api/projects/", func(p *catalog.Project) *wire.Project {
		return wire.NewProject(r.Link, p)
	})
}

func getProject(ctx context.Context, snap *store.Snapshot, r *rest.Request) (any, error) {
	project, err := VisibleProject(ctx, snap, r)
	if err != nil {
		return nil, err
	}
	return wire.NewProject(r.Link, &project), nil
}
