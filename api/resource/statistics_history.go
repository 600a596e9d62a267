package resource

import (
	"context"

	"github.com/repoglot/repoglot/api/rest"
	"github.com/repoglot/repoglot/api/wire"
	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store"
)

// statScope finds the statistics over time of a resource: the query that adds
// them up, and the path of the resource.
type statScope func(ctx context.Context, snap *store.Snapshot, r *rest.Request) (q store.StatQuery, path string, err error)

func (e *Env) translationHistory(ctx context.Context, snap *store.Snapshot, r *rest.Request) (store.StatQuery, string, error) {
	t, err := e.VisibleTranslation(ctx, snap, r)
	return store.StatQuery{TranslationID: t.ID}, wire.TranslationPath(t.Project.Slug, t.Component.Slug, t.Language), err
}

func (e *Env) componentHistory(ctx context.Context, snap *store.Snapshot, r *rest.Request) (store.StatQuery, string, error) {
	component, err := e.ImportedComponent(ctx, snap, r)
	return store.StatQuery{Components: []int64{component.ID}}, wire.ComponentPath(component.Project.Slug, component.Slug), err
}

func projectHistory(ctx context.Context, snap *store.Snapshot, r *rest.Request) (store.StatQuery, string, error) {
	project, err := VisibleProject(ctx, snap, r)
	if err != nil {
		return store.StatQuery{}, "", err
	}
	ids, err := importedIDs(ctx, snap, project.Slug)
	return store.StatQuery{Components: ids}, wire.ProjectPath(project.Slug), err
}

func (e *Env) languageHistory(ctx context.Context, snap *store.Snapshot, r *rest.Request) (store.StatQuery, string, error) {
	l, err := e.VisibleLanguage(ctx, snap, r.PathParam("code"))
	if err != nil {
		return store.StatQuery{}, "", err
	}
	ids, err := importedIDs(ctx, snap, "")
	return store.StatQuery{Components: ids, Language: l.Code}, wire.Path("api", "languages", l.Code), err
}

// importedIDs are the ids of the visible components whose first import is done,
// of a project or of all with "".
func importedIDs(ctx context.Context, snap *store.Snapshot, project string) ([]int64, error) {
	rows, err := VisibleComponents(ctx, snap, project)
	return ImportedIDs(rows), err
}

// ImportedIDs are the ids of the imported ones of components, in their order.
func ImportedIDs(rows []*store.ComponentRow) []int64 {
	ids := make([]int64, 0, len(rows))
	for _, c := range rows {
		if c.Imported {
			ids = append(ids, c.ID)
		}
	}
	return ids
}

// listHistory answers a list of statistics over time, ascending.
func listHistory(scope statScope) Handler {
	return func(ctx context.Context, snap *store.Snapshot, r *rest.Request) (any, error) {
		q, path, err := scope(ctx, snap, r)
		if err != nil {
			return nil, err
		}
		errs := rest.FieldErrors{}
		line := catalog.Timeline{Interval: intervalOf(r, errs)}
		from, to := r.Timestamp("timestamp_after", errs), r.Timestamp("timestamp_before", errs)
		if err := errs.Err(); err != nil {
			return nil, err
		}
		if err := snap.Timeline(ctx, q, &line); err != nil {
			return nil, err
		}
		return rest.ListOfObjects(r, line.Points(from, to), path+"statistics/history/", wire.NewStatisticsPoint)
	}
}

// intervalOf reads the parameter interval; the default is a day.
func intervalOf(r *rest.Request, errs rest.FieldErrors) catalog.Interval {
	value, _ := r.Params.Get("interval")
	if value == "" {
		return catalog.IntervalDay
	}
	i := catalog.Interval(value)
	if !i.Known() {
		errs.Add("interval", "Select a valid choice: day, week or month.")
	}
	return i
}
