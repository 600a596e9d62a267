package checks

import (
	"regexp"
	"strings"
)

// placeholder is one placeholder of a string; from and to in bytes.
type placeholder struct {
	text     string // the part that is compared
	from, to int
	position bool // it has no name or number, so its position identifies it
	escape   bool // it means the marker itself, as %% does
	paired   bool // the other string has it as well
}

// syntax is the notation of one kind of placeholders.
type syntax struct {
	markers string         // the characters that a placeholder may begin with
	one     *regexp.Regexp // a placeholder at the beginning of a text
	// positions says that placeholders of which no group matches are identified by
	// their positions. Else the group that matches is compared, not the whole.
	positions bool
	opens     string // what a marker alone is no placeholder before
	quotes    bool   // apostrophes quote what is no placeholder
}

// maxPlaceholder bounds a placeholder, in bytes: one that is opened and never closed must
// not cost a search to the end. So what opens one is in none, either.
const maxPlaceholder = 500

// plainConversions are what makes a whole placeholder behind a % wherever positions count.
// Most are of this kind; the regular expressions took a quarter of the checks' time.
const plainConversions = "sdufegx%"

// next returns the first placeholder of s from byte at.
func (x *syntax) next(s string, at int) (placeholder, bool) {
	for i := at; i < len(s); i++ {
		n := index(s[i:], x.markers)
		if n < 0 {
			break
		}
		i += n
		if p, ok := x.at(s, i); ok {
			return p, true
		}
	}
	return placeholder{}, false
}

// at returns the placeholder at byte i.
func (x *syntax) at(s string, i int) (placeholder, bool) {
	if strings.IndexByte(x.markers, s[i]) < 0 {
		return placeholder{}, false
	}
	if end := i + 2; x.positions && s[i] == '%' && end <= len(s) && strings.IndexByte(plainConversions, s[i+1]) >= 0 {
		return placeholder{text: s[i+1 : end], from: i, to: end, position: true, escape: s[i+1] == '%'}, true
	}
	m := x.one.FindStringSubmatchIndex(s[i:min(i+maxPlaceholder, len(s))])
	if m == nil {
		return placeholder{}, false
	}
	p := placeholder{text: s[i+1 : i+m[1]], from: i, to: i + m[1], position: x.positions}
	if p.text == "" && p.to < len(s) && strings.IndexByte(x.opens, s[p.to]) >= 0 {
		return placeholder{}, false
	}
	p.escape = x.positions && p.text == s[i:i+1]
	for g := 2; g < len(m); g += 2 {
		switch {
		case m[g] < 0:
		case x.positions:
			p.position = false
		default:
			p.text = strings.TrimSpace(s[i+m[g] : i+m[g+1]])
		}
	}
	if s[i] == '%' && strings.Contains(p.text, "'") { // which groups digits
		p.text = strings.ReplaceAll(p.text, "'", "")
	}
	return p, true
}

// nextReal returns the first placeholder from byte at that is no escape.
func (x *syntax) nextReal(s string, at int) (placeholder, bool) {
	for {
		p, ok := x.next(s, at)
		if !ok || !p.escape {
			return p, ok
		}
		at = p.to
	}
}

// maxMarks is how many placeholders, tags and other marks of a string are kept: a
// mark may be one byte long, and takes fifty bytes to keep.
const maxMarks = 1 << 16

// collect appends the placeholders of s, up to maxMarks. position reports whether
// one of them is identified by its position.
func (x *syntax) collect(s string, into []placeholder) (all []placeholder, position bool) {
	for at := 0; ; {
		p, ok := x.nextReal(s, at)
		if !ok || len(into) == maxMarks {
			return into, position
		}
		into = append(into, p)
		position = position || p.position
		at = p.to
	}
}

// index returns the position of the first of some characters in s, or -1.
func index(s, markers string) int {
	if len(markers) == 1 {
		return strings.IndexByte(s, markers[0])
	}
	return strings.IndexAny(s, markers)
}

