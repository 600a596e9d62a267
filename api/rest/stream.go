package rest

import (
	"context"

	"github.com/repoglot/repoglot/api/wire"
	"github.com/repoglot/repoglot/catalog/store"
)

// ChangeStream is an answer that does not end: the entries of a change list as
// server-sent events; ours. Each event has the id of its entry. Ids have no
// gaps and become visible in ascending order, so a client that comes back with
// Last-Event-ID misses no entry and sees none twice.
type ChangeStream struct {
	// Path names the list.
	Path string
	// Query has the filters.
	Query store.ChangeQuery
	// After is the id after which the stream begins.
	After int64
	// Link makes the addresses in the entries.
	Link wire.Links
	// Scope finds the entries of the list again, without the filters.
	Scope func(ctx context.Context, snap *store.Snapshot) (store.ChangeQuery, error)
}
