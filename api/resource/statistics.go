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

func (e *Env) getTranslationStatistics(ctx context.Context, snap *store.Snapshot, r *rest.Request) (any, error) {
	t, err := e.VisibleTranslation(ctx, snap, r)
	if err != nil {
		return nil, err
	}
	sources, err := snap.Sources(ctx, []int64{t.ComponentID})
	if err != nil {
		return nil, err
	}
	return e.newTranslationStatistics(r.Link, &t.Translation, t.Project.Slug, t.Component.Slug, sources[t.ComponentID]), nil
}

// listComponentStatistics lists the statistics of a component's translations,
// by id.
func (e *Env) listComponentStatistics(ctx context.Context, snap *store.Snapshot, r *rest.Request) (any, error) {
	component, all, err := e.importedTranslations(ctx, snap, r)
	if err != nil {
		return nil, err
	}
	source := sourceOf(all)
	return rest.ListOfObjects(r, all, wire.ComponentPath(component.Project.Slug, component.Slug)+"statistics/", func(t *catalog.Translation) wire.TranslationStatistics {
		return e.newTranslationStatistics(r.Link, t, component.Project.Slug, component.Slug, source)
	})
}

func getProjectStatistics(ctx context.Context, snap *store.Snapshot, r *rest.Request) (any, error) {
	project, sums, err := projectSums(ctx, snap, r)
	if err != nil {
		return nil, err
	}
	repeats, err := snap.Repeats(ctx, project.ID, rest.AccessOf(ctx).Sees(&project))
	if err != nil {
		return nil, err
	}
	total := addUp(sums)
	unique := total.Stats
	unique.Subtract(repeats)
	o := wire.NewProjectStatistics(r.Link, newStatistics(&total), &unique, &project)
	o.Missing = total.Progress.Missing
	return o, nil
}

// listProjectLanguages answers a bare array, sorted by the names of the
// languages.
func (e *Env) listProjectLanguages(ctx context.Context, snap *store.Snapshot, r *rest.Request) (any, error) {
	project, sums, err := projectSums(ctx, snap, r)
	if err != nil {
		return nil, err
	}
	objects := e.languagesOfProject(r.Link, sums, project.Slug)
	slices.SortFunc(objects, func(a, b wire.ProjectLanguageStatistics) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Code, b.Code))
	})
	return &rest.Array{Items: objects}, nil
}

func (e *Env) getLanguageStatistics(ctx context.Context, snap *store.Snapshot, r *rest.Request) (any, error) {
	l, err := e.VisibleLanguage(ctx, snap, r.PathParam("code"))
	if err != nil {
		return nil, err
	}
	sums, err := sumsOf(ctx, snap, "", l.Code)
	if err != nil {
		return nil, err
	}
	total := addUp(sums)
	o := wire.NewLanguageStatistics(r.Link, newStatistics(&total), l.Code, l.Name)
	o.Missing = total.Progress.Missing
	return o, nil
}

// getStatistics answers the statistics of everything that the client may see;
// ours.
func getStatistics(ctx context.Context, snap *store.Snapshot, r *rest.Request) (any, error) {
	sums, err := sumsOf(ctx, snap, "", "")
	if err != nil {
		return nil, err
	}
	total := addUp(sums)
	o := wire.NewServerStatistics(r.Link, newStatistics(&total))
	o.Missing = total.Progress.Missing
	return o, nil
}

// sumsOf adds up the served translations by language: of a project, or of all
// with ""; in one language, or in each with "".
func sumsOf(ctx context.Context, snap *store.Snapshot, project, language string) ([]store.Sum, error) {
	ids, err := importedIDs(ctx, snap, project)
	if err != nil {
		return nil, err
	}
	return snap.Sums(ctx, store.SumQuery{Components: ids, Language: language, Sources: true})
}

// projectSums is sumsOf for the project that the path names.
func projectSums(ctx context.Context, snap *store.Snapshot, r *rest.Request) (project catalog.Project, sums []store.Sum, err error) {
	if project, err = VisibleProject(ctx, snap, r); err == nil {
		sums, err = sumsOf(ctx, snap, project.Slug, "")
	}
	return project, sums, err
}

func addUp(sums []store.Sum) (total store.Sum) {
	for _, sum := range sums {
		total.Add(sum)
	}
	return total
}

// newStatistics makes the statistics of a set of translations.
func newStatistics(sum *store.Sum) wire.Statistics {
	return wire.NewStatistics(&sum.Stats, sum.LastChange, sum.RecentChanges)
}

// sourceOf returns the source translation among a component's.
func sourceOf(all []catalog.Translation) *catalog.Translation {
	for i := range all {
		if all[i].IsSource {
			return &all[i]
		}
	}
	return &catalog.Translation{}
}

func (e *Env) newTranslationStatistics(l wire.Links, t *catalog.Translation, project, component string, source *catalog.Translation) wire.TranslationStatistics {
	return wire.NewTranslationStatistics(l, t, e.Language(t.Language).Name, project, component, catalog.NewProgress(t, source).Missing)
}

func (e *Env) languagesOfProject(l wire.Links, sums []store.Sum, project string) []wire.ProjectLanguageStatistics {
	objects := make([]wire.ProjectLanguageStatistics, len(sums))
	for i := range sums {
		code := sums[i].Language
		objects[i] = wire.NewProjectLanguageStatistics(l, newStatistics(&sums[i]), project, code, e.Language(code).Name)
		objects[i].Missing = sums[i].Progress.Missing
	}
	return objects
}
