package checks

import (
	"cmp"
	"hash/maphash"
	"sync"
	"unicode/utf8"

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

	knowing sync.Mutex          // guards held and known
	held    int                 // sum of the sizes of known
	known   map[string]*flagSet // by the entry's flags
}

// New makes the checks of a translation.
func New(o Options) *Set {
	s := &Set{base: lang.BaseCode(o.Language), code: o.Language, flags: o.ComponentFlags, glossary: o.Glossary, sources: max(o.SourcePlural.Number, 1)}
	s.source = lang.BaseCode(cmp.Or(o.Source, "en"))
	s.seed = maphash.MakeSeed()
	s.names = nameWords(o.ProjectName, o.ComponentName)
	s.onTarget = where(func(e *entry) bool { return e.Scope == ScopePair || e.Scope == ScopeTarget })
	s.onSource = where(func(e *entry) bool { return e.Scope == ScopeSource })
	s.runs.New = func() any { return &run{seed: s.seed} }
	s.known = map[string]*flagSet{}
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

// maxBuffers bounds the memory that a run keeps for the next unit, in bytes.
const maxBuffers = 64 << 10

// Run returns the checks that a unit fails, except those of [ScopeAcross].
func (s *Set) Run(u *Unit) Mask {
	var failed Mask
	active := s.active(u)
	if active.IsZero() {
		return failed
	}
	f := s.effective(u.Flags)
	r := s.runs.Get().(*run)
	for id := range active.And(f.runs).All() {
		r.set, r.flags, r.unit, r.failed = s, f, u, false
		r.check(id)
		if r.failed {
			failed = failed.With(id)
		}
	}
	r.flags, r.unit, r.markup = nil, nil, markup{}
	if cap(r.source)+cap(r.target)+64*(cap(r.left)+cap(r.right)+cap(r.sourceRepeats)+cap(r.targetRepeats)) <= maxBuffers {
		s.runs.Put(r) // else a long unit's memory goes with it
	}
	return failed
}

// Explain returns where the unit fails a check; nil if it does not fail.
func (s *Set) Explain(u *Unit, id ID) []Failure {
	f := s.effective(u.Flags)
	if !s.active(u).And(f.runs).Has(id) {
		return nil
	}
	r := &run{set: s, flags: f, unit: u, explain: true, seed: s.seed}
	r.check(id)
	return r.explained()
}

// run is one check of one unit.
type run struct {
	set     *Set
	flags   *flagSet
	unit    *Unit
	syntax  *syntax // of the check
	at      int     // the target form
	explain bool
	failed  bool
	hits    []place // of explain

	source, target []byte // texts without placeholders, reused
	seed           maphash.Seed
	left, right    []placeholder // of both texts, reused
	markup         markup        // the unit as XML

	sourceRepeats, targetRepeats repeats
}

// hit is the result of a rule, with spans in bytes. Several places in one text
// are in sources or targets; source or target is then not used.
type hit struct {
	failed           bool
	source, target   Span
	sources, targets []Span
}

// place is a hit and the forms of the source and the target that it is in.
type place struct {
	hit
	sourceForm, form int
}

func (r *run) check(id ID) {
	e := &table[id]
	r.syntax = e.syntax
	if e.source != nil {
		for i, source := range r.unit.Sources {
			if h := e.source(r, source, i); h.failed && r.fail(h, i, i) {
				return
			}
		}
		return
	}
	for i, target := range r.unit.Targets {
		k := 0
		if e.sourceForm != nil {
			k = e.sourceForm(r, i)
		} else {
			k = r.sourceForm(i)
		}
		r.at = i
		if h := e.pair(r, r.unit.Sources[k], target); h.failed && r.fail(h, k, i) {
			return
		}
	}
}

// fail records a failure. It reports whether the check can stop.
func (r *run) fail(h hit, sourceForm, form int) bool {
	r.failed = true
	if !r.explain {
		return true
	}
	r.hits = append(r.hits, place{h, sourceForm, form})
	return false
}

// explained counts the places of the hits in code points.
func (r *run) explained() []Failure {
	var failures []Failure
	for _, h := range r.hits {
		f := Failure{Form: h.form, SourceForm: h.sourceForm}
		f.Source, f.Sources = points(r.unit.Sources[h.sourceForm], h.source, h.sources)
		if h.form < len(r.unit.Targets) {
			f.Target, f.Targets = points(r.unit.Targets[h.form], h.target, h.targets)
		}
		failures = append(failures, f)
	}
	return failures
}

// Span is a part of a string, from From up to To, in code points. An empty span
// is a position between two characters.
type Span struct{ From, To int }

// Failure says where a unit fails a check.
type Failure struct {
	// Form is the plural form of the target, from 0; for a source check, of the
	// source.
	Form int
	// SourceForm is the plural form of the source that Source refers to.
	SourceForm int
	// Source and Target are the first place in each of the two strings.
	Source, Target Span
	// Sources and Targets are all places, up to 100; nil if there is one only.
	Sources, Targets []Span
}

// maxPlaces is how many places of a failure are listed.
const maxPlaces = 100

// points converts spans in bytes, one or several in ascending order, to spans in
// code points. A span inside an earlier one, such as an image in a link, is left
// out.
func points(s string, one Span, several []Span) (Span, []Span) {
	if len(several) == 0 {
		several = []Span{one}
	}
	several = several[:min(len(several), maxPlaces)]
	all := make([]Span, 0, len(several))
	at, n := 0, 0
	for i, b := range several {
		if i > 0 && b.To <= at {
			continue
		}
		from := min(max(b.From, at), len(s))
		to := min(max(b.To, from), len(s))
		n += utf8.RuneCountInString(s[at:from])
		chars := utf8.RuneCountInString(s[from:to])
		all = append(all, Span{n, n + chars})
		at, n = to, n+chars
	}
	if len(all) == 1 {
		return all[0], nil
	}
	return all[0], all
}
