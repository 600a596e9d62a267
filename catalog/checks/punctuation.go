package checks

import (
	"cmp"
	"iter"
	"strings"
	"unicode"
	"unicode/utf8"
)

// short reports whether strings are too short for the checks of blanks.
func short(s, t string) bool {
	return utf8.RuneCountInString(s) <= 1 && utf8.RuneCountInString(t) <= 1
}

func beginSpace(_ *run, s, t string) hit {
	a, b := leading(s), leading(t)
	if a == b || b == len(t) || short(s, t) {
		return hit{}
	}
	return hit{failed: true, source: Span{0, a}, target: Span{0, b}}
}

func endSpace(_ *run, s, t string) hit {
	if s == "" || t == "" || short(s, t) {
		return hit{}
	}
	a, b := len(strings.TrimRight(s, " ")), len(strings.TrimRight(t, " "))
	if b == 0 || len(s)-a == len(t)-b {
		return hit{}
	}
	return hit{failed: true, source: Span{a, len(s)}, target: Span{b, len(t)}}
}

func leading(s string) int { return len(s) - len(strings.TrimLeft(s, " ")) }

func doubleSpace(_ *run, s, t string) hit {
	i := strings.Index(t, "  ")
	if i < 0 || s == "" || short(s, t) || strings.Contains(s, "  ") {
		return hit{}
	}
	return hit{failed: true, target: Span{i, i + 2}}
}

func zeroWidthSpace(r *run, s, t string) hit {
	i := strings.Index(t, "\u200b")
	if i < 0 || r.set.base == "km" || strings.Contains(s, "\u200b") {
		return hit{}
	}
	return hit{failed: true, target: Span{i, i + len("\u200b")}}
}

func beginNewline(_ *run, s, t string) hit {
	if s == "" || t == "" || (s[0] == '\n') == (t[0] == '\n') {
		return hit{}
	}
	return starts(s, t)
}

func endNewline(_ *run, s, t string) hit {
	if s == "" || t == "" || (s[len(s)-1] == '\n') == (t[len(t)-1] == '\n') {
		return hit{}
	}
	return ends(s, t)
}

func newlineCount(r *run, s, t string) hit {
	if s == "" || t == "" || strings.Count(s, "\n") == strings.Count(t, "\n") {
		return hit{}
	}
	return r.surplus(s, t, lineBreaks(s), lineBreaks(t))
}

// lineBreaks yields the line breaks of s.
func lineBreaks(s string) iter.Seq[Span] {
	return func(yield func(Span) bool) {
		for i := 0; ; {
			n := strings.IndexByte(s[i:], '\n')
			if n < 0 || !yield(Span{i + n, i + n + 1}) {
				return
			}
			i += n + 1
		}
	}
}

// surplus fails. If the run explains, it marks all places of both sides, since it
// is not known which of them are surplus.
func (r *run) surplus(s, t string, a, b iter.Seq[Span]) hit {
	if !r.explain {
		return hit{failed: true}
	}
	h := hit{failed: true, sources: firstOf(a), targets: firstOf(b)}
	if h.sources == nil {
		h.source = Span{0, len(s)}
	}
	if h.targets == nil {
		h.target = Span{0, len(t)}
	}
	return h
}

// firstOf returns the first maxPlaces spans.
func firstOf(all iter.Seq[Span]) (spans []Span) {
	for span := range all {
		if spans = append(spans, span); len(spans) == maxPlaces {
			break
		}
	}
	return spans
}

// escapedNewline counts backslash n outside of Windows paths.
func escapedNewline(r *run, s, t string) hit {
	if s == "" || t == "" || countEscaped(s) == countEscaped(t) {
		return hit{}
	}
	return r.surplus(s, t, escaped(s), escaped(t))
}

func countEscaped(s string) int {
	n := 0
	for range escaped(s) {
		n++
	}
	return n
}

// escaped yields each backslash n of s outside of Windows paths.
func escaped(s string) iter.Seq[Span] {
	return func(yield func(Span) bool) {
		for i := strings.IndexByte(s, '\\'); i >= 0 && i < len(s); {
			if i >= 2 && s[i-1] == ':' && isLetter(s[i-2]) {
				for i < len(s) && (s[i] == '\\' || isWord(s[i])) {
					i++ // a path: its backslashes separate names
				}
			} else {
				if i+1 < len(s) && s[i+1] == 'n' && !yield(Span{i, i + 2}) {
					return
				}
				i++
			}
			next := strings.IndexByte(s[min(i, len(s)):], '\\')
			if next < 0 {
				return
			}
			i += next
		}
	}
}

// The characters that end a sentence, as in Weblate: by language, "" for all others.
var (
	stops = map[string]string{
		"": otherStops, "hy": otherStops + ":՝?!`", "hi": ".\u0964\u09f7|", "bn": ".\u0964\u09f7|", "or": ".\u0964\u09f7|",
		"sat": ".᱾", "my": ".။",
	}
	colons       = map[string]string{"": ":：៖", "hy": ":՝`", "ja": japaneseColons}
	questions    = map[string]string{"": "?՞؟⸮？፧꘏⳺", "hy": "?՞։", "el": "?;\u037e"}
	exclamations = map[string]string{"": "!！՜᥄႟߹", "my": "!႟"}
)

