package checkup

import (
	"context"
	"slices"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/checks"
	"github.com/repoglot/repoglot/catalog/lang"
	"github.com/repoglot/repoglot/catalog/store"
)

// glossaries reads the terms that units are checked with, and remembers which
// glossaries the step changed.
type glossaries struct {
	tx      *store.StepTx
	terms   map[store.GlossaryQuery][]checks.Term // loaded so far
	changed map[languageKey]struct{}              // languages in which a glossary changed
}

// asksForTerms reports whether a unit has the flag that asks for a glossary.
func asksForTerms(units []*store.CheckUnit) bool {
	return slices.ContainsFunc(units, func(u *store.CheckUnit) bool { return checks.UsesGlossary(u.Flags) })
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
	units, err := collectUnits(func(each func(*store.CheckUnit) error) error {
		if checks.UsesGlossary(c.Settings.CheckFlags) {
			return k.tx.UnitsOf(ctx, t.ID, each)
		}
		return k.tx.FlaggedUnits(ctx, t.ID, checks.GlossaryFlag, each)
	})
	if err != nil || len(units) == 0 {
		return err
	}
	terms, err := k.glossaries.termsFor(ctx, &c.Project, &c.Settings, t.Language, true)
	if err != nil {
		return err
	}
	masks := runAll(checks.ForTranslation(table, &c.Project, &c.Settings, t, terms), t, units)
	for i, u := range units {
		mask := checks.Mask(u.Failing).Without(checks.CheckGlossary)
		if masks[i].Has(checks.CheckGlossary) {
			mask = mask.With(checks.CheckGlossary)
		}
		if err := k.failures.setTarget(ctx, u, mask); err != nil {
			return err
		}
	}
	return k.failures.store(ctx)
}
