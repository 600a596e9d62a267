package checks

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxRuns bounds how many repetitions of one string are compared.
const maxRuns = 16

// repeats are the words of a text that are repeated directly.
type repeats struct {
	n      int
	words  [maxRuns][]byte
	length [maxRuns]int
	at     [maxRuns]Span // of the repetition, in the text
}

// duplicate finds words that stand twice in a row, where the source has none.
func duplicate(r *run, s, t string) hit {
	var target, source repeats
	r.target = r.strip(r.target[:0], t)
	if target.find(r.target, r.set.base); target.n == 0 {
		return hit{}
	}
	r.source = r.strip(r.source[:0], s)
	source.find(r.source, "")
	if source.n == target.n && source.length == target.length {
		return hit{}
	}
	for i := range target.n {
		if !source.has(target.words[i]) {
			at := target.at[i]
			return hit{true, Span{}, Span{r.origin(t, at.From), r.origin(t, at.To-1) + 1}}
		}
	}
	return hit{}
}

func (p *repeats) has(word []byte) bool {
	for i := range p.n {
		if bytes.Equal(p.words[i], word) {
			return true
		}
	}
	return false
}

func (p *repeats) find(s []byte, base string) {
	var previous []byte
	run := 1
	for i := 0; i < len(s) && p.n < maxRuns; {
		c, n := utf8.DecodeRune(s[i:])
		if parts(c) {
			i += n
			continue
		}
		from := i
		for i < len(s) {
			if c, n = utf8.DecodeRune(s[i:]); parts(c) {
				break
			}
			i += n
		}
		word := s[from:i]
		if !bytes.Equal(word, previous) || isShort(word) || mayRepeat(base, word) {
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

func isShort(word []byte) bool {
	_, n := utf8.DecodeRune(word)
	return n == len(word)
}

// strip appends s without the placeholders of the unit's formats.
func (r *run) strip(into []byte, s string) []byte {
	kept := 0
	for from, to := range r.holes(s) {
		into = append(into, s[kept:from]...)
		kept = to
	}
	return append(into, s[kept:]...)
}

// origin is where byte i of the stripped text stands in s.
func (r *run) origin(s string, i int) int {
	removed := 0
	for from, to := range r.holes(s) {
		if from-removed > i {
			break
		}
		removed += to - from
	}
	return i + removed
}

// holes yields the placeholders of s, those of all formats that are on.
func (r *run) holes(s string) func(yield func(from, to int) bool) {
	return func(yield func(from, to int) bool) {
		on := r.flags.runs.And(formats)
		if on.IsZero() {
			return
		}
		for i := 0; i < len(s); {
			to := i + 1
			if s[i] == '%' || s[i] == '{' || s[i] == '$' {
				for id := range on.All() {
					if p, ok := scanAt(syntaxes[id], s, i); ok {
						if to = p.to; !yield(i, to) {
							return
						}
						break
					}
				}
			}
			i = to
		}
	}
}

func scanAt(x syntax, s string, i int) (placeholder, bool) {
	if s[i] != x.marker {
		return placeholder{}, false
	}
	return x.scan(s, i)
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
func mayRepeat(base string, word []byte) bool {
	switch base + " " + string(word) {
	case "fy jo", "fy mei", "fr vous", "fr nous", "hi कर", "tr tek", "tr adım", "tr gıcır", "tr sık", "sq të":
		return true
	}
	return false
}
