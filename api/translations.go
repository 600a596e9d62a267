package api

import (
	"context"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store"
)

func (s *Server) getTranslation(ctx context.Context, snap *store.Snapshot, r *request) (any, error) {
	t, err := s.visibleTranslation(ctx, snap, r)
	if err != nil {
		return nil, err
	}
	component := store.ComponentRow{Component: t.Component, Project: t.Project, Imported: true}
	within := s.component(r.link, &component, true)
	return s.translation(r.link, &t.Translation, t.Project.Slug, t.Component.Slug, within), nil
}

func (s *Server) listComponentTranslations(ctx context.Context, snap *store.Snapshot, r *request) (any, error) {
	component, err := s.importedComponent(ctx, snap, r.segment("project"), r.segment("component"))
	if err != nil {
		return nil, err
	}
	all, err := snap.Translations(ctx, component.ID)
	if err != nil {
		return nil, err
	}
	w, err := r.window(int64(len(all)), maxPageSize)
	if err != nil {
		return nil, err
	}
	objects := []*translationObject{}
	for i := range slice(all, w) {
		t := &all[w.offset+i]
		objects = append(objects, s.translation(r.link, t, component.Project.Slug, component.Slug, nil))
	}
	return r.list(w, componentPath(component.Project.Slug, component.Slug)+"translations/", objects), nil
}

// listTranslations lists all translations by id. It reads all of them, one
// query per component: a list that only people and set-up tools ask for.
func (s *Server) listTranslations(ctx context.Context, snap *store.Snapshot, r *request) (any, error) {
	components, err := visibleComponents(ctx, snap, "")
	if err != nil {
		return nil, err
	}
	all, err := translationsOf(ctx, snap, components)
	if err != nil {
		return nil, err
	}
	w, err := r.window(int64(len(all)), maxPageSize)
	if err != nil {
		return nil, err
	}
	within := map[int64]*componentObject{}
	objects := []*translationObject{}
	for _, t := range slice(all, w) {
		if within[t.component.ID] == nil {
			within[t.component.ID] = s.component(r.link, t.component, true)
		}
		objects = append(objects, s.translation(r.link, &t.Translation, t.component.Project.Slug, t.component.Slug, within[t.component.ID]))
	}
	return r.list(w, "/api/translations/", objects), nil
}

// placedTranslation is a translation with its component.
type placedTranslation struct {
	catalog.Translation
	component *store.ComponentRow
}
