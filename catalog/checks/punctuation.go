package checks

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Sets of characters that end a sentence, as in Weblate.
const (
	stops        = ".。।۔։·෴។።"
	colons       = ":：៖"
	questions    = "?՞؟⸮？፧꘏⳺"
	exclamations = "!！՜᥄႟߹"
	// Japanese may end the introduction of an enumeration with any of these.
	japaneseColons = ";:：.。"
	// Burmese ends a question with a word and a section mark.
	burmeseQuestion = "\u1038\u104b"
)

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
	if t == "" || base == "th" || base == "jbo" || utf8.RuneCountInString(s) <= 4 || dots(s, t) {
		return hit{}
	}
	switch base {
	case "ja":
		if inSet(s, ":;") {
			return differ(s, t, japaneseColons)
		}
	case "hy":
		return differ(s, t, stops+":՝?!`")
	case "hi", "bn", "or":
		return differ(s, t, ".\u0964\u09f7|")
	case "sat":
		return differ(s, t, ".᱾")
	case "my":
		if strings.HasSuffix(t, burmeseQuestion) {
			return hit{}
		}
		return differ(s, t, ".။")
	}
	return differ(s, t, stops)
}

func endColon(r *run, s, t string) hit {
	if s == "" || t == "" {
		return hit{}
	}
	switch r.set.base {
	case "jbo":
		return hit{}
	case "hy":
		if last(s) != ':' {
			return hit{}
		}
		return differ(s, t, ":՝`")
	case "ja":
		if !inSet(s, ":;") {
			return hit{}
		}
		return differ(s, t, japaneseColons)
	}
	return differ(s, t, colons)
}

func endQuestion(r *run, s, t string) hit {
	if s == "" || t == "" {
		return hit{}
	}
	switch r.set.base {
	case "jbo":
		return hit{}
	case "hy":
		if last(s) != '?' {
			return hit{}
		}
		return differ(s, t, "?՞։")
	case "el":
		if last(s) != '?' {
			return hit{}
		}
		return differ(s, t, "?;\u037e")
	case "my":
		if (last(s) == '?') == strings.HasSuffix(t, burmeseQuestion) {
			return hit{}
		}
		return ends(s, t)
	}
	return differ(s, t, questions)
}

func endExclamation(r *run, s, t string) hit {
	if s == "" || t == "" || strings.HasSuffix(s, "Texy!") || strings.HasSuffix(t, "Texy!") {
		return hit{}
	}
	switch r.set.base {
	case "hy", "jbo":
		return hit{}
	case "eu":
		if last(s) == '!' && strings.Contains(t, "¡") && strings.Contains(t, "!") {
			return hit{}
		}
	case "my":
		return differ(s, t, "!႟")
	}
	return differ(s, t, exclamations)
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
		if isHigh(c) && (i == 0 || !spaced(previous) && !insideWord(t[i+n:])) {
			return hit{failed: true, target: Span{i, i + n}}
		}
		previous = c
		i += n
	}
	return hit{}
}

func isHigh(c rune) bool { return c == ';' || c == ':' || c == '?' || c == '!' }

func spaced(previous rune) bool {
	return previous == ' ' || previous == '\u00a0' || previous == '\u202f' || previous == '\u2009' || isHigh(previous)
}

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
		if c >= 0x640 && isKashida(c) && previous != 0x628 && previous != 0x643 && previous != 0x644 {
			return hit{failed: true, target: Span{i, i + utf8.RuneLen(c)}}
		}
		previous = c
	}
	return hit{}
}

func isKashida(c rune) bool {
	switch c {
	case 0x640, 0xfcf2, 0xfcf3, 0xfcf4, 0xfe71, 0xfe77, 0xfe79, 0xfe7b, 0xfe7d, 0xfe7f:
		return true
	}
	return false
}
