package api

import (
	"context"

	"github.com/repoglot/repoglot/catalog/store"
)

// getRoot names the lists that there are (facts §6, first row).
func (s *Server) getRoot(_ context.Context, _ *store.Snapshot, r *request) (any, error) {
	return struct {
		Projects     string `json:"projects"`
		Components   string `json:"components"`
		Translations string `json:"translations"`
		Languages    string `json:"languages"`
		Changes      string `json:"changes"`
	}{
		Projects:     r.link.api("/api/projects/"),
		Components:   r.link.api("/api/components/"),
		Translations: r.link.api("/api/translations/"),
		Languages:    r.link.api("/api/languages/"),
		Changes:      r.link.api("/api/changes/"),
	}, nil
}

func (s *Server) listProjects(ctx context.Context, snap *store.Snapshot, r *request) (any, error) {
	all, err := snap.Projects(ctx)
	if err != nil {
		return nil, err
	}
	components, err := visibleComponents(ctx, snap, "")
	if err != nil {
		return nil, err
	}
	shown := map[int64]bool{}
	for i := range components {
		shown[components[i].Project.ID] = true
	}
	objects := []*projectObject{}
	for i := range all {
		if p := &all[i].Project; !p.Private() || shown[p.ID] {
			objects = append(objects, newProject(r.link, p))
		}
	}
	w, err := r.window(int64(len(objects)), maxPageSize)
	if err != nil {
		return nil, err
	}
	return r.list(w, "/api/projects/", slice(objects, w)), nil
}

func (s *Server) getProject(ctx context.Context, snap *store.Snapshot, r *request) (any, error) {
	project, err := s.visibleProject(ctx, snap, r)
	if err != nil {
		return nil, err
	}
	return newProject(r.link, &project), nil
}
