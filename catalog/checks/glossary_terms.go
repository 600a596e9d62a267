package checks

import (
	"strings"

	"github.com/repoglot/repoglot/catalog"
)

// GlossaryFlag is the flag that turns on check_glossary.
const GlossaryFlag = "check-glossary"

// UsesGlossary reports whether flags, of an entry or a component, may turn on
// check_glossary. If they do not, no terms are needed.
func UsesGlossary(flags string) bool { return strings.Contains(flags, GlossaryFlag) }

// TermsOf returns the terms of a string of a glossary: its source with its
// translation or, if it is read-only, with the source itself, which must not be
// translated. The flag forbidden marks words that must not be used. Each form of a
// plural is a term. Strings that are not translated or need editing have no terms.
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
	// Source is the term and Target its translation. Terms with the same source
	// are alternatives.
	Source, Target string
	// Forbidden marks a translation that must not be used.
	Forbidden bool
}
