package checkup

import (
	"context"
	"maps"
	"slices"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/checks"
	"github.com/repoglot/repoglot/catalog/lang"
	"github.com/repoglot/repoglot/catalog/store"
)

// sourceStrings runs these checks on the source strings that the step changed, or on all if
// the rules changed.
func (k *Step) sourceStrings(ctx context.Context, c *Component) error {
	rows, err := k.tx.Translations(ctx, c.ID)
	if err != nil {
		return err
	}
	t := liveSource(rows)
	if t == nil || k.checkedNew[t.ID] {
		return nil
	}
	if rules := Rules(c, t); t.Checked != rules {
		units, err := k.allSourceUnits(ctx, t)
		if err == nil {
			err = k.tx.SetChecked(ctx, t.ID, rules, 0)
		}
		if err != nil {
			return err
		}
		return k.checkSource(ctx, c, t, units)
	}
	for ids := range slices.Chunk(unique(k.changed[t.ID]), checkedAtATime) {
		units, err := k.tx.UnitsByID(ctx, ids)
		if err != nil {
			return err
		}
		if err := k.checkSource(ctx, c, t, units); err != nil {
			return err
		}
	}
	return nil
}

// checkedAtATime is how many source strings that a step changed are in memory at a time.
const checkedAtATime = 8 << 10

// checkSource runs the checks that look at one source string alone.
func (k *Step) checkSource(ctx context.Context, c *Component, t *catalog.Translation, units []*catalog.Unit) error {
	masks := runAll(checks.ForTranslation(c.Table, &c.Project, &c.Settings, t, nil), t, units)
	return k.failures.setAll(ctx, units, func(i int) checks.Mask {
		u := units[i]
		k.untranslated.recount(c.ID).note(u.ID)
		k.failures.sources[u.ID] = struct{}{}
		if u.Removed {
			return checks.Mask{}
		}
		return masks[i].Or(checks.Mask(u.Failing).And(laterChecks(u.Flags)))
	})
}

// NewSource checks a source translation that the step made, while its units are in
// memory. Translations add the strings that multiple_failures is to be decided for.
func (k *Step) NewSource(ctx context.Context, n *NewUnits) error {
	c, t := n.Component, n.Translation
	k.untranslated.recount(c.ID).whole = true
	units := n.units(func(i int) int64 { return n.IDs[i] })
	masks := runAll(checks.ForTranslation(c.Table, &c.Project, &c.Settings, t, nil), t, units)
	if err := k.failures.setAll(ctx, units, func(i int) checks.Mask { return masks[i] }); err != nil {
		return err
	}
	k.checkedNew[t.ID] = true
	return k.tx.SetChecked(ctx, t.ID, Rules(c, t), 0)
}

// units are the units as they are stored. source returns the id of the source string of the
// i-th.
func (n *NewUnits) units(source func(i int) int64) []*catalog.Unit {
	all := make([]catalog.Unit, len(n.Units))
	units := make([]*catalog.Unit, len(n.Units))
	for i := range n.Units {
		all[i] = n.Units[i].Unit
		all[i].ID, all[i].TranslationID, all[i].SourceID = n.IDs[i], n.Translation.ID, source(i)
		units[i] = &all[i]
	}
	return units
}

// liveSource returns the source translation of a component's translations; nil if its
// file is gone.
func liveSource(rows []catalog.Translation) *catalog.Translation {
	return catalog.Find(rows, func(t *catalog.Translation) bool { return t.IsSource && !t.Removed })
}

// allSourceUnits reads all units of a source translation, and those that the step removed.
func (k *Step) allSourceUnits(ctx context.Context, t *catalog.Translation) ([]*catalog.Unit, error) {
	changed, err := k.tx.UnitsByID(ctx, unique(k.changed[t.ID]))
	if err != nil {
		return nil, err
	}
	units, err := k.tx.UnitsOf(ctx, t.ID)
	if err != nil {
		return nil, err
	}
	return append(units, slices.DeleteFunc(changed, func(u *catalog.Unit) bool { return !u.Removed })...), nil
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
	units, err := k.tx.UnitsByID(ctx, ids)
	if err != nil {
		return err
	}
	return k.failures.setAll(ctx, units, func(i int) checks.Mask {
		u := units[i]
		return checks.Mask(u.Failing).Set(checks.MultipleFailures, !u.Removed && hasRule(rules[u.TranslationID], ruleMultiple) &&
			!checks.Ignores(u.Flags, checks.MultipleFailures) && checks.HasMultipleFailures(failing[u.ID].Translations))
	})
}

