package checks

import (
	"hash/maphash"
	"unicode/utf8"
)

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

// release drops the unit, and buffers that only long units need.
func (r *run) release() {
	r.flags, r.unit, r.markup = nil, nil, markup{}
	if cap(r.source)+cap(r.target) > maxBuffers {
		r.source, r.target = nil, nil
	}
	if cap(r.left)+cap(r.right) > maxBuffers/64 {
		r.left, r.right = nil, nil
	}
	r.sourceRepeats.release()
	r.targetRepeats.release()
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
