package push

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/repoglot/repoglot/catalog/ingest"
	"github.com/repoglot/repoglot/catalog/store"
	"github.com/repoglot/repoglot/gitsource/forge"
)

const (
	// firstPause is the time between two flushes of a branch whose edits could not all
	// be pushed; it doubles up to longestPause.
	firstPause   = time.Minute
	longestPause = time.Hour
	// requestPause is the time between two looks at a request.
	requestPause = 5 * time.Minute
)

// Ready reports whether edits of a branch are to be pushed now. It is the one place that
// keeps the pauses after failures: only a push by hand does not ask it.
func (p *Pusher) Ready(ctx context.Context, b ingest.Branch) (bool, error) {
	now := p.Now()
	w, err := p.DB.PushWait(ctx, b.Key)
	if err != nil || w.Unreached || now.Before(w.Later) {
		return false, err
	}
	due := w.Wish != 0
	if !due {
		due, err = p.Due(ctx, b, !now.Before(w.HeldTill))
	}
	if err == nil && !due && now.Sub(w.Ended) >= requestPause { // perhaps its request has ended
		due, err = p.Requested(ctx, b)
	}
	return due, err
}

// Try is FlushOnly, from which the pauses of Ready follow. It asks no forge that wants no
// requests.
func (p *Pusher) Try(ctx context.Context, b ingest.Branch, to func(*store.BranchComponent) Destination, of func(*store.BranchComponent) bool) (Report, error) {
	w, err := p.DB.PushWait(ctx, b.Key)
	if err != nil {
		return Report{}, err
	}
	if p.Now().Before(w.Until) {
		return Report{}, fmt.Errorf("the forge wants no requests until %s", w.Until.UTC().Format(time.RFC3339))
	}
	report, err := p.FlushOnly(ctx, b, to, of)
	if ctx.Err() == nil {
		p.Note(ctx, b.Key, func(w store.PushWait) store.PushWait { return after(w, p.Now(), len(report.Held) > 0, err) })
	}
	return report, err
}

// pauseAfter is how long a branch waits after a number of pushes in a row.
func pauseAfter(failures int) time.Duration {
	wait := firstPause
	for ; failures > 1 && wait < longestPause; failures-- {
		wait *= 2
	}
	return min(wait, longestPause)
}

// after returns when a branch is flushed again after a flush. What cannot be written waits
// alone, with pauses that grow; after a failure everything does, and not shorter than a
// forge asks for.
func after(w store.PushWait, now time.Time, held bool, err error) store.PushWait {
	next := store.PushWait{Ended: now}
	if held {
		next.Held = w.Held + 1
		next.HeldTill = now.Add(pauseAfter(next.Held))
	}
	if err != nil {
		next.Failures = w.Failures + 1
		next.Later = now.Add(pauseAfter(next.Failures))
	}
	if errors.Is(err, ErrForeign) { // until its request is merged, which is looked for as ever
		next.Later = now.Add(min(pauseAfter(next.Failures), requestPause))
	}
	var limit *forge.LimitError
	if errors.As(err, &limit) {
		next.Until = now.Add(limit.After)
		if next.Until.After(next.Later) {
			next.Later = next.Until
		}
	}
	return next
}

// Note changes when the edits of a branch, by its key, are pushed again.
func (p *Pusher) Note(ctx context.Context, key string, change func(store.PushWait) store.PushWait) {
	w, err := p.DB.PushWait(ctx, key)
	if now := change(w); err == nil && now != w {
		err = p.DB.SetPushWait(ctx, key, now)
	}
	if err != nil && ctx.Err() == nil {
		p.Logger.Error("when edits are pushed again cannot be stored", "branch", key, "error", err)
	}
}

// Reached notes whether a pull reached the repository of a branch: while none does, the
// pauses of pulls count.
func (p *Pusher) Reached(ctx context.Context, key string, reached bool) {
	p.Note(ctx, key, func(w store.PushWait) store.PushWait {
		w.Unreached = !reached
		return w
	})
}
