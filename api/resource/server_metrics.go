package resource

import (
	"context"

	"github.com/repoglot/repoglot/api/rest"
	"github.com/repoglot/repoglot/api/wire"
	"github.com/repoglot/repoglot/catalog/store"
)

// getServerMetrics answers clients that show a token, as Weblate does. While
// the server has no tokens, any will do: the answer says nothing that the lists
// do not.
func getServerMetrics(ctx context.Context, snap *store.Snapshot, r *rest.Request) (any, error) {
	if !rest.AccessOf(ctx).Authenticated() {
		return nil, rest.ErrUnauthenticated
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
	o := wire.ServerMetrics{
		Units: total.Stats.Total.Units, UnitsTranslated: total.Stats.Translated.Units, Users: users,
		Projects: len(projects), Components: len(components), Translations: total.Translations, Languages: len(sums),
		Checks: total.Stats.Failing.Units, Suggestions: total.Stats.Suggestions, CeleryQueues: map[string]int{}, Name: wire.SiteTitle,
	}
	for i := range components {
		o.Changes += components[i].Changes
		if components[i].Problem != "" {
			o.ConfigurationErrors++
		}
	}
	return o, err
}
