package checkup

import (
	"fmt"
	"slices"
	"strings"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/checks"
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

// Rules returns the current rules of a translation. The strings of a glossary
// are not compared.
func Rules(c *Component, t *catalog.Translation) string {
	s := &c.Settings
	var h catalog.Hasher
	key := h.Meta(fmt.Sprint(checks.Version, t.PluralNumber, t.IsSource), t.PluralFormula, t.Language, s.CheckFlags, s.Name, c.Project.Settings.Name)
	letters := ""
	if s.AllowTranslationPropagation && !s.IsGlossary {
		letters += string(ruleCompared)
		if s.Private(&c.Project) {
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
	return fmt.Sprintf("%s:%s:%x", string(sorted), c.Source, uint64(key))
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
