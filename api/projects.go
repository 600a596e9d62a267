package api

import (
	"context"

	"github.com/repoglot/repoglot/api/wire"
	"github.com/repoglot/repoglot/catalog/store"
)

func (s *Server) listProjects(ctx context.Context, snap *store.Snapshot, r *request) (any, error) {
	all, err := visibleProjects(ctx, snap)
	if err != nil {
		return nil, err
	}
	w, err := r.window(int64(len(all)), maxPageSize)
	if err != nil {
		return nil, err
	}
	objects := []*wire.Project{}
	for i := range slice(all, w) {
		objects = append(objects, wire.NewProject(r.link, &all[w.offset+i]))
	}
	return r.list(w, "/api/projects/", objects), nil
}

func (s *Server) getProject(ctx context.Context, snap *store.Snapshot, r *request) (any, error) {
	project, err := s.visibleProject(ctx, snap, r)
	if err != nil {
		return nil, err
	}
	return wire.NewProject(r.link, &project), nil
}
