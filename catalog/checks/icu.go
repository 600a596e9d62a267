package checks

import (
	"unicode/utf8"
)

// icuSyntax finds an error in the syntax of a source (facts §11.2).
func icuSyntax(r *run, s string, form int) hit {
	if form > 0 {
		return hit{}
	}
	m := parseICU(s, r.flags.icu)
	return hit{failed: !m.ok, source: m.errorIn(s)}
}

// errorIn is the character that is wrong, or the end.
func (m *icuMessage) errorIn(s string) Span {
	_, n := utf8.DecodeRuneInString(s[m.at:])
	return Span{m.at, m.at + n}
}

// checkICU compares the messages of the forms. Of a source that has an error
// itself, nothing can be said but whether the translation has one.
func checkICU(r *run, _ ID) {
	var sources [2]icuMessage
	var read [2]bool
	for i, target := range r.unit.Targets {
		k := r.formSource(i, r.hasICU)
		source := r.unit.Sources[k]
		if source == "" || target == "" {
			continue
		}
		if !read[k] {
			sources[k], read[k] = parseICU(source, r.flags.icu), true
		}
		t := parseICU(target, r.flags.icu)
		h := hit{failed: !t.ok}
		if t.ok {
			h = r.flags.icu.compare(&sources[k], &t, target)
		} else {
			h.target = t.errorIn(target)
		}
		if h.failed && r.fail(h, k, i) {
			return
		}
	}
}

// hasICU reports a text with arguments or tags.
func (r *run) hasICU(s string) bool {
	m := parseICU(s, r.flags.icu)
	return len(m.order) > 0
}

// compare fails if an argument or tag of one message may not stand in it, or
// lacks, when the other is its source; it tells of their first places.
func (f icuFlags) compare(source, target *icuMessage, text string) hit {
	if !source.ok || source.many() || target.many() {
		return hit{}
	}
	h := hit{
		sources: icuPlaces(source.order, func(s *icuArgument) bool { return !f.allows(s, target.arguments[s.name]) }),
		targets: icuPlaces(target.order, func(t *icuArgument) bool { return !f.allows(source.arguments[t.name], t) }),
	}
	h.failed = h.sources != nil || h.targets != nil
	if h.failed && h.targets == nil {
		h.target = Span{0, len(text)}
	}
	return h
}

// icuPlaces are those of the arguments that are wrong.
func icuPlaces(all []*icuArgument, wrong func(*icuArgument) bool) []Span {
	var places []Span
	for _, a := range all {
		if len(places) < maxPlaces && wrong(a) {
			places = append(places, Span{a.from, a.to})
		}
	}
	return places
}

// allows reports whether a name that the source uses like s may be used like t
// in the translation; one of the two may be nil.
func (f icuFlags) allows(s, t *icuArgument) bool {
	if t == nil {
		return f.has(icuNoMissing)
	}
	if _, other := t.choices[icuOther]; t.choices != nil && !other && !f.has(icuNoOther) {
		return false
	}
	if s == nil {
		return f.has(icuNoExtra)
	}
	return (f.has(icuNoPluralSelectors) || !t.misnamed) &&
		(f.has(icuNoSubmessageSelectors) || sameChoices(s, t)) &&
		(f.has(icuNoTypes) || sameTypes(s, t)) &&
		(f.has(icuNoTags) || sameTags(s, t))
}

// sameChoices wants no selectors that a select of the source does not have.
func sameChoices(s, t *icuArgument) bool {
	_, of := s.types["select"]
	_, in := t.types["select"]
	return !of || !in || subset(t.choices, s.choices)
}

// sameTypes wants a number for a number, and else no type that the source does
// not have.
func sameTypes(s, t *icuArgument) bool {
	if s.counts() {
		return t.counts()
	}
	return subset(t.types, s.types)
}

func subset(part, all map[string]struct{}) bool {
	for key := range part {
		if _, ok := all[key]; !ok {
			return false
		}
	}
	return true
}

// sameTags wants a tag for a tag, and one with contents, now and then at least,
// where the source has it so; none with contents where it never has.
func sameTags(s, t *icuArgument) bool {
	switch {
	case s.isTag() != t.isTag():
		return false
	case !s.isTag() || s.full && s.empty:
		return true
	}
	return s.full == t.full
}
