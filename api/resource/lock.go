package resource

import (
	"context"

	"github.com/repoglot/repoglot/api/rest"
	"github.com/repoglot/repoglot/api/wire"
	"github.com/repoglot/repoglot/catalog/store"
)

// getLock answers that a component is not locked: nothing can lock one.
func getLock(ctx context.Context, snap *store.Snapshot, r *rest.Request) (any, error) {
	_, err := visibleComponent(ctx, snap, r)
	return wire.Lock{}, err
}
