package server

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/ingest"
	"github.com/repoglot/repoglot/catalog/store"
	"github.com/repoglot/repoglot/catalog/store/cluster"
)

// operations pull and push for requests to the API. Processes that share a database leave
// that to the one that has the mirror.
type operations struct{ *supervisor }

// branchOf finds the branch of a component.
func (o operations) branchOf(ctx context.Context, component int64) (*ingest.Branch, error) {
	row, err := o.engine.db.ComponentByID(ctx, component)
	if err != nil {
		return nil, fmt.Errorf("finding the branch: %w", err)
	}
	b := o.current().branch(ingest.BranchKey(row.Repo, row.Branch))
	if b == nil {
		return nil, errors.New("the configuration has changed: try again")
	}
	return b, nil
}

// Push flushes at once what the token may push. The process of a cluster that has the mirror
// does not know the token: it is asked for a pull, which pushes what is due.
func (o operations) Push(ctx context.Context, component int64, by *catalog.Token) (waits bool, err error) {
	may := func(row *store.BranchComponent) bool { return by.SeesAll() || by.Sees(row.Project.Slug) }
	b, err := o.branchOf(ctx, component)
	if err != nil {
		return false, err
	}
	rows, err := o.engine.rows(ctx, b)
	if err != nil {
		return false, fmt.Errorf("push: %w", err)
	}
	if slices.ContainsFunc(rows, func(row store.BranchComponent) bool { return row.Settings.Edits.Taken() && !may(&row) }) {
		return o.onBranch(ctx, component, workPull, func(b *ingest.Branch) error { return o.flushNow(ctx, b, may) })
	}
	return o.onBranch(ctx, component, cluster.WorkPush, func(b *ingest.Branch) error { return o.flushNow(ctx, b, everyOne) })
}

// Reclone clones the mirror anew, and pulls.
func (o operations) Reclone(ctx context.Context, component int64) (waits bool, err error) {
	return o.onBranch(ctx, component, cluster.WorkClone, func(b *ingest.Branch) error {
		err := o.engine.syncer.Reclone(ctx, *b)
		if err == nil {
			_, err = o.engine.Pull(ctx, b)
		}
		if err == nil {
			err = o.show(ctx, b) // the old one had the commits
		}
		return err
	})
}

// Commit has clones see edits of translations of a component.
func (o operations) Commit(ctx context.Context, component int64, translations []int64) (waits bool, err error) {
	if len(translations) > 0 {
		if _, err := o.engine.editor.Commit(ctx, component, translations); err != nil {
			return false, err
		}
	}
	return o.onBranch(ctx, component, workPull, func(b *ingest.Branch) error {
		due, err := o.flusher.Due(ctx, *b, true)
		switch {
		case err != nil:
			return err
		case due && len(translations) > 0:
			return o.flushNow(ctx, b, everyOne) // which shows them, too
		}
		return o.show(ctx, b)
	})
}

// Pull pulls at once.
func (o operations) Pull(ctx context.Context, component int64) (waits bool, err error) {
	return o.onBranch(ctx, component, workPull, func(b *ingest.Branch) error {
		_, err := o.engine.Pull(ctx, b)
		return err
	})
}

// workPull is a pull alone, which shows what is committed and flushes what is due.
const workPull = cluster.Work("")

// onBranch calls do for the branch of a component, and reports that it waited for it; in
// a cluster it wishes for a pull with a work.
func (o operations) onBranch(ctx context.Context, component int64, w cluster.Work, do func(*ingest.Branch) error) (waits bool, err error) {
	b, err := o.branchOf(ctx, component)
	switch {
	case err != nil:
		return false, err
	case o.engine.cluster == nil:
		return true, do(b)
	case w == workPull:
		return false, o.engine.cluster.table.Wish(ctx, []string{b.Key}, "a request")
	}
	return false, o.engine.cluster.table.WishFor(ctx, w, b.Key, "a request")
}
