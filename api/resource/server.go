package resource

import (
	"context"
	"crypto/sha1"
	"fmt"

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

// getServerMetrics answers clients that show a token, as Weblate does. While
// the server has no tokens, any will do: the answer says nothing that the lists
// do not.
func getServerMetrics(ctx context.Context, snap *store.Snapshot, r *rest.Request) (any, error) {
	if !rest.AccessOf(ctx).Authenticated() {
		return nil, rest.ErrUnauthenticated
	}
	projects, err := VisibleProjects(ctx, snap)
	if err != nil {
		return nil, err
	}
	components, err := VisibleComponents(ctx, snap, "")
	if err != nil {
		return nil, err
	}
	sums, err := sumsOf(ctx, snap, "", "")
	if err != nil {
		return nil, err
	}
	shown, err := ShownComponents(ctx, snap)
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
		if components[i].Problem.Failed() {
			o.ConfigurationErrors++
		}
	}
	return o, err
}

// taskNamespace makes our UUIDs differ from others'.
const taskNamespace = "repoglot first import\x00"

// TaskID is the UUID of a component's first import. It is version 5 of RFC
// 9562, so that every server gives the same one; that needs SHA-1, which
// protects nothing here.
func TaskID(project, component string) string {
	sum := sha1.Sum([]byte(taskNamespace + project + "/" + component))
	sum[6] = sum[6]&0x0f | 0x50
	sum[8] = sum[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", sum[0:4], sum[4:6], sum[6:8], sum[8:10], sum[10:16])
}

func (e *Env) getTask(ctx context.Context, snap *store.Snapshot, r *rest.Request) (any, error) {
	components, err := VisibleComponents(ctx, snap, "")
	if err != nil {
		return nil, err
	}
	uuid := r.PathParam("uuid")
	for i := range components {
		row := components[i]
		if TaskID(row.Project.Slug, row.Slug) != uuid {
			continue
		}
		if row.Imported {
			return wire.Task{Completed: true, Progress: 100}, nil
		}
		progress, _ := e.Progress(row)
		return wire.Task{Progress: min(max(progress.Percent, 0), 100), Log: progress.Stage}, nil
	}
	return nil, rest.ErrNotFound
}
