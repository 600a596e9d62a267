package api

import (
	"context"

	"github.com/repoglot/repoglot/catalog/store"
)

func (s *Server) getComponent(ctx context.Context, snap *store.Snapshot, r *request) (any, error) {
	row, err := visibleComponent(ctx, snap, r.segment("project"), r.segment("component"))
	if err != nil {
		return nil, err
	}
	return s.component(r.link, &row, true), nil
}

func (s *Server) listComponents(ctx context.Context, snap *store.Snapshot, r *request) (any, error) {
	return s.componentList(ctx, snap, r, "", "/api/components/")
}

func (s *Server) listProjectComponents(ctx context.Context, snap *store.Snapshot, r *request) (any, error) {
	project, err := s.visibleProject(ctx, snap, r)
	if err != nil {
		return nil, err
	}
	return s.componentList(ctx, snap, r, project.Slug, projectPath(project.Slug)+"components/")
}

// componentList lists the components of a project, or with "" of all.
func (s *Server) componentList(ctx context.Context, snap *store.Snapshot, r *request, project, path string) (any, error) {
	rows, err := visibleComponents(ctx, snap, project)
	if err != nil {
		return nil, err
	}
	w, err := r.window(int64(len(rows)), maxPageSize)
	if err != nil {
		return nil, err
	}
	objects := []*componentObject{}
	for i := range slice(rows, w) {
		objects = append(objects, s.component(r.link, &rows[w.offset+i], project == ""))
	}
	return r.list(w, path, objects), nil
}
