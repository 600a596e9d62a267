package resource

import (
	"context"

	"github.com/repoglot/repoglot/api/rest"
	"github.com/repoglot/repoglot/api/wire"
	"github.com/repoglot/repoglot/catalog/store"
)

// listAddons lists the add-ons of all components, by id.
func listAddons(ctx context.Context, snap *store.Snapshot, r *rest.Request) (any, error) {
	components, err := visibleComponents(ctx, snap, "")
	if err != nil {
		return nil, err
	}
	objects := []wire.Addon{}
	for i := range components {
		if c := &components[i]; c.Settings.Discovery.Found() {
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
	components, err := visibleComponents(ctx, snap, "")
	if err != nil {
		return nil, err
	}
	for i := range components {
		if c := &components[i]; c.ID == id && c.Settings.Discovery.Found() {
			return wire.NewAddon(r.Link, &c.Component, c.Project.Slug), nil
		}
	}
	return nil, rest.ErrNotFound
}
