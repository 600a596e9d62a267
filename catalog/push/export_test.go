package push

import (
	"context"

	"github.com/repoglot/repoglot/catalog/ingest"
	"github.com/repoglot/repoglot/catalog/store"
)

// SetStop has flushes of p end as by a crash: before a push to a branch of our own, or
// after any push.
func (p *Pusher) SetStop(stop func(after bool) error) { p.stop = stop }

// After is after.
var After = after

// SetMost bounds the strings that all files of a component together get by itself.
func (p *Pusher) SetMost(n int64) { p.most = n }

// Flush is FlushOnly of all components.
func (p *Pusher) Flush(ctx context.Context, b ingest.Branch, to func(*store.BranchComponent) Destination) (Report, error) {
	return p.FlushOnly(ctx, b, to, func(*store.BranchComponent) bool { return true })
}
