package checks

import (
	"hash/maphash"
	"sync"
	"sync/atomic"
	"unicode/utf8"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/lang"
)

// Options say what is the same for all units of a translation.
type Options struct {
	// Language is the code of the translation's language, such as "pt_BR".
	Language string
	// Source is the code of the source language; "" is English.
	Source string
	// ProjectName and ComponentName are the names for people: their words may
	// stay untranslated.
	ProjectName, ComponentName string
	// Plural is the plural rule of the translation.
	Plural lang.Plural
	// SourcePlural is the plural rule of the source language.
	SourcePlural lang.Plural
	// ComponentFlags are the component's check_flags, comma-separated.
	ComponentFlags string
	// Glossary marks a glossary component: nothing is checked.
	Glossary bool
	// Terms are the entries of the project's glossaries in the language, for
	// the check check_glossary.
	Terms []Term
}

// Unit is what the checks read of a unit. It is not kept.
type Unit struct {
	// IsSource marks a unit of the source translation: source checks run on
	// it and no others.
	IsSource bool
	// Sources and Targets are the plural forms, at least one each; targets
	// padded as catalog.TargetForms does it.
	Sources, Targets []string
	// Note holds the comments, as catalog.Unit has them.
	Note string
	// Flags are the entry's flags, comma-separated, as catalog.Unit has them.
	Flags string
	// State is the unit's state: read-only and empty ones are not checked.
	State catalog.State
}

// Span is a piece of a string, in code points. From == To marks a place.
type Span struct{ From, To int }

// Failure is one finding of a check.
type Failure struct {
	// Form is the plural form of the target, from 0; of the source for a
	// source check.
	Form int
	// SourceForm is the plural form of the source that Source lies in.
	SourceForm int
	// Source and Target say where in the two strings it is: the first place
	// of each.
	Source, Target Span
	// Sources and Targets are all places, up to 100, where it is in several;
	// else nil.
	Sources, Targets []Span
}

// maxFlagSets bounds how many different flags a set remembers. Others are
// parsed for each unit.
const maxFlagSets = 512

// maxBuffers bounds the memory that is kept for the next unit, in bytes.
const maxBuffers = 64 << 10

// Set runs the checks for the units of one translation. It is safe for
// concurrent use; make it with [New].
type Set struct {
	base     string              // language code without country
	code     string              // whole language code
	source   string              // source language without country
	names    map[string]struct{} // words of the names of project and component
	flags    string
	glossary bool
	terms    *glossary // nil without terms
	forms    []form    // of the target's plural rule
	sources  int       // number of forms of the source language
	onTarget Mask      // checks of target units
	onSource Mask      // checks of source units
	runs     sync.Pool
	seed     maphash.Seed

	adding sync.Mutex                          // guards the change of known, and held
	held   int                                 // sizes of the known
	known  atomic.Pointer[map[string]*flagSet] // by the entry's flags; never written in place
}

// New makes the checks of a translation.
func New(o Options) *Set {
	s := &Set{base: lang.BaseCode(o.Language), code: o.Language, flags: o.ComponentFlags, glossary: o.Glossary, sources: max(o.SourcePlural.Number, 1)}
	s.source = sourceBase(o.Source)
	s.seed = maphash.MakeSeed()
	s.names = nameWords(o.ProjectName, o.ComponentName)
	s.onTarget = scopeMask(ScopePair).Or(scopeMask(ScopeTarget))
	s.onSource = scopeMask(ScopeSource)
	s.runs.New = func() any { return &run{seed: s.seed} }
	s.known.Store(&map[string]*flagSet{})
	s.forms = pairForms(o.Plural, o.SourcePlural)
	s.terms = newGlossary(o.Terms)
	return s
}

// Run returns the checks of one unit that fail, but those of [ScopeAcross].
func (s *Set) Run(u *Unit) Mask {
	var failed Mask
	active := s.active(u)
	if active.IsZero() {
		return failed
	}
	f := s.effective(u.Flags)
	r := s.runs.Get().(*run)
	defer s.runs.Put(r)
	r.markup = markup{}
	for id := range active.And(f.runs).All() {
		r.set, r.flags, r.unit, r.failed = s, f, u, false
		r.check(id)
		if r.failed {
			failed = failed.With(id)
		}
	}
	r.release()
	return failed
}

// release forgets the unit, and memory that only a long one needs.
func (r *run) release() {
	r.flags, r.unit, r.markup = nil, nil, markup{}
	r.text.reset("")
	r.other.reset("")
	if cap(r.source)+cap(r.target) > maxBuffers {
		r.source, r.target = nil, nil
	}
	if cap(r.left)+cap(r.right) > maxBuffers/64 {
		r.left, r.right = nil, nil
	}
	r.sourceRepeats.release()
	r.targetRepeats.release()
}

// Explain lists where check id fails in the unit; nil if it does not.
func (s *Set) Explain(u *Unit, id ID) []Failure {
	f := s.effective(u.Flags)
	if !s.active(u).And(f.runs).Has(id) {
		return nil
	}
	r := &run{set: s, flags: f, unit: u, explain: true, seed: s.seed}
	r.check(id)
	return r.failures
}

// active is what the kind and state of the unit allow (facts §11.1).
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

// run is one check of one unit.
type run struct {
	set      *Set
	flags    *flagSet
	unit     *Unit
	explain  bool
	failed   bool
	failures []Failure
	observe  func(h hit, sourceForm, form int) // of tests, else nil

	source, target []byte // texts without placeholders, reused
	text, other    subject
	seed           maphash.Seed  // of hashes that are compared
	left, right    []placeholder // of both texts, reused
	markup         markup        // of the unit

	sourceRepeats, targetRepeats repeats
}

// hit is what a rule found; spans in bytes. Of several places on a side,
// sources and targets tell all, and source and target nothing.
type hit struct {
	failed           bool
	source, target   Span
	sources, targets []Span
}

func (r *run) check(id ID) {
	e := &table[id]
	if e.whole != nil {
		e.whole(r, id)
		return
	}
	if e.source != nil {
		for i, source := range r.unit.Sources {
			if h := e.source(r, source, i); h.failed && r.fail(h, i, i) {
				return
			}
		}
		return
	}
	for i, target := range r.unit.Targets {
		k := r.sourceForm(i)
		if h := e.pair(r, r.unit.Sources[k], target); h.failed && r.fail(h, k, i) {
			return
		}
	}
}

// fail notes a finding; it reports whether the run is over.
func (r *run) fail(h hit, sourceForm, form int) bool {
	r.failed = true
	if !r.explain {
		return true
	}
	if r.observe != nil {
		r.observe(h, sourceForm, form)
	}
	f := Failure{Form: form, SourceForm: sourceForm}
	f.Source, f.Sources = points(r.unit.Sources[sourceForm], h.source, h.sources)
	if form < len(r.unit.Targets) {
		f.Target, f.Targets = points(r.unit.Targets[form], h.target, h.targets)
	}
	r.failures = append(r.failures, f)
	return false
}

// maxPlaces bounds the places of a failure: nobody reads more of them.
const maxPlaces = 100

// points makes code points of bytes, of one place or of several in order. What
// lies within an earlier place, as an image within a link, goes.
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
