package api

import (
	"context"

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
	objects := []*projectObject{}
	for i := range slice(all, w) {
		objects = append(objects, newProject(r.link, &all[w.offset+i]))
	}
	return r.list(w, "/api/projects/", objects), nil
}

func (s *Server) getProject(ctx context.Context, snap *store.Snapshot, r *request) (any, error) {
	project, err := s.visibleProject(ctx, snap, r)
	if err != nil {
		return nil, err
	}
	return newProject(r.link, &project), nil
}
