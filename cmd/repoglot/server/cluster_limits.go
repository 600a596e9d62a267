package server

import (
	"context"
	"time"

	"github.com/repoglot/repoglot/api"
	"github.com/repoglot/repoglot/api/limit"
	"github.com/repoglot/repoglot/catalog/store/cluster"
)

// shareInterval is the time between two exchanges of what clients used of rate_limit.
const shareInterval = time.Second

// shareLimits counts requests together with the other processes until ctx is done.
func (c *member) shareLimits(ctx context.Context, server *api.Server) error {
	tick := time.NewTicker(shareInterval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		within, cancel := context.WithTimeout(ctx, seenInterval)
		err := server.ExchangeLimits(within, c.spend)
		cancel()
		if err != nil && ctx.Err() == nil {
			c.log.Debug("requests are counted by this process alone", "error", err)
		}
	}
}

// spend adds what clients used of a limit to what other processes counted.
func (c *member) spend(ctx context.Context, name string, list []limit.Spent) ([]limit.Spent, error) {
	used := make([]cluster.Spent, len(list))
	for i := range list {
		used[i] = cluster.Spent(list[i])
	}
	used, err := c.table.Spend(ctx, name, used)
	sums := make([]limit.Spent, len(used))
	for i := range used {
		sums[i] = limit.Spent(used[i])
	}
	return sums, err
}

// claim is hooks.Options.Claim; nil without a cluster. A pause is a limit of one call.
func (c *member) claim() func(ctx context.Context, kind, key string, pause time.Duration) (time.Duration, error) {
	if c == nil {
		return nil
	}
	return func(ctx context.Context, kind, key string, pause time.Duration) (time.Duration, error) {
		sums, err := c.table.Spend(ctx, "webhook "+kind, []cluster.Spent{{Client: key, Used: 1, Left: pause}})
		if err != nil || len(sums) == 0 || sums[0].Used <= 1 {
			return 0, err
		}
		return sums[0].Left, nil
	}
}
