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
	return rest.ListOfObjects(r, all, "/api/projects/", func(p *catalog.Project) wire.Object {
		return wire.NewProject(r.Link, p)
	})
}

func (e *Env) listComponents(ctx context.Context, snap *store.Snapshot, r *rest.Request, of *scope) (any, error) {
	rows, err := VisibleComponents(ctx, snap, of.slug)
	if err != nil {
		return nil, err
	}
	return rest.ListOfObjects(r, rows, of.path+"components/", func(row **store.ComponentRow) wire.Object {
		return e.newComponent(r.Link, *row, of.slug == "")
	})
}

// newComponent makes the object of a component; withProject is false in the list of a project.
func (e *Env) newComponent(l wire.Links, row *store.ComponentRow, withProject bool) wire.Object {
	at := wire.ComponentPlace{Project: row.Project.Slug, Language: wire.NewLanguage(l, e.Language(row.Settings.SourceLanguage)), WithoutExport: e.WithoutGitExport}
	if withProject {
		at.Within = wire.NewProject(l, &row.Project)
	}
	if !row.Imported {
		at.Task = wire.OrNull(l.API(wire.Path("api", "tasks", TaskID(row.Project.Slug, row.Slug))))
	}
	return wire.NewComponent(l, &row.Component, &at)
}

// addons are the components that have one, by id.
func addons(ctx context.Context, snap *store.Snapshot, _ *rest.Request) ([]*store.ComponentRow, error) {
	components, err := VisibleComponents(ctx, snap, "")
	return slices.DeleteFunc(slices.Clone(components), func(c *store.ComponentRow) bool { return !c.Settings.Discovery.Found() }), err
}

func listAddons(_ context.Context, _ *store.Snapshot, r *rest.Request, all *[]*store.ComponentRow) (any, error) {
	return rest.ListOfObjects(r, *all, "/api/addons/", func(c **store.ComponentRow) wire.Object {
		return wire.NewAddon(r.Link, &(*c).Component, (*c).Project.Slug)
	})
}

func getAddon(_ context.Context, _ *store.Snapshot, r *rest.Request, all *[]*store.ComponentRow) (any, error) {
	id, err := r.PathID()
	if i := slices.IndexFunc(*all, func(c *store.ComponentRow) bool { return c.ID == id }); err == nil && i >= 0 {
		return wire.NewAddon(r.Link, &(*all)[i].Component, (*all)[i].Project.Slug), nil
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
	return wire.Object{"locked", locked}, nil
}
