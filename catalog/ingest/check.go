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
	return catalog.Each(comps, func(c **component) *checkup.Component { return (*c).checked() })
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
		if thorough, err = p.s.DB.UseChecks(ctx, checks.Version); err != nil {
			p.fail(err, imported[0])
			return
		}
	}
	units := map[int64]int64{}
	outdated, uncompared, err := p.outdatedChecks(ctx, imported, thorough, units)
	if err != nil {
		p.fail(err, imported[0])
		return
	}
	p.later = len(outdated) > 1
	for _, c := range outdated {
		c.forget()
		if err := p.recheck(ctx, c); err != nil {
			p.fail(err, c)
		} else if p.later && !slices.Contains(uncompared, c) {
			uncompared = append(uncompared, c)
		}
	}
	if err := p.compareAll(ctx, uncompared, units); err != nil {
		p.fail(err, uncompared[0])
	}
}

// recheck runs the checks of a component at its head. It stores what a replay to there left
// for its end.
func (p *pull) recheck(ctx context.Context, c *component) error {
	info := p.stepInfo(ctx, move{convoy: []*component{c}, from: c.row.Head, to: c.row.Head})
	return p.transact(ctx, info, func(ctx context.Context, tx *store.StepTx) error {
		if err := p.storeReplayedFiles(ctx, tx, c); err != nil {
			return err
		}
		k := checkup.New(tx)
		k.Later = p.later
		return k.Run(ctx, checked(c))
	})
}

// outdatedChecks returns the components with translations that have to be
// checked again, and those with translations that are uncompared, and adds their numbers of
// strings to units. thorough compares the rules of every translation.
func (p *pull) outdatedChecks(ctx context.Context, comps []*component, thorough bool, units map[int64]int64) (outdated, uncompared []*component, err error) {
	err = p.s.DB.Read(ctx, func(ctx context.Context, s *store.Snapshot) error {
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
			for i := range rows {
				units[c.row.ID] += rows[i].Stats.Total.Units
			}
			kept := func(t catalog.Translation) bool { return p.kept.Has(&t, checkup.Rules(c.checked(), &t)) }
			if slices.ContainsFunc(rows, func(t catalog.Translation) bool {
				return strings.TrimSuffix(t.Checked, store.UncomparedSuffix) != checkup.Rules(c.checked(), &t) && !kept(t)
			}) {
				outdated = append(outdated, c)
			}
			if slices.ContainsFunc(rows, func(t catalog.Translation) bool { return checkup.IsUncompared(t.Checked) || kept(t) }) {
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

// checksOf makes the checks of a step, which leave to compareAll what p.later says.
// They keep in memory for it what there is room for; keep has it once the step is stored.
func (p *pull) checksOf(tx *store.StepTx) *checkup.Step {
	k := checkup.New(tx)
	k.Later, k.Kept = p.later, checkup.Kept{}
	units := p.keptUnits
	k.Room = func(n int) bool {
		bytes := int64(n) * checkup.KeptBytes
		if units += int64(n); units > min(p.s.compareUnits, p.meter.small/4/checkup.KeptBytes) || p.meter.room(bytes) != nil {
			return false
		}
		p.meter.held += bytes
		return true
	}
	return k
}

// keep keeps what the checks of a step left to compareAll.
func (p *pull) keep(k *checkup.Step) {
	if k == nil {
		return
	}
	units := p.kept.Add(k.Kept)
	p.keptUnits += units
	p.meter.kept += units * checkup.KeptBytes
}

// compareAll compares the units of the translations of components that are uncompared. units
// are their numbers of strings.
func (p *pull) compareAll(ctx context.Context, comps []*component, units map[int64]int64) error {
	slices.SortFunc(comps, func(a, b *component) int {
		return cmp.Or(cmp.Compare(a.row.Head, b.row.Head), cmp.Compare(a.row.ID, b.row.ID))
	})
	for len(comps) > 0 {
		n, sum := 0, int64(0)
		for n < len(comps) && comps[n].row.Head == comps[0].row.Head && (n == 0 || sum+units[comps[n].row.ID] <= p.s.compareUnits) {
			sum += units[comps[n].row.ID]
			n++
		}
		if err := p.compareTogether(ctx, comps[:n]); err != nil {
			return err
		}
		for _, c := range comps[:n] {
			delete(p.kept, c.row.ID)
		}
		comps = comps[n:]
	}
	p.unchecked = false
	return nil
}

// compareTogether is compareAll for components at one commit, in one transaction.
func (p *pull) compareTogether(ctx context.Context, comps []*component) error {
	info := p.stepInfo(ctx, move{convoy: comps, from: comps[0].row.Head, to: comps[0].row.Head})
	info.Reread = false
	return p.transact(ctx, info, func(ctx context.Context, tx *store.StepTx) error {
		k := checkup.New(tx)
		if err := k.AddUncompared(ctx, checked(comps...), p.kept, p.s.compareTogether); err != nil {
			return fmt.Errorf("check strings of one project: %w", err)
		}
		return k.Run(ctx, nil)
	})
}
