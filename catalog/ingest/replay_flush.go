package ingest

import (
	"context"

	"github.com/repoglot/repoglot/catalog/store"
)

// pendingBatch is a batch that is being stored.
type pendingBatch struct {
	done    chan struct{} // closed at its end
	err     error
	made    map[int64]int64 // ids of new translations
	move    move            // to its last commit
	changes map[int64]int64 // entries by component
	counts  map[int64]stagedComponent
}

// flush begins to store the batch, whose last commit is to. With done, the head
// is reached: flush waits until the batch is stored.
func (r *replay) flush(ctx context.Context, to string, done bool) error {
	if err := r.waitStored(); err != nil {
		return err
	}
	b := &pendingBatch{
		done: make(chan struct{}), changes: r.changes, counts: r.staging.counts(),
		move: move{convoy: r.comps, from: r.from, to: to, partial: !done},
	}
	sealed, info := r.staging.seal(), r.p.stepInfo(ctx, b.move)
	r.pending, r.from, r.commits, r.changes = b, to, 0, make(map[int64]int64)
	go func() {
		defer close(b.done)
		b.err = r.p.transact(ctx, info, func(ctx context.Context, tx *store.StepTx) (err error) {
			b.made, err = sealed.write(ctx, tx)
			if err == nil && done {
				err = newCheckup(tx).run(ctx, r.comps)
			}
			return err
		})
	}()
	if !done {
		return nil
	}
	return r.waitStored()
}

// waitStored waits until the pending batch is stored.
func (r *replay) waitStored() error {
	b := r.pending
	if b == nil {
		return r.broken
	}
	r.pending = nil
	<-b.done
	if r.broken = b.err; b.err != nil {
		return b.err
	}
	r.staging.addIDs(b.made)
	r.p.moved(b.move)
	for _, c := range r.comps {
		r.p.changes[c.row.ID] += b.changes[c.row.ID]
		c.row.LastUnit, c.row.LastAt = b.counts[c.row.ID].lastUnit, b.counts[c.row.ID].lastAt
	}
	if !b.move.partial {
		r.reachedHead()
	}
	return nil
}

// reachedHead sets what later parts of the pull read of components at the head.
func (r *replay) reachedHead() {
	for _, c := range r.comps {
		c.applied, c.matchesNothing = true, !c.selects()
		for _, row := range c.translations {
			row.ID = r.staging.id(row.ID)
		}
	}
}
