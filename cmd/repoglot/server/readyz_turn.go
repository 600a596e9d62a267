package server

import (
	"context"
	"errors"
	"sync"
	"time"
)

// readyTurn makes answers to /readyz one after the other: each reads the rows of every
// branch. All requests that wait have the next answer, which is read after they came, so
// that many cost as much as two. One that takes long is kept for a while. The zero value is
// ready.
type readyTurn struct {
	mu   sync.Mutex
	kept *readiness // the last answer, until it has cost no more than a part of the time
	till time.Time
	busy chan struct{} // of capacity 1: full while an answer is made
	next *readyCall
}

// readyCall is an answer that is made once.
type readyCall struct {
	done  chan struct{} // closed when it is there
	state *readiness    // not to be changed
	err   error
}

// get returns what read returns, if need be to another request that waits too.
func (t *readyTurn) get(ctx context.Context, read func(context.Context) (*readiness, error)) (*readiness, error) {
	for {
		t.mu.Lock()
		kept := t.kept
		if time.Now().After(t.till) || kept == nil {
			kept = nil
		}
		t.mu.Unlock()
		if kept != nil {
			return kept, nil
		}
		call, first := t.join()
		if first {
			t.make(ctx, call, read)
			return call.state, call.err
		}
		select {
		case <-call.done:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		if !errors.Is(call.err, context.Canceled) && !errors.Is(call.err, context.DeadlineExceeded) { // whose client has gone
			return call.state, call.err
		}
	}
}

const (
	// readyShare is the part of the time in which answers are made, at most: one that took
	// a time is kept for so many times that time, but for no longer than readyKept.
	readyShare = 4
	readyKept  = 5 * time.Second
	// readyQuick is what small servers need: theirs are not kept.
	readyQuick = 50 * time.Millisecond
)

// keep keeps an answer that took long, which tells those who come soon enough.
func (t *readyTurn) keep(state *readiness, took time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.kept = nil; took > readyQuick {
		t.kept, t.till = state, time.Now().Add(min(readyShare*took, readyKept))
	}
}

// join returns the next answer, and whether the request must make it.
func (t *readyTurn) join() (call *readyCall, first bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.busy == nil {
		t.busy = make(chan struct{}, 1)
	}
	if first = t.next == nil; first {
		t.next = &readyCall{done: make(chan struct{})}
	}
	return t.next, first
}

// make makes an answer when the one before is there.
func (t *readyTurn) make(ctx context.Context, call *readyCall, read func(context.Context) (*readiness, error)) {
	defer close(call.done)
	select {
	case t.busy <- struct{}{}:
		defer func() { <-t.busy }()
	case <-ctx.Done():
		call.err = ctx.Err()
	}
	t.mu.Lock()
	t.next = nil // who comes now may have seen something newer
	t.mu.Unlock()
	if call.err == nil {
		call.err = errors.New("the answer was not made") // after a panic
		begun := time.Now()
		if call.state, call.err = read(ctx); call.err == nil {
			t.keep(call.state, time.Since(begun))
		}
	}
}
