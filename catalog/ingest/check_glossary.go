package ingest

import (
	"context"
	"slices"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/checks"
	"github.com/repoglot/repoglot/catalog/store"
)

// asksForTerms reports whether one of some units has the flag.
func asksForTerms(units []*store.CheckUnit) bool {
	return slices.ContainsFunc(units, func(u *store.CheckUnit) bool { return checks.UsesGlossary(u.Flags) })
}

// terms reads those that units are checked with; nil where neither they nor their
// component ask for them.
func (k *checkup) terms(ctx context.Context, p *catalog.Project, s *catalog.ComponentSettings, language string, asked bool) ([]checks.Term, error) {
	if !asked && !checks.UsesGlossary(s.CheckFlags) {
		return nil, nil
	}
	key := store.GlossaryQuery{Project: p.ID, Source: s.SourceLanguage, Language: language, Private: s.Private(p)}
	if terms, ok := k.glossary[key]; ok {
		return terms, nil
	}
	found, err := k.tx.GlossaryUnits(ctx, key)
	if err != nil {
		return nil, err
	}
	terms := []checks.Term{}
	for i := range found {
		u := &found[i]
		terms = append(terms, checks.TermsOf(u.Source, u.Target, u.Flags, u.State)...)
	}
	k.glossary[key] = terms
	return terms, nil
}

// changedTerms notes that a glossary's translation is another one since the step,
// before the strings of the component are checked.
func (k *checkup) changedTerms(c *component, t *catalog.Translation, rules string) {
	if !c.row.Settings.IsGlossary || t.IsSource {
		return
	}
	if t.Removed && t.Checked != "" || !t.Removed && (k.done[t.ID] || t.Checked != rules || len(k.written[t.ID]) > 0) {
		k.coined[peerKey{c.row.ProjectID, t.Language}] = struct{}{}
	}
}

// followTerms checks again, in the translations of a project, what a glossary
// that changed is used for.
func (k *checkup) followTerms(ctx context.Context, comps []*component) error {
	clear(k.glossary) // a translation that is new was checked with what was there then
	for key := range k.coined {
		users, err := k.tx.GlossaryUsers(ctx, key.project, key.language)
		if err != nil {
			return err
		}
		for i := range users {
			if err := k.follow(ctx, &comps[0].selection, &users[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

// follow checks the use of a glossary in one translation.
func (k *checkup) follow(ctx context.Context, l *selection, user *store.GlossaryUser) error {
	t, c := &user.Translation, &user.Component
	var units []*store.CheckUnit
	each := func(u *store.CheckUnit) error {
		units = append(units, u)
		return nil
	}
	var err error
	if checks.UsesGlossary(c.Settings.CheckFlags) {
		err = k.tx.UnitsOf(ctx, t.ID, each)
	} else {
		err = k.tx.FlaggedUnits(ctx, t.ID, checks.GlossaryFlag, each)
	}
	if err != nil || len(units) == 0 {
		return err
	}
	terms, err := k.terms(ctx, &c.Project, &c.Settings, t.Language, true)
	if err != nil {
		return err
	}
	masks := runAll(checks.ForTranslation(l.table, &c.Project, &c.Settings, t, terms), t, units)
	for i, u := range units {
		mask := checks.Mask(u.Failing).Without(checks.CheckGlossary)
		if masks[i].Has(checks.CheckGlossary) {
			mask = mask.With(checks.CheckGlossary)
		}
		if err := k.put(ctx, u, mask); err != nil {
			return err
		}
	}
	return nil
}
