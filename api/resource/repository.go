package resource

import (
	"cmp"
	"context"
	"slices"

	"github.com/repoglot/repoglot/api/rest"
	"github.com/repoglot/repoglot/api/wire"
	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store"
)

// A repository's state is public (docs/compatibility.md#repository-status), but for the words
// of what failed. It can be read during the first
// import, too: that is when people look.

// getRepository answers the state of the repository of a component, or of a translation.
func (e *Env) getRepository(ctx context.Context, snap *store.Snapshot, r *rest.Request, row *store.ComponentRow) (any, error) {
	path := wire.ComponentPath(row.Project.Slug, row.Slug)
	if r.PathParam("language") != "" {
		t, err := e.VisibleTranslation(ctx, snap, r)
		if err != nil {
			return nil, err
		}
		path = pathOf(&t)
	}
	commit, err := snap.HeadCommit(ctx, row.ID)
	if err != nil {
		return nil, err
	}
	told := func(f *catalog.Failure) string { return rest.AccessOf(ctx).Failure(&row.Project, f) }
	o := wire.NewRepository(r.Link, &row.Component, commit, path, cmp.Or(told(&row.Problem), told(&row.PushProblem)))
	o.NeedsCommit, o.NeedsPush, err = waiting(ctx, snap, row)
	return o, err
}

// waiting reports whether edits of a component wait to be committed, and to be pushed; files
// that are added or removed are committed when they are pushed.
func waiting(ctx context.Context, snap *store.Snapshot, row *store.ComponentRow) (commit, push bool, err error) {
	if !row.Settings.Edits.Taken() {
		return false, false, nil
	}
	to := store.PlaceOf(&row.Component, row.Project.Slug)
	uncommitted, committed, err := snap.Waiting(ctx, row.ID, to)
	if err != nil || uncommitted+committed > 0 {
		return uncommitted > 0, true, err
	}
	files, err := snap.PendingFiles(ctx, row.ID)
	return false, slices.ContainsFunc(files, func(f store.Edit) bool { return !to.Has(f.Pushed) }), err
}

func getProjectRepository(ctx context.Context, snap *store.Snapshot, r *rest.Request, project *catalog.Project) (any, error) {
	components, err := VisibleComponents(ctx, snap, project.Slug)
	if err != nil {
		return nil, err
	}
	o := wire.ProjectRepository{URL: r.Link.API(wire.ProjectPath(project.Slug) + "repository/")}
	for i := range components {
		o.NeedsMerge = o.NeedsMerge || wire.NeedsMerge(&components[i].Component)
		commit, push, err := waiting(ctx, snap, components[i])
		if err != nil {
			return nil, err
		}
		o.NeedsCommit, o.NeedsPush = o.NeedsCommit || commit, o.NeedsPush || push
	}
	return o, nil
}
