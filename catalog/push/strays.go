package push

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/flush"
	"github.com/repoglot/repoglot/catalog/ingest"
	"github.com/repoglot/repoglot/catalog/store"
)

// strays returns the branches of our own that have edits of components which go elsewhere
// now, or to a branch without a request: another push_mode, push_branch or push was set since.
func (p *Pusher) strays(ctx context.Context, rows []store.BranchComponent) (list []store.PushBranch, err error) {
	ids := make([]int64, len(rows))
	for i := range rows {
		ids[i] = rows[i].ID
	}
	err = p.DB.Read(ctx, func(ctx context.Context, snap *store.Snapshot) (err error) {
		list, err = snap.Strays(ctx, ids)
		return err
	})
	return slices.DeleteFunc(list, func(b store.PushBranch) bool {
		return slices.ContainsFunc(rows, func(row store.BranchComponent) bool {
			if row.Settings.Edits.Mode == catalog.PushRequest {
				return placeOf(&row).Has(b.Place())
			}
			return placeOf(&row) == b.Place() && b.Request == 0
		})
	}), err
}

// withdrawStrays withdraws them, with their requests: merged later, they would bring back
// texts of long ago. What one of them fails with does not stop the push.
func (p *Pusher) withdrawStrays(ctx context.Context, held *ingest.Held, b ingest.Branch, rows []store.BranchComponent, to func(*store.BranchComponent) Destination) error {
	strays, err := p.strays(ctx, rows)
	if err != nil {
		return err
	}
	var errs []error
	for _, stray := range strays {
		g := &group{mode: catalog.PushRequest, branch: stray.Branch, keyed: true, rows: rows}
		r := &run{Pusher: p, held: held, branch: b, group: g}
		for i := range rows {
			if d := to(&rows[i]); placeOf(&rows[i]).Repo == stray.Repo && (g.to.Forge == nil || d.Forge != nil) {
				g.to = d
			}
		}
		target := flush.Target{Repository: g.to.Repository, Branch: stray.Branch, Derived: true}
		err := ErrForeign
		if r.repository().String() == stray.Repo {
			err = r.settle(ctx, &target)
		}
		switch {
		case errors.Is(err, ErrForeign):
			p.Logger.Warn("nothing is pushed to this branch any more: remove it", "branch", b.Key, "repository", stray.Repo, "pushed", stray.Branch, "request", stray.URL)
			err = r.forget(ctx, stray)
		case err == nil:
			err = r.withdraw(ctx, &target)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("withdraw the branch %s: %w", stray.Branch, err))
		}
	}
	return errors.Join(errs...)
}

// forget forgets a branch that cannot be withdrawn.
func (r *run) forget(ctx context.Context, b store.PushBranch) error {
	return r.DB.ClaimPushBranch(ctx, b, store.PushBranch{Repo: b.Repo, Branch: b.Branch}, nil)
}
