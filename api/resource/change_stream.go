package resource

import (
	"context"
	"strconv"
	"strings"

	"github.com/repoglot/repoglot/api/rest"
	"github.com/repoglot/repoglot/catalog/store"
)

// streamChanges makes the handler of a change list's stream. The stream begins
// after Last-Event-ID, otherwise after after_id, otherwise after the newest
// entry.
func streamChanges(scope changeScope) Handler {
	return func(ctx context.Context, snap *store.Snapshot, r *rest.Request) (any, error) {
		q, path, err := scope(ctx, snap, r)
		if err != nil {
			return nil, err
		}
		if q, err = changeQuery(r, q); err != nil {
			return nil, err
		}
		if q.Newest {
			return nil, rest.BadParameter("ordering", "A stream is ascending.")
		}
		again := func(ctx context.Context, snap *store.Snapshot) (store.ChangeQuery, error) {
			q, _, err := scope(ctx, snap, r)
			return q, err
		}
		f := &rest.ChangeStream{Path: path, Query: q, After: q.AfterID, Link: r.Link, Scope: again}
		if id := strings.TrimSpace(r.HTTP.Header.Get("Last-Event-ID")); id != "" {
			if f.After, err = strconv.ParseInt(id, 10, 64); err != nil || f.After < 0 {
				return nil, rest.BadParameter("Last-Event-ID", "A valid integer is required.")
			}
			return f, nil
		}
		if _, given := r.Params.Get("after_id"); !given {
			f.After, err = snap.Count(ctx, store.ChangeQuery{}) // ids have no gaps: this is the newest
		}
		return f, err
	}
}
