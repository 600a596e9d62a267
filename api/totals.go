package api

import (
	"context"

	"github.com/repoglot/repoglot/catalog/store"
)

// siteTitle is the name of the service.
const siteTitle = "repoglot"

// totalsObject is what the API calls metrics (facts §6), of what everybody may
// see. The server's own metrics are elsewhere (docs/operation.md).
type totalsObject struct {
	Units           int64 `json:"units"`
	UnitsTranslated int64 `json:"units_translated"`
	Users           int   `json:"users"`
	Changes         int64 `json:"changes"`
	Projects        int   `json:"projects"`
	Components      int   `json:"components"`
	Translations    int64 `json:"translations"`
	Languages       int   `json:"languages"`
	// Checks counts the units with failing checks.
	Checks int64 `json:"checks"`
	// ConfigurationErrors counts the components that cannot be pulled.
	ConfigurationErrors int            `json:"configuration_errors"`
	Suggestions         int64          `json:"suggestions"`
	CeleryQueues        map[string]int `json:"celery_queues"`
	Name                string         `json:"name"`
}

// getTotals answers those who show a token, as the recorded service does. While
// there are no tokens any will do: it tells nothing that the lists do not.
func (s *Server) getTotals(ctx context.Context, snap *store.Snapshot, r *request) (any, error) {
	if !accessOf(ctx).authenticated() {
		return nil, errUnauthenticated
	}
	projects, err := visibleProjects(ctx, snap)
	if err != nil {
		return nil, err
	}
	components, err := visibleComponents(ctx, snap, "")
	if err != nil {
		return nil, err
	}
	sums, err := sumsOf(ctx, snap, "", "")
	if err != nil {
		return nil, err
	}
	shown, err := shownComponents(ctx, snap)
	if err != nil {
		return nil, err
	}
	_, users, err := snap.Users(ctx, store.UserQuery{Components: shown})
	total := addUp(sums)
	o := totalsObject{
		Units: total.Stats.Total.Units, UnitsTranslated: total.Stats.Translated.Units, Users: users,
		Projects: len(projects), Components: len(components), Translations: total.Translations, Languages: len(sums),
		Checks: total.Stats.Failing.Units, Suggestions: total.Stats.Suggestions, CeleryQueues: map[string]int{}, Name: siteTitle,
	}
	for i := range components {
		o.Changes += components[i].Changes
		if components[i].Problem != "" {
			o.ConfigurationErrors++
		}
	}
	return o, err
}
