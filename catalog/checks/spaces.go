package checks

import (
	"iter"
	"strings"
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
