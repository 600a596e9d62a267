package checks

import (
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
