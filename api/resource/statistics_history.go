package resource

import (
	"context"

	"github.com/repoglot/repoglot/api/rest"
	"github.com/repoglot/repoglot/api/wire"
	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store"
)

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
func (e *Env) listHistory(ctx context.Context, snap *store.Snapshot, r *rest.Request) (any, error) {
	of, err := e.scopeOf(ctx, snap, r)
	if err != nil {
		return nil, err
	}
	q := store.StatQuery{TranslationID: of.translation, Language: of.language}
	if q.Components, err = of.components(ctx, snap); err != nil {
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
	return rest.ListOfObjects(r, line.Points(from, to), of.path+"statistics/history/", wire.NewStatisticsPoint)
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
