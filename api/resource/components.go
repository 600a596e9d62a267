package resource

import (
	"context"
	"slices"

	"github.com/repoglot/repoglot/api/rest"
	"github.com/repoglot/repoglot/api/wire"
	"github.com/repoglot/repoglot/catalog/store"
)

func (e *Env) getComponent(ctx context.Context, snap *store.Snapshot, r *rest.Request) (any, error) {
	row, err := VisibleComponent(ctx, snap, r)
	if err != nil {
		return nil, err
	}
	return e.newComponent(r.Link, &row, true), nil
}

func (e *Env) listComponents(ctx context.Context, snap *store.Snapshot, r *rest.Request) (any, error) {
	return e.componentList(ctx, snap, r, "", "/api/components/")
}

func (e *Env) listProjectComponents(ctx context.Context, snap *store.Snapshot, r *rest.Request) (any, error) {
	project, err := VisibleProject(ctx, snap, r)
	if err != nil {
		return nil, err
	}
	return e.componentList(ctx, snap, r, project.Slug, wire.ProjectPath(project.Slug)+"components/")
}

// componentList lists the components of a project, or of all with "".
func (e *Env) componentList(ctx context.Context, snap *store.Snapshot, r *rest.Request, project, path string) (any, error) {
	rows, err := VisibleComponents(ctx, snap, project)
	if err != nil {
		return nil, err
	}
	return rest.ListOfObjects(r, rows, path, func(row **store.ComponentRow) *wire.Component {
		return e.newComponent(r.Link, *row, project == "")
	})
}

// newComponent makes the object of a component; withProject is false in the list
// of a project.
func (e *Env) newComponent(l wire.Links, row *store.ComponentRow, withProject bool) *wire.Component {
	c := wire.NewComponent(l, &row.Component, row.Project.Slug)
	if e.WithoutGitExport {
		c.GitExport = ""
	}
	c.SourceLanguage = wire.NewLanguage(l, e.Language(row.Settings.SourceLanguage))
	if withProject {
		c.Project = wire.NewProject(l, &row.Project)
	}
	if !row.Imported {
		c.TaskURL = wire.OrNull(l.API(wire.Path("api", "tasks", TaskID(row.Project.Slug, row.Slug))))
	}
	return c
}

// listAddons lists the add-ons of all components, by id.
func listAddons(ctx context.Context, snap *store.Snapshot, r *rest.Request) (any, error) {
	components, err := VisibleComponents(ctx, snap, "")
	if err != nil {
		return nil, err
	}
	objects := []wire.Addon{}
	for i := range components {
		if c := components[i]; c.Settings.Discovery.Found() {
			objects = append(objects, wire.NewAddon(r.Link, &c.Component, c.Project.Slug))
		}
	}
	return rest.ListOf(r, objects, rest.MaxPageSize, "/api/addons/")
}

func getAddon(ctx context.Context, snap *store.Snapshot, r *rest.Request) (any, error) {
	id, err := r.PathID()
	if err != nil {
		return nil, err
	}
	components, err := VisibleComponents(ctx, snap, "")
	if err != nil {
		return nil, err
	}
	for i := range components {
		if c := components[i]; c.ID == id && c.Settings.Discovery.Found() {
			return wire.NewAddon(r.Link, &c.Component, c.Project.Slug), nil
		}
	}
	return nil, rest.ErrNotFound
}

// getProjectLock answers whether all components of a project that take edits are locked.
func getProjectLock(ctx context.Context, snap *store.Snapshot, r *rest.Request) (any, error) {
	project, err := VisibleProject(ctx, snap, r)
	if err != nil {
		return nil, err
	}
	all, err := VisibleComponents(ctx, snap, project.Slug)
	taking := takingEdits(all)
	return wire.Lock{Locked: len(taking) > 0 && !slices.ContainsFunc(taking, func(c *store.ComponentRow) bool { return !c.Locked })}, err
}

// getLock answers whether a component is locked.
func getLock(ctx context.Context, snap *store.Snapshot, r *rest.Request) (any, error) {
	row, err := VisibleComponent(ctx, snap, r)
	return wire.Lock{Locked: row.Locked}, err
}
