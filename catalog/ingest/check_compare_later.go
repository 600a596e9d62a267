package ingest

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store"
)

// The units of several components that are checked one after the other are compared in
// the end, scope by scope: so the rows of a scope's groups are stored once, in their
// order, instead of looked up for each component. Until then the rules of their
// translations are stored as uncompared, so that after a crash the next pull compares them.

// uncomparedRules are the rules of a translation that was checked with some rules, but not
// compared yet (store.UncomparedSuffix).
func uncomparedRules(rules string) string { return rules + store.UncomparedSuffix }

func isUncompared(rules string) bool { return strings.HasSuffix(rules, store.UncomparedSuffix) }

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
		k := newCheckup(tx)
		if err := k.comparison.addUncompared(ctx, comps); err != nil {
			return fmt.Errorf("check strings of one project: %w", err)
		}
		return k.run(ctx, nil)
	})
}

// scopedTranslation is a translation with the scope that its units are compared in.
type scopedTranslation struct {
	row   catalog.Translation
	rules string
	scope *scope
}

// addUncompared adds the units of the uncompared translations of components.
func (n *comparison) addUncompared(ctx context.Context, comps []*component) error {
	var list []scopedTranslation
	for _, c := range comps {
		rows, err := n.tx.Translations(ctx, c.row.ID)
		if err != nil {
			return err
		}
		for i := range rows {
			rules := rulesOf(c, &rows[i])
			if rows[i].Removed || rows[i].Checked != uncomparedRules(rules) {
				continue
			}
			s, err := n.findScope(ctx, c.row.ProjectID, &rows[i], rules)
			if err != nil {
				return err
			}
			list = append(list, scopedTranslation{rows[i], rules, s})
		}
	}
	slices.SortStableFunc(list, func(a, b scopedTranslation) int { return cmp.Compare(a.scope.ID, b.scope.ID) })
	for i := range list {
		if err := n.addTranslation(ctx, &list[i]); err != nil {
			return err
		}
		if err := n.flushLarge(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (n *comparison) addTranslation(ctx context.Context, t *scopedTranslation) error {
	if err := n.joinScope(ctx, t.scope, t.row.ID); err != nil {
		return err
	}
	n.rules[t.row.ID] = t.rules
	if err := n.tx.SetChecked(ctx, t.row.ID, t.rules, t.scope.ID); err != nil {
		return err
	}
	return n.tx.ComparedOf(ctx, t.row.ID, func(u *store.CheckUnit) { n.putUnit(t.scope, t.rules, u) })
}