// checkFormat compares the placeholders of a target form with those of its source form.
func checkFormat(r *run, source, target string) hit {
	if source == "" || target == "" {
		return hit{}
	}
	h := r.compare(r.syntax, source, target)
	if !h.failed && r.syntax.quotes {
		return apostrophes(target)
	}
	return h
}

// formatSource returns the source form that target form i is compared with.
func (r *run) formatSource(i int) int {
	return r.formSource(i, func(s string) bool {
		_, ok := r.syntax.next(s, 0)
		return ok
	})
}

// apostrophes fails if their number is odd: the last one opens a quotation that is
// never closed.
func apostrophes(t string) hit {
	if strings.Count(t, "'")%2 == 0 {
		return hit{}
	}
	i := strings.LastIndexByte(t, '\'')
	return hit{failed: true, target: Span{i, i + 1}}
}

// lenient reports whether the form may leave out its number.
func (r *run) lenient() bool {
	f := r.form(r.at)
	return !r.flags.strict && (f.single || f.zeroOrOne && r.at == 0)
}

// formSource returns the source form whose placeholders those of target form i are
// compared with. has reports whether a text has placeholders.
func (r *run) formSource(i int, has func(string) bool) int {
	if len(r.unit.Sources) < 2 {
		return 0
	}
	if len(r.unit.Targets) == 1 || i > 0 {
		return 1
	}
	if !has(r.unit.Sources[0]) && has(r.unit.Sources[1]) {
		return 1
	}
	return 0
}

// compare fails if the placeholders differ. It marks the surplus ones in the
// target, the missing ones in the source, or the ones in another order.
func (r *run) compare(x *syntax, source, target string) hit {
	if x.agree(source, target) {
		return hit{}
	}
	a, position := x.collect(source, r.left[:0])
	b, _ := x.collect(target, r.right[:0])
	r.left, r.right = a, b
	if len(a) == maxMarks || len(b) == maxMarks {
		return hit{}
	}
	missing, extra := pairUp(a, b, false)
	switch {
	case extra == 0 && missing > 0 && r.lenient(), extra == 0 && missing == 0 && !position:
		return hit{}
	case extra == 0 && missing == 0:
		return otherOrder(a, b)
	}
	return r.onlyIn(a, b, target)
}

// agree reports whether both texts have the same placeholders in the same order.
func (x *syntax) agree(source, target string) bool {
	for i, j := 0, 0; ; {
		p, more := x.nextReal(source, i)
		q, moreT := x.nextReal(target, j)
		if !more || !moreT || p.text != q.text {
			return !more && !moreT
		}
		i, j = p.to, q.to
	}
}

// pairUp marks the placeholders that both sides have, each as often as the other
// side has it, or in sets however often, and counts the rest.
func pairUp(a, b []placeholder, sets bool) (missing, extra int) {
	left, right := counts(a), counts(b)
	return pairTo(a, right, sets), pairTo(b, left, sets)
}

func counts(all []placeholder) map[string]int {
	n := make(map[string]int, len(all))
	for i := range all {
		n[all[i].text]++
	}
	return n
}

func pairTo(a []placeholder, others map[string]int, sets bool) (alone int) {
	for i := range a {
		n := others[a[i].text]
		a[i].paired = n > 0
		switch {
		case n == 0:
			alone++
		case !sets:
			others[a[i].text] = n - 1
		}
	}
	return alone
}

// unpaired returns the places of the placeholders that only one side has.
func unpaired(all []placeholder) []Span {
	var spans []Span
	for _, p := range all {
		if !p.paired && len(spans) < maxPlaces {
			spans = append(spans, Span{p.from, p.to})
		}
	}
	return spans
}

// otherOrder marks the placeholders that are in another order.
func otherOrder(a, b []placeholder) hit {
	h := hit{failed: true}
	for i := range a {
		if a[i].text != b[i].text && len(h.sources) < maxPlaces {
			h.sources = append(h.sources, Span{a[i].from, a[i].to})
			h.targets = append(h.targets, Span{b[i].from, b[i].to})
		}
	}
	return h
}
