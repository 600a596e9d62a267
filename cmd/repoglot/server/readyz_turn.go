package server

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"
)

// readyTurn makes answers to /readyz one after the other: each reads the rows of every
// branch. All requests that wait have the next answer, which is read after they came, so
// that many cost as much as two. One that takes long is kept for a while. The zero value is
// ready.
type readyTurn struct {
	next singleflight.Group // the answer that waits for the one before

	mu   sync.Mutex
	kept *readiness // the last answer, until it has cost no more than a part of the time
	till time.Time
	last chan struct{} // closed when the last answer that was begun is made; nil before the first
}

// get returns what read returns, if need be to another request that waits too. An answer
// that was begun is made also if its client goes away: others may wait for it.
func (t *readyTurn) get(ctx context.Context, read func(context.Context) (*readiness, error)) (*readiness, error) {
	t.mu.Lock()
	kept, till := t.kept, t.till
	t.mu.Unlock()
	if kept != nil && !time.Now().After(till) {
		return kept, nil
	}
	made := t.next.DoChan("", func() (any, error) { return t.make(context.WithoutCancel(ctx), read) })
	select {
	case result := <-made:
		if result.Err != nil {
			return nil, result.Err
		}
		return result.Val.(*readiness), nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

const (
	// readyShare is the part of the time in which answers are made, at most: one that took
	// a time is kept for so many times that time, but for no longer than readyKept.
	readyShare = 4
	readyKept  = 5 * time.Second
	// readyQuick is what small servers need: theirs are not kept.
	readyQuick = 50 * time.Millisecond
	// readyTime bounds the making of an answer.
	readyTime = time.Minute
)

// make makes an answer when the one before is there, and keeps it if it took long, which
// tells those who come soon enough.
func (t *readyTurn) make(ctx context.Context, read func(context.Context) (*readiness, error)) (state *readiness, err error) {
	t.mu.Lock()
	before, done := t.last, make(chan struct{})
	t.last = done
	t.mu.Unlock()
	defer close(done)
	if before != nil {
		<-before
	}
	t.next.Forget("") // who comes now may have seen something newer
	defer func() {    // it is no goroutine of the HTTP server, which would survive it
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	begun := time.Now()
	ctx, cancel := context.WithTimeout(ctx, readyTime)
	defer cancel()
	if state, err = read(ctx); err != nil {
		return nil, err
	}
	took := time.Since(begun)
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.kept = nil; took > readyQuick {
		t.kept, t.till = state, time.Now().Add(min(readyShare*took, readyKept))
	}
	return state, nil
}
