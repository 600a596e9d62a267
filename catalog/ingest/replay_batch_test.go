package ingest

import (
	"context"
	"errors"
	"testing"

	"github.com/repoglot/repoglot/catalog/store"
)

// TestReplayBrokenBatch: a batch that cannot be stored, during the work on the
// next one, is no component's fault, and nothing is stored after it.
func TestReplayBrokenBatch(t *testing.T) {
	full := errors.New("the disk is full")
	c := &component{row: store.BranchComponent{}}
	r := &replay{p: &pull{}, comps: []*component{c}, pending: &pendingBatch{done: make(chan struct{}), err: full}}
	r.staging = newStaging(nil, r.comps, r.waitStored)
	close(r.pending.done)
	_, err := r.staging.Known(context.Background(), 1) // asks the store, which has to be up to date
	if !errors.Is(err, full) {
		t.Fatalf("reading after the batch: %v", err)
	}
	var one *componentError
	if err = r.count(c, &application{}, err); !errors.Is(err, full) || errors.As(err, &one) {
		t.Errorf("%v is the fault of a component", err)
	}
	if err := r.flush(context.Background(), "next"); !errors.Is(err, full) || r.pending != nil {
		t.Errorf("the next batch is stored: %v", err)
	}
}
