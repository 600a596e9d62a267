package ingest

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/checks"
	"github.com/repoglot/repoglot/catalog/store"
)

// uncompared collects translations of several components that were checked, each
// component in a transaction of its own, until their units are compared with each
// other in one transaction: the rows of groups are then stored in their order and
// once, instead of a few in each page of the table for every component. Until then
// the store has the translations as not checked, so that after a crash, or where
// the transaction fails, they are checked again.
type uncompared struct {
	translations []uncomparedTranslation
	members      int
}

type uncomparedTranslation struct {
	comp     *component
	row      catalog.Translation
	rules    string
	members  []memberChange
	unstored []unstoredUnit
}

// unstoredUnit is a unit without stored failures: which of its checks fail is stored
// once it was compared. So its row is written once, and multiple_failures is decided
// once for its source string.
type unstoredUnit struct {
	id, translation, source int64
	words, chars            int
	mask                    checks.Mask
}

// add collects the units of a translation, as comparison.put does. In masks it
// leaves what is to be stored before the units are compared: no change, for units
// without stored failures.
func (l *uncompared) add(c *component, t *catalog.Translation, h *catalog.Hasher, units []*store.CheckUnit, masks []checks.Mask) {
	one := uncomparedTranslation{comp: c, row: *t, rules: t.Checked, members: make([]memberChange, 0, 2*len(units)), unstored: make([]unstoredUnit, 0, len(units))}
	s := store.Scope{PluralNumber: t.PluralNumber}
	for i, u := range units {
		for _, by := range []func(*catalog.Hasher, *catalog.Unit) (store.ComparedUnit, bool){s.BySource, s.ByTarget} {
			if member, ok := by(h, &u.Unit); ok {
				m := newMember(member, t.Checked, u)
				if m.fails {
					masks[i] = masks[i].With(checkOf(&member))
				}
				one.members = append(one.members, m)
			}
		}
		if checks.Mask(u.Failing) == (checks.Mask{}) {
			one.unstored = append(one.unstored, unstoredUnit{u.ID, u.TranslationID, u.SourceID, u.Words, u.Chars, masks[i]})
			masks[i] = checks.Mask{}
		}
	}
	l.translations = append(l.translations, one)
	l.members += len(one.members)
}

// undo forgets the translations after the first n, whose transaction failed.
func (l *uncompared) undo(n int) {
	if l == nil {
		return
	}
	for _, t := range l.translations[n:] {
		l.members -= len(t.members)
	}
	l.translations = l.translations[:n]
}

func (l *uncompared) len() int {
	if l == nil {
		return 0
	}
	return len(l.translations)
}

// addAll compares the units of collected translations from now on.
func (n *comparison) addAll(ctx context.Context, l *uncompared) error {
	coming := make(map[int64]bool, len(l.translations))
	for i := range l.translations {
		coming[l.translations[i].row.ID] = true
	}
	scopes := make([]*scope, len(l.translations))
	for i := range l.translations {
		t := &l.translations[i]
		s, err := n.findScope(ctx, t.comp.row.ProjectID, &t.row, t.rules)
		if err != nil {
			return err
		}
		if err := n.joinScope(ctx, s, t.row.ID, coming[s.Sole]); err != nil {
			return err
		}
		if err := n.tx.SetFirstChecked(ctx, t.row.ID, t.rules, s.ID); err != nil {
			return err
		}
		n.rules[t.row.ID] = t.rules
		scopes[i] = s
	}
	for i := range l.translations {
		t, s := &l.translations[i], scopes[i]
		for j := range t.members {
			switch m := &t.members[j]; {
			case s.Sole == 0 || m.SameTarget():
				n.change(s, m)
			case m.fails: // the only translation of its scope
				n.passed = append(n.passed, verdict{unit: m.Unit, check: checks.Inconsistent})
			}
		}
		n.unstored = append(n.unstored, t.unstored...)
		t.members, t.unstored = nil, nil
	}
	slices.SortFunc(n.unstored, func(a, b unstoredUnit) int { return cmp.Compare(a.id, b.id) })
	return nil
}

// storeUnstored stores which checks of collected units fail, with those of the
// verdicts that are about them, and returns the others. Verdicts are sorted by unit.
func (n *comparison) storeUnstored(ctx context.Context, verdicts []verdict) (others []verdict, err error) {
	others = verdicts[:0]
	for i := range n.unstored {
		u := &n.unstored[i]
		for len(verdicts) > 0 && verdicts[0].unit < u.id {
			others, verdicts = append(others, verdicts[0]), verdicts[1:]
		}
		for ; len(verdicts) > 0 && verdicts[0].unit == u.id; verdicts = verdicts[1:] {
			u.mask = verdicts[0].apply(u.mask)
		}
		if u.mask == (checks.Mask{}) {
			continue
		}
		var unit store.CheckUnit
		unit.ID, unit.TranslationID, unit.SourceID, unit.Words, unit.Chars = u.id, u.translation, u.source, u.words, u.chars
		if err := n.failures.setTarget(ctx, &unit, u.mask); err != nil {
			return nil, err
		}
	}
	n.unstored = nil
	return append(others, verdicts...), nil
}

// compareLater has the units of several components compared in a transaction of
// their own, when compareCollected is called.
func (p *pull) compareLater(comps []*component) {
	apart := slices.ContainsFunc(comps, func(c *component) bool { return c.row.Head != comps[0].row.Head })
	if len(comps) > 1 && !apart {
		p.uncompared = &uncompared{}
	}
}

// compareCollected compares the units of the collected translations, if there are
// many or no more come. Where that fails, recheckAll checks them again.
func (p *pull) compareCollected(ctx context.Context, last bool) {
	if err := p.compareAll(ctx, last); err != nil {
		p.s.log.Debug("strings were not compared", "branch", p.branch.Key, "error", err)
	}
}

func (p *pull) compareAll(ctx context.Context, last bool) error {
	l := p.uncompared
	if l == nil || !last && l.members < maxPending {
		return nil
	}
	if p.uncompared = nil; !last {
		p.uncompared = &uncompared{}
	}
	if len(l.translations) == 0 {
		return nil
	}
	comps := make([]*component, len(l.translations))
	for i := range l.translations {
		comps[i] = l.translations[i].comp
	}
	slices.SortFunc(comps, func(a, b *component) int { return cmp.Compare(a.row.ID, b.row.ID) })
	comps = slices.Compact(comps)
	info := p.stepInfo(ctx, move{convoy: comps, from: comps[0].row.Head, to: comps[0].row.Head})
	info.Reread = false
	return p.transact(ctx, info, func(ctx context.Context, tx *store.StepTx) error {
		k := newCheckup(tx)
		if err := k.comparison.addAll(ctx, l); err != nil {
			return fmt.Errorf("check strings of one project: %w", err)
		}
		return k.run(ctx, nil)
	})
}
