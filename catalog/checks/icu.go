package checks

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// icuSyntax finds a syntax error in a source.
func icuSyntax(r *run, s string, form int) hit {
	if form > 0 {
		return hit{}
	}
	m := parseICU(s, r.flags.icu)
	return hit{failed: !m.ok, source: m.errorIn(s)}
}

// errorIn returns the character where the syntax is wrong, or the end.
func (m *icuMessage) errorIn(s string) Span {
	_, n := utf8.DecodeRuneInString(s[m.at:])
	return Span{m.at, m.at + n}
}

// checkICU compares the messages of two forms. If the source has a syntax error,
// it checks only the syntax of the translation.
func checkICU(r *run, source, target string) hit {
	if source == "" || target == "" {
		return hit{}
	}
	t := parseICU(target, r.flags.icu)
	if !t.ok {
		return hit{failed: true, target: t.errorIn(target)}
	}
	s := parseICU(source, r.flags.icu)
	return r.flags.icu.compare(&s, &t, target)
}

// icuSource returns the source form that target form i is compared with: one with
// arguments or tags.
func (r *run) icuSource(i int) int {
	return r.formSource(i, func(s string) bool {
		m := parseICU(s, r.flags.icu)
		return len(m.order) > 0
	})
}

// compare fails if an argument or tag is missing, surplus, or used in another way
// than in the source. It marks the first place of each.
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

// icuPlaces returns the places of the wrong arguments.
func icuPlaces(all []*icuArgument, wrong func(*icuArgument) bool) []Span {
	var places []Span
	for _, a := range all {
		if len(places) < maxPlaces && wrong(a) {
			places = append(places, Span{a.from, a.to})
		}
	}
	return places
}

// allows reports whether the translation may use a name like t if the source uses
// it like s. One of the two may be nil.
func (f icuFlags) allows(s, t *icuArgument) bool {
	if t == nil {
		return f.has(icuNoMissing)
	}
	if t.choices != nil && !t.choices[icuOther] && !f.has(icuNoOther) {
		return false
	}
	if s == nil {
		return f.has(icuNoExtra)
	}
	return (f.has(icuNoPluralSelectors) || !t.misnamed) &&
		(f.has(icuNoSubmessageSelectors) || !s.types["select"] || !t.types["select"] || subset(t.choices, s.choices)) &&
		(f.has(icuNoTypes) || sameTypes(s, t)) &&
		(f.has(icuNoTags) || sameTags(s, t))
}

// sameTypes reports whether a number is a number in both, and any other argument
// has only types of the source's.
func sameTypes(s, t *icuArgument) bool {
	if s.counts() {
		return t.counts()
	}
	return subset(t.types, s.types)
}

func subset(part, all map[string]bool) bool {
	for key := range part {
		if !all[key] {
			return false
		}
	}
	return true
}

// sameTags reports whether a tag is a tag in both, and has contents somewhere if
// the source's always has contents, and nowhere if the source's never has.
func sameTags(s, t *icuArgument) bool {
	switch {
	case s.isTag() != t.isTag():
		return false
	case !s.isTag() || s.full && s.empty:
		return true
	}
	return s.full == t.full
}

// icuFlag turns on both checks of ICU MessageFormat.
const icuFlag = "icu-message-format"

// icuFlags are the flags icu-flags and icu-tag-prefix of a unit: how to read its
// messages, and which rules do not apply. The zero value reads no tags and applies
// all rules.
type icuFlags struct {
	options icuOption
	prefix  string // of the names of tags; "": any name
}

// icuOption is a set of the values of the flag icu-flags.
type icuOption uint16

// The options, in the order of [icuOptionNames].
const (
	icuXML icuOption = 1 << iota
	icuStrictXML
	icuNoHighlight // for editors; not used here
	icuNoOther
	icuNoPluralSelectors
	icuNoSubmessageSelectors
	icuNoTypes
	icuNoExtra
	icuNoMissing
	icuNoTags
)

func icuOptionNames() []string {
	return []string{
		"xml", "strict-xml", "-highlight", "-require_other", "-plural_selectors", "-submessage_selectors", "-types", "-extra", "-missing", "-tags",
	}
}

// maxTagPrefix bounds the flag icu-tag-prefix, in bytes: each tag is compared with
// it.
const maxTagPrefix = 100

// icuOptions returns the options that a flag's values name, and the unknown
// values.
func icuOptions(values []flagValue) (set icuOption, unknown []string) {
	names := icuOptionNames()
	for _, v := range values {
		text := strings.TrimSpace(v.text)
		if i := slices.Index(names, text); i >= 0 {
			set |= 1 << i
		} else {
			unknown = append(unknown, text)
		}
	}
	return set, unknown
}

func (f *icuFlags) setPrefix(values []flagValue) {
	if len(values) > 0 && len(values[0].text) <= maxTagPrefix {
		f.prefix = values[0].text
	}
}

func (f icuFlags) has(o icuOption) bool { return f.options&o != 0 }

// tags reports whether messages have tags.
func (f icuFlags) tags() bool { return f.has(icuXML | icuStrictXML) }
