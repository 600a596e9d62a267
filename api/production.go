package api

import (
	"context"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/repoglot/repoglot/api/rest"
	"github.com/repoglot/repoglot/catalog/store"
)

// production is a download being made.
type production struct {
	spool   *spool
	planned chan *rest.DownloadPlan // closed without a plan if planning failed
	ended   chan struct{}
	cancel  context.CancelFunc
	// generation is the snapshot's.
	generation int64
}

// produce begins to make a download as soon as fewer than maxProducers are
// being made.
func (s *Server) produce(ctx context.Context, d *rest.Download) (*production, error) {
	turn := time.NewTimer(producerWait)
	defer turn.Stop()
	select {
	case s.producers <- struct{}{}:
	case <-turn.C:
		return nil, errBusy
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	ctx, cancel := context.WithCancel(ctx)
	p := &production{spool: newSpool(s.tempDir), planned: make(chan *rest.DownloadPlan, 1), ended: make(chan struct{}), cancel: cancel}
	go func() {
		defer close(p.ended)
		defer func() { <-s.producers }()
		defer close(p.planned)
		p.spool.end(s.db.ReadLong(ctx, func(ctx context.Context, snap *store.Snapshot) (err error) {
			defer caught(&err)
			if p.generation, err = snap.Generation(ctx); err != nil {
				return err
			}
			plan, err := d.Plan(ctx, snap)
			if err != nil {
				return err
			}
			p.planned <- plan
			return plan.Write(ctx, p.spool)
		}))
	}()
	return p, nil
}

// close cancels the production, and returns when its goroutine has ended.
func (p *production) close() {
	p.cancel()
	p.spool.end(errNoReader)
	<-p.ended
	p.spool.close()
}

// caught turns a panic into an error. It would end the process otherwise, since
// net/http does not know our goroutine.
func caught(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
	}
}
