package ingest

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/checks"
	"github.com/repoglot/repoglot/catalog/store"
)

// The rules of a translation are stored with it (Translation.Checked): letters
// for the checks across units that run on it, the source language, and a hash
// of everything else that its checks depend on. A translation whose stored
// rules differ from its current ones is checked as a whole.

// The letters of rules.
const (
	ruleCompared     = 'c' // its units are compared with units of other translations
	rulePrivate      = 'p' // only with units of private components, so that public checks reveal nothing of them
	ruleInconsistent = 'i'
	ruleReused       = 'r'
	ruleMultiple     = 'm'
	ruleLong         = 'l'
)

// rulesOf returns the current rules of a translation. The strings of a glossary
// are not compared.
func rulesOf(c *component, t *catalog.Translation) string {
	s := &c.row.Settings
	var h catalog.Hasher
	key := h.Meta(fmt.Sprint(checks.Version, t.PluralNumber, t.IsSource), t.PluralFormula, t.Language, s.CheckFlags, s.Name, c.row.Project.Settings.Name)
	letters := ""
	if s.AllowTranslationPropagation && !s.IsGlossary {
		letters += string(ruleCompared)
		if s.Private(&c.row.Project) {
			letters += string(rulePrivate)
		}
	}
	for letter, id := range map[rune]checks.ID{ruleInconsistent: checks.Inconsistent, ruleReused: checks.Reused, ruleMultiple: checks.MultipleFailures, ruleLong: checks.LongUntranslated} {
		if !s.IsGlossary && !checks.Ignores(s.CheckFlags, id) {
			letters += string(letter)
		}
	}
	sorted := []rune(letters)
	slices.Sort(sorted)
	return fmt.Sprintf("%s:%s:%x", string(sorted), c.selection.source.Code, uint64(key))
}

func hasRule(rules string, letter rune) bool {
	letters, _, _ := strings.Cut(rules, ":")
	return strings.ContainsRune(letters, letter)
}

func sourceLanguage(rules string) string {
	_, rest, _ := strings.Cut(rules, ":")
	source, _, _ := strings.Cut(rest, ":")
	return source
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
			k := newCheckup(tx)
			k.later = p.later
			return k.run(ctx, []*component{c})
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
				return strings.TrimSuffix(t.Checked, store.UncomparedSuffix) != rulesOf(c, &t)
			}) {
				outdated = append(outdated, c)
			}
			if slices.ContainsFunc(rows, func(t catalog.Translation) bool { return isUncompared(t.Checked) }) {
				uncompared = append(uncompared, c)
			}
		}
		return nil
	})
	return outdated, uncompared, err
}
