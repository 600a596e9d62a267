package checks

import (
	"cmp"
	"strings"
	"unicode"
	"unicode/utf8"
)

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
		if c >= 0x640 && isKashida(c) && previous != 0x628 && previous != 0x643 && previous != 0x644 {
			return hit{failed: true, target: Span{i, i + utf8.RuneLen(c)}}
		}
		previous = c
	}
	return hit{}
}

func isKashida(c rune) bool {
	return strings.ContainsRune("\u0640\ufcf2\ufcf3\ufcf4\ufe71\ufe77\ufe79\ufe7b\ufe7d\ufe7f", c)
}