// glossaries reads the terms that units are checked with, and remembers which
// glossaries the step changed.
type glossaries struct {
	tx      *store.StepTx
	terms   map[store.GlossaryQuery][]checks.Term // loaded so far
	changed map[languageKey]struct{}              // languages in which a glossary changed
}

// asksForTerms reports whether a unit has the flag that asks for a glossary.
func asksForTerms(units []*catalog.Unit) bool {
	return slices.ContainsFunc(units, func(u *catalog.Unit) bool { return checks.UsesGlossary(u.Flags) })
}

// termsFor reads the terms that units of a component are checked with; nil
// unless a unit (asked) or the component asks for a glossary.
func (g *glossaries) termsFor(ctx context.Context, p *catalog.Project, s *catalog.ComponentSettings, language string, asked bool) ([]checks.Term, error) {
	if !asked && !checks.UsesGlossary(s.CheckFlags) {
		return nil, nil
	}
	key := store.GlossaryQuery{Project: p.ID, Source: s.SourceLanguage, Language: language, Private: s.Private(p)}
	if terms, ok := g.terms[key]; ok {
		return terms, nil
	}
	found, err := g.tx.GlossaryUnits(ctx, key)
	if err != nil {
		return nil, err
	}
	terms := []checks.Term{}
	for i := range found {
		u := &found[i]
		terms = append(terms, checks.TermsOf(u.Source, u.Target, u.Flags, u.State)...)
	}
	g.terms[key] = terms
	return terms, nil
}

// noteGlossaryChange remembers that the step changed a translation of a
// glossary. It is called before the units of the component are checked.
func (k *Step) noteGlossaryChange(c *Component, t *catalog.Translation, rules string) {
	if !c.Settings.IsGlossary || t.IsSource {
		return
	}
	if t.Removed && t.Checked != "" || !t.Removed && (k.checkedNew[t.ID] || t.Checked != rules || len(k.changed[t.ID]) > 0) {
		k.glossaries.changed[languageKey{c.ProjectID, t.Language}] = struct{}{}
	}
}

// checkGlossaryUsers checks the units again that use a glossary that changed, in
// all components of the project.
func (k *Step) checkGlossaryUsers(ctx context.Context, comps []*Component) error {
	clear(k.glossaries.terms) // new translations were checked with the terms of before
	for key := range k.glossaries.changed {
		users, err := k.tx.GlossaryUsers(ctx, key.project, key.language)
		if err != nil {
			return err
		}
		for i := range users {
			if err := k.checkGlossaryUser(ctx, comps[0].Table, &users[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkGlossaryUser runs the check check_glossary on one translation.
func (k *Step) checkGlossaryUser(ctx context.Context, table *lang.Table, user *store.GlossaryUser) error {
	t, c := &user.Translation, &user.Component
	flag := checks.GlossaryFlag
	if checks.UsesGlossary(c.Settings.CheckFlags) {
		flag = "" // all units
	}
	units, err := k.tx.FlaggedUnits(ctx, t.ID, flag)
	if err != nil || len(units) == 0 {
		return err
	}
	terms, err := k.glossaries.termsFor(ctx, &c.Project, &c.Settings, t.Language, true)
	if err != nil {
		return err
	}
	masks := runAll(checks.ForTranslation(table, &c.Project, &c.Settings, t, terms), t, units)
	return k.failures.setAll(ctx, units, func(i int) checks.Mask {
		return checks.Mask(units[i].Failing).Set(checks.CheckGlossary, masks[i].Has(checks.CheckGlossary))
	})
}
