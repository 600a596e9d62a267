package resource

import (
	"context"
	"slices"

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

func (e *Env) listComponents(ctx context.Context, snap *store.Snapshot, r *rest.Request, of *scope) (any, error) {
	rows, err := VisibleComponents(ctx, snap, of.slug)
	if err != nil {
		return nil, err
	}
	return rest.ListOfObjects(r, rows, of.path+"components/", func(row **store.ComponentRow) *wire.Component {
		return e.newComponent(r.Link, *row, of.slug == "")
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

// addons are the add-ons of all components, by id.
func addons(ctx context.Context, snap *store.Snapshot, r *rest.Request) ([]wire.Addon, error) {
	components, err := VisibleComponents(ctx, snap, "")
	objects := []wire.Addon{}
	for _, c := range components {
		if c.Settings.Discovery.Found() {
			objects = append(objects, wire.NewAddon(r.Link, &c.Component, c.Project.Slug))
		}
	}
	return objects, err
}

func listAddons(_ context.Context, _ *store.Snapshot, r *rest.Request, all *[]wire.Addon) (any, error) {
	return rest.ListOf(r, *all, rest.MaxPageSize, "/api/addons/")
}

func getAddon(_ context.Context, _ *store.Snapshot, r *rest.Request, all *[]wire.Addon) (any, error) {
	id, err := r.PathID()
	if i := slices.IndexFunc(*all, func(a wire.Addon) bool { return a.ID == id }); err == nil && i >= 0 {
		return (*all)[i], nil
	}
	return nil, rest.ErrNotFound
}

// getLock answers whether a component is locked, or all of a project that take edits.
func getLock(_ context.Context, _ *store.Snapshot, r *rest.Request, rows *[]*store.ComponentRow) (any, error) {
	list := *rows
	if r.PathParam("component") == "" {
		list = takingEdits(list)
	}
	locked := len(list) > 0 && !slices.ContainsFunc(list, func(c *store.ComponentRow) bool { return !c.Locked })
	return wire.Lock{Locked: locked}, nil
}