const (
	otherStops = ".。।۔։·෴។።"
	// Japanese may end the introduction of an enumeration with any of these.
	japaneseColons = ";:：.。"
	// Burmese ends a question with a word and a section mark.
	burmeseQuestion = "\u1038\u104b"
)

// ending fails if exactly one of the two ends with a character of the language's set.
func (r *run) ending(s, t string, sets map[string]string) hit {
	return differ(s, t, cmp.Or(sets[r.set.base], sets[""]))
}

// inSet reports whether s, which is not empty, ends with a character of set.
func inSet(s, set string) bool { return strings.ContainsRune(set, last(s)) }

// differ fails if exactly one of the two ends with a character of the set.
func differ(s, t, set string) hit {
	if s == "" || t == "" || inSet(s, set) == inSet(t, set) {
		return hit{}
	}
	return ends(s, t)
}

// dots reports whether three full stops became an ellipsis.
func dots(s, t string) bool { return strings.HasSuffix(s, "...") && strings.HasSuffix(t, "…") }

func endStop(r *run, s, t string) hit {
	base := r.set.base
	switch {
	case t == "", base == "th", base == "jbo", utf8.RuneCountInString(s) <= 4, dots(s, t):
		return hit{}
	case base == "ja" && inSet(s, ":;"):
		return differ(s, t, japaneseColons)
	case base == "my" && strings.HasSuffix(t, burmeseQuestion):
		return hit{}
	}
	return r.ending(s, t, stops)
}

func endColon(r *run, s, t string) hit {
	base := r.set.base
	if s == "" || base == "jbo" || base == "hy" && last(s) != ':' || base == "ja" && !inSet(s, ":;") {
		return hit{}
	}
	return r.ending(s, t, colons)
}

func endQuestion(r *run, s, t string) hit {
	switch base := r.set.base; {
	case s == "", t == "", base == "jbo", (base == "hy" || base == "el") && last(s) != '?':
		return hit{}
	case base != "my":
		return r.ending(s, t, questions)
	case (last(s) == '?') == strings.HasSuffix(t, burmeseQuestion):
		return hit{}
	}
	return ends(s, t)
}

func endExclamation(r *run, s, t string) hit {
	base := r.set.base
	switch {
	case s == "", base == "hy", base == "jbo", strings.HasSuffix(s, "Texy!"), strings.HasSuffix(t, "Texy!"):
		return hit{}
	case base == "eu" && last(s) == '!' && strings.Contains(t, "¡") && strings.Contains(t, "!"):
		return hit{}
	}
	return r.ending(s, t, exclamations)
}

func endEllipsis(r *run, s, t string) hit {
	if t == "" || r.set.base == "jbo" || dots(s, t) {
		return hit{}
	}
	return differ(s, t, "…")
}

func endSemicolon(r *run, s, t string) hit {
	if s == "" || t == "" || r.set.base == "el" && last(s) == '?' {
		return hit{}
	}
	if endsSemicolon(s) == endsSemicolon(t) {
		return hit{}
	}
	return ends(s, t)
}

// endsSemicolon reports whether s ends with a semicolon that is not the end of an
// entity.
func endsSemicolon(s string) bool {
	if s[len(s)-1] != ';' {
		return false
	}
	from := strings.LastIndexByte(s, '&')
	return from < 0 || entity(s[from:]) != len(s)-from
}

// punctuationSpacing fails if high punctuation has no blank before it, in French and
// Breton.
func punctuationSpacing(r *run, _, t string) hit {
	base := r.set.base
	if base != "fr" && base != "br" || strings.EqualFold(r.set.code, "fr_CA") {
		return hit{}
	}
	previous := rune(-1)
	for i := 0; i < len(t); {
		if n := entity(t[i:]); n > 0 {
			previous = ' '
			i += n
			continue
		}
		c, n := utf8.DecodeRuneInString(t[i:])
		if isHigh(c) && (i == 0 || !strings.ContainsRune(" \u00a0\u202f\u2009", previous) && !isHigh(previous) && !insideWord(t[i+n:])) {
			return hit{failed: true, target: Span{i, i + n}}
		}
		previous = c
		i += n
	}
	return hit{}
}

func isHigh(c rune) bool { return c == ';' || c == ':' || c == '?' || c == '!' }

// insideWord reports whether the text after a mark makes the mark a part of
// something else, such as a URL.
func insideWord(rest string) bool {
	if rest == "" || entity(rest) > 0 {
		return false
	}
	c, _ := utf8.DecodeRuneInString(rest)
	return !unicode.In(c, unicode.Zs, unicode.Ps, unicode.Pe)
}

func kashida(_ *run, _, t string) hit {
	previous := rune(0)
	for i, c := range t {
		if (c == 0x640 || c >= 0xfcf2 && strings.ContainsRune("\ufcf2\ufcf3\ufcf4\ufe71\ufe77\ufe79\ufe7b\ufe7d\ufe7f", c)) && previous != 0x628 && previous != 0x643 && previous != 0x644 {
			return hit{failed: true, target: Span{i, i + utf8.RuneLen(c)}}
		}
		previous = c
	}
	return hit{}
}
