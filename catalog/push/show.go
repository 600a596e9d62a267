package push

import (
	"context"
	"fmt"

	"github.com/repoglot/repoglot/catalog/flush"
	"github.com/repoglot/repoglot/catalog/ingest"
	"github.com/repoglot/repoglot/catalog/store"
)

// Show makes commits of those pending edits of a branch that clients asked to commit, on
// the head of its mirror, and has clones of the mirror see them. It pushes nothing. The
// commits are wholly determined by head and journal, so it may be called at any time; what
// becomes of edits is told by Flush. It holds the mirror, as a pull does.
func (p *Pusher) Show(ctx context.Context, b ingest.Branch, to func(*store.BranchComponent) Destination) error {
	err := p.Syncer.Hold(ctx, b, func(ctx context.Context, held *ingest.Held) error { return p.show(ctx, held, b, to) })
	if err != nil {
		return fmt.Errorf("commit edits of %s: %w", b.Key, err)
	}
	return nil
}

func (p *Pusher) show(ctx context.Context, held *ingest.Held, b ingest.Branch, to func(*store.BranchComponent) Destination) error {
	rows, err := p.rows(ctx, b)
	if err != nil {
		return err
	}
	if _, fetched := held.Mirror().Path(); !fetched {
		return nil // so nothing is shown
	}
	if err := p.settleFiles(ctx, held, rows); err != nil {
		return err
	}
	w, err := held.Mirror().Writer(ctx)
	if err != nil {
		return err
	}
	defer w.Close()
	tip := w.Head().Hash
	for _, g := range destinations(rows, to) {
		r := &run{Pusher: p, held: held, branch: b, group: g, committed: true}
		files, err := r.files(ctx)
		if err != nil {
			return err
		}
		if len(files) == 0 {
			continue
		}
		o := r.options(files)
		o.On = tip
		result, err := flush.Derive(ctx, w, files, o)
		if err != nil {
			return err
		}
		tip = result.Head
	}
	return w.Show(tip)
}
