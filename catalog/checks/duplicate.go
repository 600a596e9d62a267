package checks

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxRuns bounds how many repetitions of one string are compared.
const maxRuns = 16

// repeats are the words of a string that are repeated directly.
type repeats struct {
	n      int
	words  [maxRuns]string
	length [maxRuns]int
	at     [maxRuns]Span
}

// duplicate finds words that stand twice in a row, where the source has none.
func duplicate(r *run, s, t string) hit {
	var target repeats
	target.find(t, r.set.base)
	if target.n == 0 {
		return hit{}
	}
	var source repeats
	source.find(s, "")
	if source.n == target.n && source.length == target.length {
		return hit{}
	}
	for i := range target.n {
		if !source.has(target.words[i]) {
			return hit{true, Span{}, target.at[i]}
		}
	}
	return hit{}
}

func (p *repeats) has(word string) bool {
	for i := range p.n {
		if p.words[i] == word {
			return true
		}
	}
	return false
}

func (p *repeats) find(s, base string) {
	previous, run := "", 1
	for i := 0; i < len(s) && p.n < maxRuns; {
		c, n := utf8.DecodeRuneInString(s[i:])
		if parts(c) {
			i += n
			continue
		}
		from := i
		for i < len(s) {
			if c, n = utf8.DecodeRuneInString(s[i:]); parts(c) {
				break
			}
			i += n
		}
		word := s[from:i]
		if word != previous || isShort(word) || mayRepeat(base, word) {
			previous, run = word, 1
			continue
		}
		if run++; run == 2 {
			p.words[p.n], p.at[p.n] = word, Span{from, i}
			p.n++
		}
		p.length[p.n-1] = run
	}
}

func isShort(word string) bool {
	_, n := utf8.DecodeRuneInString(word)
	return n == len(word)
}

// parts reports the characters between words (facts §11.3).
func parts(c rune) bool {
	if c < utf8.RuneSelf {
		return c <= ' ' || c == 0x7f || strings.ContainsRune("([{]^`!\"#%&'*/?@\\_", c)
	}
	if c == '·' {
		return false
	}
	return unicode.IsSpace(c) || unicode.In(c, unicode.Cc, unicode.Ps, unicode.Sk, unicode.Po)
}

// mayRepeat reports words that a language repeats by its grammar.
func mayRepeat(base, word string) bool {
	switch base {
	case "fy":
		return word == "jo" || word == "mei"
	case "fr":
		return word == "vous" || word == "nous"
	case "hi":
		return word == "कर"
	case "tr":
		return word == "tek" || word == "adım" || word == "gıcır" || word == "sık"
	case "sq":
		return word == "të"
	}
	return false
}
