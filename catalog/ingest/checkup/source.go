package checkup

import (
	"context"
	"maps"
	"slices"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/checks"
	"github.com/repoglot/repoglot/catalog/store"
)

// sourceStrings runs the checks that look at one source string alone.
func (k *Step) sourceStrings(ctx context.Context, c *Component) error {
	rows, err := k.tx.Translations(ctx, c.ID)
	if err != nil {
		return err
	}
	t := liveSource(rows)
	if t == nil || k.checkedNew[t.ID] {
		return nil
	}
	units, err := k.sourceUnits(ctx, c, t)
	if err != nil {
		return err
	}
	masks := runAll(checks.ForTranslation(c.Table, &c.Project, &c.Settings, t, nil), t, units)
	for i, u := range units {
		k.untranslated.recount(c.ID).note(u.ID)
		mask := masks[i].Or(checks.Mask(u.Failing).And(laterChecks(u.Flags)))
		if u.Removed {
			mask = checks.Mask{}
		}
		if err := k.failures.set(ctx, u, mask); err != nil {
			return err
		}
		k.failures.sources[u.ID] = struct{}{}
	}
	return k.failures.store(ctx)
}

// NewSource stores the checks of a source translation that the step made, which ran
// while its units were in memory. Translations add the strings that
// multiple_failures is to be decided for.
func (k *Step) NewSource(ctx context.Context, n *NewUnits, pending *Pending) error {
	k.untranslated.recount(n.Component.ID).whole = true
	for i, mask := range pending.Wait() {
		if mask == (checks.Mask{}) {
			continue
		}
		u := store.CheckUnit{Unit: n.Units[i].Unit}
		u.ID, u.TranslationID, u.SourceID = n.IDs[i], n.Translation.ID, n.IDs[i]
		if err := k.failures.set(ctx, &u, mask); err != nil {
			return err
		}
	}
	if err := k.failures.store(ctx); err != nil {
		return err
	}
	k.checkedNew[n.Translation.ID] = true
	return k.tx.SetChecked(ctx, n.Translation.ID, Rules(n.Component, n.Translation), 0)
}

// liveSource returns the source translation of a component's translations; nil if its
// file is gone.
func liveSource(rows []catalog.Translation) *catalog.Translation {
	i := slices.IndexFunc(rows, func(t catalog.Translation) bool { return t.IsSource && !t.Removed })
	if i < 0 {
		return nil
	}
	return &rows[i]
}

// sourceUnits reads the units of a source translation that have to be checked: the
// units that the step changed, or all units if the rules changed.
func (k *Step) sourceUnits(ctx context.Context, c *Component, t *catalog.Translation) ([]*store.CheckUnit, error) {
	changed, err := k.unitsByID(ctx, unique(k.changed[t.ID]))
	rules := Rules(c, t)
	if err != nil || t.Checked == rules {
		return changed, err
	}
	units, err := collectUnits(func(each func(*store.CheckUnit) error) error { return k.tx.UnitsOf(ctx, t.ID, each) })
	if err != nil {
		return nil, err
	}
	for _, u := range changed {
		if u.Removed {
			units = append(units, u)
		}
	}
	return units, k.tx.SetChecked(ctx, t.ID, rules, 0)
}

// laterChecks are the checks of source strings that run after sourceStrings.
func laterChecks(flags string) checks.Mask {
	m := checks.Mask{}.With(checks.MultipleFailures)
	if checks.Ignores(flags, checks.LongUntranslated) {
		return m
	}
	return m.With(checks.LongUntranslated)
}

// multipleFailures runs the check multiple_failures on the source strings whose
// translations were checked.
func (k *Step) multipleFailures(ctx context.Context) error {
	ids := slices.Sorted(maps.Keys(k.failures.sources))
	failing, err := k.tx.FailingOf(ctx, ids)
	if err != nil {
		return err
	}
	ids = slices.DeleteFunc(ids, func(id int64) bool { // it neither fails now nor did
		f := failing[id]
		return !checks.HasMultipleFailures(f.Translations) && !checks.Mask(f.Own).Has(checks.MultipleFailures)
	})
	rules, err := k.tx.CheckedOf(ctx, ids)
	if err != nil {
		return err
	}
	units, err := k.unitsByID(ctx, ids)
	if err != nil {
		return err
	}
	for _, u := range units {
		mask := checks.Mask(u.Failing).Without(checks.MultipleFailures)
		if !u.Removed && hasRule(rules[u.TranslationID], ruleMultiple) && !checks.Ignores(u.Flags, checks.MultipleFailures) &&
			checks.HasMultipleFailures(failing[u.ID].Translations) {
			mask = mask.With(checks.MultipleFailures)
		}
		if err := k.failures.set(ctx, u, mask); err != nil {
			return err
		}
	}
	return k.failures.store(ctx)
}
