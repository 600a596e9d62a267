package ingest

import (
	"context"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store"
	"github.com/repoglot/repoglot/gitsource"
	"github.com/repoglot/repoglot/gitsource/object"
)

// bound finds the commit whose state a replay begins with, zero for none, and
// the commit that it replays first.
func (p *pull) bound(ctx context.Context, h catalog.History) (bound object.Hash, first gitsource.FirstParent, err error) {
	n := 0
	for link, err := range p.reader.FirstParents(ctx, p.head) {
		if err != nil {
			return bound, first, err
		}
		if n++; h.Commits > 0 && n > h.Commits || !h.Since.IsZero() && link.When.Before(h.Since) {
			return link.Hash, first, nil
		}
		first = link
	}
	return bound, first, nil
}

// importBound imports the state at the bound of a history, without entries.
func (p *pull) importBound(ctx context.Context, comps []*component, bound object.Hash, first gitsource.FirstParent) error {
	if err := p.listFiles(ctx, bound, comps); err != nil {
		return err
	}
	commit, err := p.reader.Commit(ctx, bound)
	if err != nil {
		return err
	}
	if err := p.applyStep(ctx, move{convoy: comps, partial: true, opened: first.When}, comps, stepOf(commit)); err != nil {
		return err
	}
	return p.refreshCounters(ctx, comps)
}

// refreshCounters reads the last unit and the time of the last entry of
// components.
func (p *pull) refreshCounters(ctx context.Context, comps []*component) error {
	rows, err := p.rows(ctx)
	byID := make(map[int64]*store.BranchComponent, len(rows))
	for i := range rows {
		byID[rows[i].ID] = &rows[i]
	}
	for _, c := range comps {
		if row := byID[c.row.ID]; row != nil { // else the next step is a conflict
			c.row.LastUnit, c.row.LastAt = row.LastUnit, row.LastAt
		}
	}
	return err
}
