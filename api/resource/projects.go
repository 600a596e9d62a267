package resource

import (
	"context"

	"github.com/repoglot/repoglot/api/rest"
	"github.com/repoglot/repoglot/api/wire"
	"github.com/repoglot/repoglot/catalog/store"
)

func listProjects(ctx context.Context, snap *store.Snapshot, r *rest.Request) (any, error) {
	all, err := visibleProjects(ctx, snap)
	if err != nil {
		return nil, err
	}
	w, err := r.Window(int64(len(all)), rest.MaxPageSize)
	if err != nil {
		return nil, err
	}
	objects := []*wire.Project{}
	for i := range rest.Slice(all, w) {
		objects = append(objects, wire.NewProject(r.Link, &all[w.Offset+i]))
	}
	return r.List(w, "/api/projects/", objects), nil
}

func getProject(ctx context.Context, snap *store.Snapshot, r *rest.Request) (any, error) {
	project, err := visibleProject(ctx, snap, r)
	if err != nil {
		return nil, err
	}
	return wire.NewProject(r.Link, &project), nil
}
