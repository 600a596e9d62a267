package checks

import (
	"hash/maphash"
	"sync"
	"sync/atomic"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/lang"
)

// Options are the properties of a translation that its checks depend on.
type Options struct {
	// Language is the code of the translation's language, such as "pt_BR".
	Language string
	// Source is the code of the source language; "" is English.
	Source string
	// ProjectName and ComponentName are the display names. Their words may stay
	// untranslated.
	ProjectName, ComponentName string
	// Plural is the plural rule of the translation.
	Plural lang.Plural
	// SourcePlural is the plural rule of the source language.
	SourcePlural lang.Plural
	// ComponentFlags are the component's check_flags, comma-separated.
	ComponentFlags string
	// Glossary marks a glossary component. It is not checked.
	Glossary bool
	// Terms are the entries of the project's glossaries in the language, for
	// check_glossary.
	Terms []Term
}

// Unit is the part of a unit that the checks read. A [Set] does not keep it.
type Unit struct {
	// IsSource marks a unit of the source translation. Only source checks run on
	// it.
	IsSource bool
	// Sources and Targets are the plural forms, at least one each; targets are
	// padded (catalog.TargetForms).
	Sources, Targets []string
	// Note holds the comments, as catalog.Unit has them.
	Note string
	// Flags are the entry's flags, comma-separated, as catalog.Unit has them.
	Flags string
	// State is the unit's state. Read-only and empty units are not checked.
	State catalog.State
}

// maxFlagSets is how many different flags a set remembers. Others are parsed
// again for each unit.
const maxFlagSets = 512

// Set runs the checks on the units of one translation. Make it with [New]; it is
// safe for concurrent use.
type Set struct {
	base     string              // language code without country
	code     string              // whole language code
	source   string              // source language without country
	names    map[string]struct{} // words of the names of project and component
	flags    string
	glossary bool
	terms    *glossary // nil if there are no terms
	forms    []form    // of the target's plural rule
	sources  int       // number of forms of the source language
	onTarget Mask      // checks of target units
	onSource Mask      // checks of source units
	runs     sync.Pool
	seed     maphash.Seed

	adding sync.Mutex                          // guards held and the replacing of known
	held   int                                 // sum of the sizes of known
	known  atomic.Pointer[map[string]*flagSet] // by the entry's flags; the map is replaced, never changed
}

// New makes the checks of a translation.
func New(o Options) *Set {
	s := &Set{base: lang.BaseCode(o.Language), code: o.Language, flags: o.ComponentFlags, glossary: o.Glossary, sources: max(o.SourcePlural.Number, 1)}
	s.source = sourceBase(o.Source)
	s.seed = maphash.MakeSeed()
	s.names = nameWords(o.ProjectName, o.ComponentName)
	s.onTarget = where(func(_ ID, e *entry) bool { return e.scope == ScopePair || e.scope == ScopeTarget })
	s.onSource = where(func(_ ID, e *entry) bool { return e.scope == ScopeSource })
	s.runs.New = func() any { return &run{seed: s.seed} }
	s.known.Store(&map[string]*flagSet{})
	s.forms = pairForms(o.Plural, o.SourcePlural)
	s.terms = newGlossary(o.Terms)
	return s
}

// active returns the checks that the kind and the state of the unit allow.
func (s *Set) active(u *Unit) Mask {
	switch {
	case s.glossary || len(u.Sources) == 0:
		return Mask{}
	case u.IsSource:
		return s.onSource
	case len(u.Targets) == 0 || u.State == catalog.StateReadOnly || u.State == catalog.StateEmpty:
		return Mask{}
	}
	return s.onTarget
}

// ForTranslation makes the checks of a translation, as pulls run them. terms are
// the entries of the project's glossaries in its language.
func ForTranslation(table *lang.Table, p *catalog.Project, s *catalog.ComponentSettings, t *catalog.Translation, terms []Term) *Set {
	return New(Options{
		Language:       t.Language,
		Source:         s.SourceLanguage,
		ProjectName:    p.Settings.Name,
		ComponentName:  s.Name,
		Plural:         lang.PluralFor(table.Match(t.Language), t.PluralNumber, t.PluralFormula),
		SourcePlural:   table.Match(s.SourceLanguage).Plural,
		ComponentFlags: s.CheckFlags, Glossary: s.IsGlossary, Terms: terms,
	})
}

// UnitOf converts a unit of a translation for the checks.
func UnitOf(u *catalog.Unit, t *catalog.Translation) Unit {
	return Unit{
		IsSource: t.IsSource, Sources: catalog.SplitForms(u.Source), Targets: catalog.TargetForms(u.Source, u.Target, t.PluralNumber),
		Note: u.Note, Flags: u.Flags, State: u.State,
	}
}
