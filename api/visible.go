package api

import (
	"context"
	"errors"
	"fmt"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store"
)

// retrySeconds is when a client shall come back while a first import runs.
const retrySeconds = 5

// private reports whether a component is hidden: its own access wins over the
// project's. While there are no tokens, what is private is nobody's.
func private(project *catalog.Project, component *catalog.Component) bool {
	if component.Settings.Access != "" {
		return component.Settings.Access == catalog.AccessPrivate
	}
	return project.Private()
}

// visibleProject finds the project that the path names. A private project is
// visible if one of its components is public, since that one's payload
// contains it.
func (s *Server) visibleProject(ctx context.Context, snap *store.Snapshot, r *request) (catalog.Project, error) {
	row, err := snap.Project(ctx, r.segment("project"))
	if err != nil || !row.Private() {
		return row.Project, err
	}
	components, err := visibleComponents(ctx, snap, row.Slug)
	if err == nil && len(components) == 0 {
		err = errNotFound
	}
	return row.Project, err
}

// visibleComponents lists the public components of a project, or with "" of
// all, by id.
func visibleComponents(ctx context.Context, snap *store.Snapshot, project string) ([]store.ComponentRow, error) {
	rows, err := snap.Components(ctx, project)
	if err != nil {
		return nil, err
	}
	visible := make([]store.ComponentRow, 0, len(rows))
	for i := range rows {
		if !private(&rows[i].Project, &rows[i].Component) {
			visible = append(visible, rows[i])
		}
	}
	return visible, nil
}

// visibleComponent finds a component by its slugs.
func visibleComponent(ctx context.Context, snap *store.Snapshot, project, slug string) (store.ComponentRow, error) {
	row, err := snap.Component(ctx, project, slug)
	if err == nil && private(&row.Project, &row.Component) {
		err = errNotFound
	}
	return row, err
}

// importedComponent is visibleComponent for what lies below a component: not
// served before the first import is done (decision 22).
func (s *Server) importedComponent(ctx context.Context, snap *store.Snapshot, project, slug string) (store.ComponentRow, error) {
	row, err := visibleComponent(ctx, snap, project, slug)
	if err == nil && !row.Imported {
		err = s.importing(row.ID)
	}
	return row, err
}

// importing is the answer while a first import runs.
func (s *Server) importing(componentID int64) error {
	p := &problem{status: 503, retryAfter: retrySeconds}
	progress, running := s.progress(componentID)
	if !running {
		p.detail = "This component has not been imported yet."
		return p
	}
	p.detail = fmt.Sprintf("The first import of this component is running: %d %% done", min(max(progress.Percent, 0), 100))
	if progress.Stage != "" {
		p.detail += ", " + progress.Stage
	}
	p.detail += "."
	return p
}

// servable checks what a row says of its component: that it is public and that
// its first import is done. A component with a head needs no further query.
func (s *Server) servable(ctx context.Context, snap *store.Snapshot, project *catalog.Project, component *catalog.Component) error {
	if private(project, component) {
		return errNotFound
	}
	if component.Head != "" {
		return nil
	}
	_, err := s.importedComponent(ctx, snap, project.Slug, component.Slug)
	return err
}

// visibleTranslation finds the translation that the path names: by language
// code, by the file's own code, or by any spelling or alias of the language
// (decision 13).
func (s *Server) visibleTranslation(ctx context.Context, snap *store.Snapshot, r *request) (store.TranslationRow, error) {
	project, component, code := r.segment("project"), r.segment("component"), r.segment("language")
	t, err := snap.Translation(ctx, project, component, code)
	if errors.Is(err, catalog.ErrNotFound) {
		if _, err := s.importedComponent(ctx, snap, project, component); err != nil {
			return t, err
		}
		language, known := s.langs.Lookup(code)
		if !known || language.Code == code {
			return t, errNotFound
		}
		t, err = snap.Translation(ctx, project, component, language.Code)
	}
	if err != nil {
		return t, err
	}
	return t, s.servable(ctx, snap, &t.Project, &t.Component)
}
