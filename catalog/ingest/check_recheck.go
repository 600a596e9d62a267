package ingest

import (
	"context"
	"slices"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store"
)

// recheckAll runs the checks of components whose units did not change, but whose
// checks are out of date: after a change of settings, of theirs or of a component
// that they are compared with. With thorough it also finds translations that
// were checked with the rules of an older version, which the first pull of a
// process does. The report does not count these steps.
func (p *pull) recheckAll(ctx context.Context, comps []*component, thorough bool) {
	imported := slices.DeleteFunc(slices.Clone(comps), func(c *component) bool {
		return p.errs[c.row.ID] != nil || c.row.Head == "" || !c.row.Imported
	})
	if len(imported) == 0 {
		return
	}
	outdated, err := p.outdatedChecks(ctx, imported, thorough)
	if err != nil {
		p.fail(imported[0], err)
		return
	}
	for _, c := range outdated {
		c.forget()
		info := p.stepInfo(ctx, move{convoy: []*component{c}, from: c.row.Head, to: c.row.Head})
		err := p.transact(ctx, info, func(ctx context.Context, tx *store.StepTx) error {
			return newCheckup(tx).run(ctx, []*component{c})
		})
		if err != nil {
			p.fail(c, err)
		}
	}
}

// outdatedChecks returns the components with translations that have to be
// checked again. thorough compares the rules of every translation.
func (p *pull) outdatedChecks(ctx context.Context, comps []*component, thorough bool) (outdated []*component, err error) {
	err = p.s.db.Read(ctx, func(ctx context.Context, s *store.Snapshot) error {
		unchecked, err := s.Unchecked(ctx, ids(comps))
		if err != nil {
			return err
		}
		for _, c := range comps {
			old := slices.Contains(unchecked, c.row.ID)
			if thorough && !old {
				rows, err := s.Translations(ctx, c.row.ID)
				if err != nil {
					return err
				}
				old = slices.ContainsFunc(rows, func(t catalog.Translation) bool { return t.Checked != rulesOf(c, &t) })
			}
			if old {
				outdated = append(outdated, c)
			}
		}
		return nil
	})
	return outdated, err
}
