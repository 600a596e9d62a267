package ingest

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/checks"
	"github.com/repoglot/repoglot/catalog/ingest/checkup"
	"github.com/repoglot/repoglot/catalog/store"
)

// checked are components as their checks know them.
func checked(comps ...*component) []*checkup.Component {
	list := make([]*checkup.Component, len(comps))
	for i, c := range comps {
		list[i] = c.checked()
	}
	return list
}

// checked is the component as its checks know it.
func (c *component) checked() *checkup.Component {
	return &checkup.Component{
		BranchComponent: &c.row, Source: c.selection.source.Code, Table: c.selection.table,
		Blame: func(err error) error { return &componentError{c, err} },
	}
}

// recheckAll runs the checks of components whose units did not change, but whose
// checks are out of date: after a change of settings, of theirs or of a component
// that they are compared with. With thorough it also finds translations that
// were checked with the rules of an older version, which the first pull of a
// process does, unless another process has newer ones. The report does not count these
// steps.
func (p *pull) recheckAll(ctx context.Context, comps []*component, thorough bool) {
	imported := slices.DeleteFunc(slices.Clone(comps), func(c *component) bool {
		return p.errs[c.row.ID] != nil || c.row.Head == "" || !c.row.Imported
	})
	if len(imported) == 0 {
		return
	}
	if thorough {
		var err error
		if thorough, err = p.s.db.UseChecks(ctx, checks.Version); err != nil {
			p.fail(imported[0], err)
			return
		}
	}
	outdated, uncompared, err := p.outdatedChecks(ctx, imported, thorough)
	if err != nil {
		p.fail(imported[0], err)
		return
	}
	p.compareLater(outdated)
	for _, c := range outdated {
		c.forget()
		info := p.stepInfo(ctx, move{convoy: []*component{c}, from: c.row.Head, to: c.row.Head})
		err := p.transact(ctx, info, func(ctx context.Context, tx *store.StepTx) error {
			k := checkup.New(tx)
			k.Later = p.later
			return k.Run(ctx, checked(c))
		})
		if err != nil {
			p.fail(c, err)
		} else if p.later && !slices.Contains(uncompared, c) {
			uncompared = append(uncompared, c)
		}
	}
	if err := p.compareAll(ctx, uncompared); err != nil {
		p.fail(uncompared[0], err)
	}
}

// outdatedChecks returns the components with translations that have to be
// checked again, and those with translations that are uncompared. thorough compares the
// rules of every translation.
func (p *pull) outdatedChecks(ctx context.Context, comps []*component, thorough bool) (outdated, uncompared []*component, err error) {
	err = p.s.db.Read(ctx, func(ctx context.Context, s *store.Snapshot) error {
		unchecked, err := s.Unchecked(ctx, ids(comps))
		if err != nil {
			return err
		}
		for _, c := range comps {
			if !thorough && !slices.Contains(unchecked, c.row.ID) {
				continue
			}
			rows, err := s.Translations(ctx, c.row.ID)
			if err != nil {
				return err
			}
			if slices.ContainsFunc(rows, func(t catalog.Translation) bool {
				return strings.TrimSuffix(t.Checked, store.UncomparedSuffix) != checkup.Rules(c.checked(), &t)
			}) {
				outdated = append(outdated, c)
			}
			if slices.ContainsFunc(rows, func(t catalog.Translation) bool { return checkup.IsUncompared(t.Checked) }) {
				uncompared = append(uncompared, c)
			}
		}
		return nil
	})
	return outdated, uncompared, err
}

// compareUnits is how many units are compared in one transaction, if one component does
// not have more.
const compareUnits = 3 << 19

// compareLater has the units of several components compared by compareAll.
func (p *pull) compareLater(comps []*component) { p.later = len(comps) > 1 }

// compareAll compares the units of the translations of components that are uncompared.
func (p *pull) compareAll(ctx context.Context, comps []*component) error {
	slices.SortFunc(comps, func(a, b *component) int {
		return cmp.Or(cmp.Compare(a.row.Head, b.row.Head), cmp.Compare(a.row.ID, b.row.ID))
	})
	if len(comps) == 0 {
		p.unchecked = false
		return nil
	}
	units, err := p.countUnits(ctx, comps)
	if err != nil {
		return err
	}
	for len(comps) > 0 {
		n, sum := 0, int64(0)
		for n < len(comps) && comps[n].row.Head == comps[0].row.Head && (n == 0 || sum+units[n] <= p.s.compareUnits) {
			sum += units[n]
			n++
		}
		if err := p.compareTogether(ctx, comps[:n]); err != nil {
			return err
		}
		comps, units = comps[n:], units[n:]
	}
	p.unchecked = false
	return nil
}

// countUnits returns the numbers of strings of components, parallel.
func (p *pull) countUnits(ctx context.Context, comps []*component) ([]int64, error) {
	units := make([]int64, len(comps))
	return units, p.s.db.Read(ctx, func(ctx context.Context, s *store.Snapshot) error {
		for i, c := range comps {
			rows, err := s.Translations(ctx, c.row.ID)
			if err != nil {
				return err
			}
			for j := range rows {
				units[i] += rows[j].Stats.Total.Units
			}
		}
		return nil
	})
}

// compareTogether is compareAll for components at one commit, in one transaction.
func (p *pull) compareTogether(ctx context.Context, comps []*component) error {
	info := p.stepInfo(ctx, move{convoy: comps, from: comps[0].row.Head, to: comps[0].row.Head})
	info.Reread = false
	return p.transact(ctx, info, func(ctx context.Context, tx *store.StepTx) error {
		k := checkup.New(tx)
		if err := k.AddUncompared(ctx, checked(comps...)); err != nil {
			return fmt.Errorf("check strings of one project: %w", err)
		}
		return k.Run(ctx, nil)
	})
}
