package ingest

import (
	"context"
	"slices"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store"
)

// recheckAll runs the checks of components whose units did not change: those
// of a database of an older version, or whose settings changed, or those of
// a component that they are compared with. thorough also finds those that
// were checked with older rules, which no other pull of a process needs to.
// The report does not count what stays at its head as a step.
func (p *pull) recheckAll(ctx context.Context, comps []*component, thorough bool) {
	here := slices.DeleteFunc(slices.Clone(comps), func(c *component) bool { return p.errs[c.row.ID] != nil || c.row.Head == "" || !c.row.Imported })
	if len(here) == 0 {
		return
	}
	stale, err := p.unchecked(ctx, here, thorough)
	if err != nil {
		p.fail(here[0], err)
		return
	}
	for _, c := range stale {
		c.forget()
		info := p.stepInfo(ctx, []*component{c}, c.row.Head, c.row.Head, replayStep{})
		err := p.transact(ctx, info, func(ctx context.Context, tx *store.StepTx) error {
			return newCheckup(tx).run(ctx, []*component{c})
		})
		if err != nil {
			p.fail(c, err)
		}
	}
}

// unchecked finds the components of which translations are to be checked.
func (p *pull) unchecked(ctx context.Context, comps []*component, thorough bool) (stale []*component, err error) {
	err = p.s.db.Read(ctx, func(ctx context.Context, s *store.Snapshot) error {
		ids, err := s.Unchecked(ctx, ids(comps))
		if err != nil {
			return err
		}
		for _, c := range comps {
			old := slices.Contains(ids, c.row.ID)
			if thorough && !old {
				rows, err := s.Translations(ctx, c.row.ID)
				if err != nil {
					return err
				}
				old = slices.ContainsFunc(rows, func(t catalog.Translation) bool { return t.Checked != rulesOf(c, &t) })
			}
			if old {
				stale = append(stale, c)
			}
		}
		return nil
	})
	return stale, err
}
