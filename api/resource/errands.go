package resource

import (
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"
)

// maxErrand bounds an errand: its hosts have shorter limits, but there may be many.
const maxErrand = 2 * time.Hour

// Errands are what clients ask for and what goes on when they go away: who closes a
// browser's tab or runs into a proxy's time limit has asked for a push all the same. Make
// them with NewErrands.
type Errands struct {
	log     *slog.Logger
	flights singleflight.Group
	ending  context.Context
	end     context.CancelFunc
	running sync.RWMutex // read by each that runs
}

// NewErrands returns Errands without any. Panics are logged.
func NewErrands(log *slog.Logger) *Errands {
	e := &Errands{log: log}
	e.ending, e.end = context.WithCancel(context.Background())
	return e
}

// Do calls fn, unless a call for the same key is running: then it waits for that one. Its
// result is ctx's error if ctx is done first; fn goes on then. The context of fn has the
// values of ctx and ends with End.
func (e *Errands) Do(ctx context.Context, key string, fn func(context.Context) (any, error)) (any, error) {
	done := e.flights.DoChan(key, func() (any, error) { return e.run(context.WithoutCancel(ctx), fn) })
	select {
	case r := <-done:
		return r.Val, r.Err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (e *Errands) run(ctx context.Context, fn func(context.Context) (any, error)) (result any, err error) {
	e.running.RLock()
	defer e.running.RUnlock()
	if err := e.ending.Err(); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, maxErrand)
	defer cancel()
	defer context.AfterFunc(e.ending, cancel)()
	defer func() { // it is no goroutine of the HTTP server, which would survive it
		if p := recover(); p != nil {
			e.log.Error("an operation panicked", "panic", p, "stack", string(debug.Stack()))
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	return fn(ctx)
}

// End ends all errands, waits for them and refuses new ones. It may be called more than
// once.
func (e *Errands) End() {
	e.end()
	e.running.Lock()
	defer e.running.Unlock()
}
