package checks

import (
	"strings"

	"github.com/repoglot/repoglot/catalog"
)

// GlossaryFlag turns check_glossary on.
const GlossaryFlag = "check-glossary"

// UsesGlossary reports whether flags, those of an entry or a component's
// check_flags, may turn check_glossary on. Where they do not, nobody needs terms.
func UsesGlossary(flags string) bool { return strings.Contains(flags, GlossaryFlag) }

// TermsOf are the terms that a string of a glossary stands for: its translation,
// or, where it is read-only, the source itself, which is not to be translated. The
// flag forbidden marks words that must not be used. Of a plural any form counts.
// What is not translated, or needs editing, is no term.
func TermsOf(source, target, flags string, state catalog.State) []Term {
	if !state.Translated() {
		return nil
	}
	forbidden := false
	for flag := range splitFlags(flags) {
		switch flag {
		case "forbidden":
			forbidden = true
		case "read-only":
			state = catalog.StateReadOnly
		}
	}
	var terms []Term
	for _, s := range catalog.SplitForms(source) {
		if state == catalog.StateReadOnly {
			terms = append(terms, Term{Source: s, Target: s, Forbidden: forbidden})
			continue
		}
		for _, t := range catalog.SplitForms(target) {
			terms = append(terms, Term{Source: s, Target: t, Forbidden: forbidden})
		}
	}
	return terms
}

// Term is an entry of a glossary in the language of a [Set].
type Term struct {
	// Source is the term, Target its translation. Terms with the same source
	// are translations to choose from.
	Source, Target string
	// Forbidden marks a translation that must not be used.
	Forbidden bool
}
