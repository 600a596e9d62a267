package rest

import (
	"context"

	"github.com/repoglot/repoglot/api/wire"
	"github.com/repoglot/repoglot/catalog/store"
)

// ChangeStream is an answer that goes on: the entries of a change list as server-sent
// events (HTML standard, 9.2), ours. Each event's id is its entry's, so that a
// client which comes back with Last-Event-ID misses nothing and sees nothing
// twice: ids are dense and become visible in ascending order (decision 4).
type ChangeStream struct {
	// Path names the list.
	Path string
	// Query has the filters.
	Query store.ChangeQuery
	// After is the id after which the stream begins.
	After int64
	// Link makes the addresses of the entries.
	Link wire.Links
	// Scope looks anew which entries the list has, before filters.
	Scope func(ctx context.Context, snap *store.Snapshot) (store.ChangeQuery, error)
}
