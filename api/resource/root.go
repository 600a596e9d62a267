package resource

import (
	"context"

	"github.com/repoglot/repoglot/api/rest"
	"github.com/repoglot/repoglot/api/wire"
	"github.com/repoglot/repoglot/catalog/store"
)

func getRoot(_ context.Context, _ *store.Snapshot, r *rest.Request) (any, error) {
	list := func(name string) string { return r.Link.API(wire.Path("api", name)) }
	return wire.Root{
		Users: list("users"), Groups: list("groups"), Roles: list("roles"),
		Projects: list("projects"), Components: list("components"), Translations: list("translations"),
		Memory: list("memory"), Languages: list("languages"), ComponentLists: list("component-lists"),
		Changes: list("changes"), Units: list("units"), Screenshots: list("screenshots"), Addons: list("addons"),
	}, nil
}
