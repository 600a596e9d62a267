package checkup

import (
	"context"
	"fmt"
	"slices"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/checks"
	"github.com/repoglot/repoglot/catalog/store/compared"
)

// NewTranslation checks units of a new translation while they are in memory: all, or
// the next ones of a large file. sources are the ids of their source strings.
func (k *Step) NewTranslation(ctx context.Context, n *NewUnits, sources map[catalog.Identity]int64) error {
	c, t := n.Component, n.Translation
	if !k.checkedNew[t.ID] {
		if err := k.comparison.flushLarge(ctx); err != nil {
			return err
		}
	}
	k.checkedNew[t.ID] = true
	return k.allUnits(ctx, c, t, n.units(func(i int) int64 { return sources[n.Units[i].Identity] }), Rules(c, t))
}

// component checks the translations of a component, except the source
// translation, and removes the failures of translations that are gone.
func (k *Step) component(ctx context.Context, c *Component) error {
	rows, err := k.tx.Translations(ctx, c.ID)
	if err != nil {
		return err
	}
	for i := range rows {
		t := &rows[i]
		if err := k.comparison.flushLarge(ctx); err != nil {
			return err
		}
		rules := Rules(c, t)
		k.noteGlossaryChange(c, t, rules)
		switch {
		case t.Removed && (t.Checked != "" || t.Stats.Failing.Units > 0): // a change of settings empties Checked
			err = k.removedTranslation(ctx, c, t)
		case t.Removed || t.IsSource || k.checkedNew[t.ID]:
		case t.Checked == uncomparedRules(rules) && len(k.changed[t.ID]) == 0: // only AddUncompared is missing
		case t.Checked != rules:
			err = k.wholeTranslation(ctx, c, t, rules)
		case len(k.changed[t.ID]) > 0:
			err = k.changedUnits(ctx, c, t)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", t.Language, err)
		}
	}
	return nil
}

// removedTranslation removes the failures of a translation whose file is gone,
// and has the units checked again that its units were compared with.
func (k *Step) removedTranslation(ctx context.Context, c *Component, t *catalog.Translation) error {
	units, err := k.liveUnits(ctx, c, t)
	if err != nil {
		return err
	}
	for _, u := range units {
		if u.Failing != [2]uint64{} {
			k.failures.sources[u.SourceID] = struct{}{}
		}
	}
	k.untranslated.recount(c.ID).whole = true
	scope, err := k.tx.ScopeOf(ctx, t.ID)
	if err != nil {
		return err
	}
	if err := k.comparison.leave(ctx, scope, t.ID, units); err != nil {
		return err
	}
	delete(k.comparison.rules, t.ID)
	return k.tx.ClearFailing(ctx, t.ID)
}

func (k *Step) wholeTranslation(ctx context.Context, c *Component, t *catalog.Translation, rules string) error {
	units, err := k.liveUnits(ctx, c, t)
	if err != nil {
		return err
	}
	if t.Stats.Failing.Units > 0 || hasRule(t.Checked, ruleCompared) { // else it was never checked
		changed, err := k.tx.UnitsByID(ctx, unique(k.changed[t.ID]))
		if err != nil {
			return err
		}
		removed := slices.DeleteFunc(changed, func(u *catalog.Unit) bool { return !u.Removed })
		if err := k.failures.clear(ctx, removed); err != nil {
			return err
		}
	}
	return k.allUnits(ctx, c, t, units, rules)
}

func (k *Step) liveUnits(ctx context.Context, c *Component, t *catalog.Translation) ([]*catalog.Unit, error) {
	texts, ok := k.sourceTexts[c.ID]
	if !ok {
		source, err := k.tx.SourceTranslation(ctx, c.ID)
		if err != nil {
			return nil, err
		}
		if texts, err = k.tx.SourceTexts(ctx, source); err != nil {
			return nil, err
		}
		k.sourceTexts[c.ID] = texts
	}
	return k.tx.TargetsOf(ctx, t.ID, texts)
}

// allUnits checks all units of a translation and stores its rules.
func (k *Step) allUnits(ctx context.Context, c *Component, t *catalog.Translation, units []*catalog.Unit, rules string) error {
	k.untranslated.recount(c.ID).whole = true
	masks, err := k.single(ctx, c, t, units)
	if err != nil {
		return err
	}
	checkedNow := *t
	checkedNow.Checked = rules
	old, err := k.tx.ScopeOf(ctx, t.ID)
	if err != nil {
		return err
	}
	if k.Later && old.ID == 0 && hasRule(rules, ruleCompared) {
		checkedNow.Checked = uncomparedRules(rules)
		if k.Kept != nil && k.checkedNew[t.ID] {
			if kept, err := k.keep(ctx, c, t, rules, units, masks); kept || err != nil {
				return err
			}
		}
	}
	if err := k.enterScope(ctx, c, &checkedNow, old, units); err != nil {
		return err
	}
	return k.compareAndStore(ctx, c, &checkedNow, units, masks)
}

// enterScope stores the rules of a translation, which is checked as a whole, and
// removes its units from the groups of another scope.
func (k *Step) enterScope(ctx context.Context, c *Component, t *catalog.Translation, old compared.Scope, units []*catalog.Unit) error {
	s, err := k.comparison.scopeFor(ctx, c.ProjectID, t, t.Checked)
	if err != nil {
		return err
	}
	var id int64
	if s != nil {
		id = s.ID
	}
	if old.ID != id {
		if err := k.comparison.leave(ctx, old, t.ID, units); err != nil {
			return err
		}
	}
	k.comparison.rules[t.ID] = t.Checked
	return k.tx.SetChecked(ctx, t.ID, t.Checked, id)
}

func (k *Step) changedUnits(ctx context.Context, c *Component, t *catalog.Translation) error {
	var units, removed []*catalog.Unit
	changed, err := k.tx.UnitsByID(ctx, unique(k.changed[t.ID]))
	if err != nil {
		return err
	}
	for _, u := range changed {
		k.untranslated.recount(c.ID).note(u.SourceID)
		if u.Removed {
			removed = append(removed, u)
		} else {
			units = append(units, u)
		}
	}
	if err := k.failures.clear(ctx, removed); err != nil {
		return err
	}
	masks, err := k.single(ctx, c, t, units)
	if err != nil {
		return err
	}
	return k.compareAndStore(ctx, c, t, units, masks)
}

// single runs the checks of single target strings.
func (k *Step) single(ctx context.Context, c *Component, t *catalog.Translation, units []*catalog.Unit) ([]checks.Mask, error) {
	terms, err := k.glossaries.termsFor(ctx, &c.Project, &c.Settings, t.Language, asksForTerms(units))
	if err != nil {
		return nil, err
	}
	return runAll(checks.ForTranslation(c.Table, &c.Project, &c.Settings, t, terms), t, units), nil
}

// compareAndStore stores masks, the results of the checks of single units, and has
// the units compared with others.
func (k *Step) compareAndStore(ctx context.Context, c *Component, t *catalog.Translation, units []*catalog.Unit, masks []checks.Mask) error {
	s, err := k.comparison.scopeFor(ctx, c.ProjectID, t, t.Checked)
	if err != nil {
		return err
	}
	k.comparison.put(s, t.Checked, units, masks)
	return k.failures.setAll(ctx, units, func(i int) checks.Mask { return masks[i] })
}
