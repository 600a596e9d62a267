package server

import (
	"context"
	"errors"
	"sync/atomic"
	"time"
)

// readyTurn makes answers to /readyz one after the other: each reads the rows of every
// branch. All requests that wait have the next answer, which is read after they came, so
// that many cost as much as two. One that takes long is kept for a while.
type readyTurn struct {
	begun atomic.Int64  // answers
	turn  chan struct{} // holds a token while somebody uses the rest

	kept   *readiness // the last answer, or err
	err    error
	number int64     // its number
	till   time.Time // until then it has cost no more than a part of the time
}

func newReadyTurn() *readyTurn { return &readyTurn{turn: make(chan struct{}, 1)} }

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

// errReadiness is the error of an answer that panicked, for those who waited for it.
var errReadiness = errors.New("the state could not be read")

// get returns what read returns, if need be to another request that waits too. An answer
// that was begun is made also if its client goes away: others may wait for it.
func (t *readyTurn) get(ctx context.Context, read func(context.Context) (*readiness, error)) (*readiness, error) {
	came := t.begun.Load()
	select {
	case t.turn <- struct{}{}:
		defer func() { <-t.turn }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if t.number > came || time.Now().Before(t.till) {
		return t.kept, t.err
	}
	t.number = t.begun.Add(1)
	t.kept, t.err = nil, errReadiness
	begun := time.Now()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), readyTime)
	defer cancel()
	t.kept, t.err = read(ctx)
	if took := time.Since(begun); t.err == nil && took > readyQuick {
		t.till = time.Now().Add(min(readyShare*took, readyKept))
	}
	return t.kept, t.err
}
