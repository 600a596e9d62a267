package api

import (
	"context"

	"github.com/repoglot/repoglot/catalog/store"
)

// rootObject names the lists that there are, in the order of facts §6.
type rootObject struct {
	Users          string `json:"users"`
	Groups         string `json:"groups"`
	Roles          string `json:"roles"`
	Projects       string `json:"projects"`
	Components     string `json:"components"`
	Translations   string `json:"translations"`
	Memory         string `json:"memory"`
	Languages      string `json:"languages"`
	ComponentLists string `json:"component-lists"`
	Changes        string `json:"changes"`
	Units          string `json:"units"`
	Screenshots    string `json:"screenshots"`
	Addons         string `json:"addons"`
}

func (s *Server) getRoot(_ context.Context, _ *store.Snapshot, r *request) (any, error) {
	list := func(name string) string { return r.link.api(path("api", name)) }
	return rootObject{
		Users: list("users"), Groups: list("groups"), Roles: list("roles"),
		Projects: list("projects"), Components: list("components"), Translations: list("translations"),
		Memory: list("memory"), Languages: list("languages"), ComponentLists: list("component-lists"),
		Changes: list("changes"), Units: list("units"), Screenshots: list("screenshots"), Addons: list("addons"),
	}, nil
}
