package checks

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/repoglot/repoglot/catalog"
)

// glossary finds the terms of a glossary.
type glossary struct {
	sources, targets *wordFinder
	terms            [][]choice // by number of the word in sources
}

// choice is one translation of a term.
type choice struct {
	target    int // number of the word in targets
	forbidden bool
}

func newGlossary(terms []Term) *glossary {
	g := &glossary{sources: newWordFinder(), targets: newWordFinder()}
	for _, t := range terms {
		source, ok := g.sources.add(t.Source)
		target, ok2 := g.targets.add(t.Target)
		if !ok || !ok2 {
			continue
		}
		for len(g.terms) <= source {
			g.terms = append(g.terms, nil)
		}
		g.terms[source] = append(g.terms[source], choice{target, t.Forbidden})
	}
	if len(g.terms) == 0 {
		return nil
	}
	return g
}

// checkGlossary fails for each term of the source if the target has none of its
// translations, or has a forbidden one.
func checkGlossary(r *run, s, t string) hit {
	g := r.set.terms
	if g == nil {
		return hit{}
	}
	found := g.sources.find(s)
	if len(found) == 0 {
		return hit{}
	}
	used := make(map[int]Span)
	for _, w := range g.targets.find(t) {
		used[w.number] = w.at
	}
	h := hit{target: Span{0, len(t)}}
	for _, w := range found {
		if w.number < len(g.terms) && !g.follows(w.number, used, &h.target) {
			h.failed = true
			h.sources = append(h.sources, w.at)
		}
	}
	return h
}

// follows reports whether the words used follow the glossary for a term. If a
// forbidden word is used, forbidden is set to its place.
func (g *glossary) follows(term int, used map[int]Span, forbidden *Span) bool {
	kept, wanted := false, false
	for _, c := range g.terms[term] {
		at, ok := used[c.target]
		if c.forbidden && ok {
			*forbidden = at
			return false
		}
		wanted = wanted || !c.forbidden
		kept = kept || !c.forbidden && ok
	}
	return kept || !wanted
}

// GlossaryFlag is the flag that turns on check_glossary.
const GlossaryFlag = "check-glossary"

// UsesGlossary reports whether flags, of an entry or a component, may turn on
// check_glossary. If they do not, no terms are needed.
func UsesGlossary(flags string) bool { return strings.Contains(flags, GlossaryFlag) }

// TermsOf returns the terms of a string of a glossary: its source with its
// translation or, if it is read-only, with the source itself, which must not be
// translated. The flag forbidden marks words that must not be used. Each form of a
// plural is a term. Strings that are not translated or need editing have no terms.
func TermsOf(source, target, flags string, state catalog.State) []Term {
	if !state.Translated() {
		return nil
	}
	forbidden := false
	for flag := range splitFlags(flags) {
		switch flag {
		case "forbidden":
			forbidden = true
		case "read-only":
			state = catalog.StateReadOnly
		}
	}
	var terms []Term
	for _, s := range catalog.SplitForms(source) {
		if state == catalog.StateReadOnly {
			terms = append(terms, Term{Source: s, Target: s, Forbidden: forbidden})
			continue
		}
		for _, t := range catalog.SplitForms(target) {
			terms = append(terms, Term{Source: s, Target: t, Forbidden: forbidden})
		}
	}
	return terms
}

// Term is an entry of a glossary in the language of a [Set].
type Term struct {
	// Source is the term and Target its translation. Terms with the same source
	// are alternatives.
	Source, Target string
	// Forbidden marks a translation that must not be used.
	Forbidden bool
}

// maxTerm is the length of the longest term, in bytes. Longer ones are ignored.
const maxTerm = 200

// foundWord is an occurrence of a word of a wordFinder.
type foundWord struct {
	number int
	at     Span
}

// wordFinder finds many words in one pass over a text, ignoring case. From where a
// word may begin it follows the characters that words begin with, maxTerm bytes at
// most.
type wordFinder struct {
	next  map[edge]int32 // from the prefixes of words, 0 is the empty one
	words []int          // of each prefix: the number of the word that it is, or -1
	count int            // of words
}

type edge struct {
	prefix int32
	char   rune
}

func newWordFinder() *wordFinder {
	return &wordFinder{next: make(map[edge]int32), words: []int{-1}}
}

// add adds a word and returns its number; false if the word is empty or too long.
func (f *wordFinder) add(word string) (int, bool) {
	word = strings.TrimSpace(word)
	if word == "" || len(word) > maxTerm {
		return 0, false
	}
	prefix := int32(0)
	for _, c := range word {
		e := edge{prefix, fold(c)}
		to, ok := f.next[e]
		if !ok {
			to = int32(len(f.words))
			f.next[e] = to
			f.words = append(f.words, -1)
		}
		prefix = to
	}
	if f.words[prefix] < 0 {
		f.words[prefix] = f.count
		f.count++
	}
	return f.words[prefix], true
}

// find returns the whole words of s, each at its first place. In scripts that do
// not separate words, any place counts.
func (f *wordFinder) find(s string) []foundWord {
	var all []foundWord
	seen := map[int]bool{}
	for from, first := range s {
		if joined(first, s[:from], true) {
			continue
		}
		prefix, more := int32(0), true
		for i, c := range s[from:] {
			if prefix, more = f.next[edge{prefix, fold(c)}]; !more {
				break
			}
			n := f.words[prefix]
			if n < 0 || seen[n] {
				continue
			}
			_, size := utf8.DecodeRuneInString(s[from+i:])
			if end := from + i + size; !joined(c, s[end:], false) {
				seen[n] = true
				all = append(all, foundWord{n, Span{from, end}})
			}
		}
	}
	return all
}

// joined reports whether c and its neighbour, the last or first character of rest,
// are in one word.
func joined(c rune, rest string, before bool) bool {
	if rest == "" || !wordRune(c) || unseparated(c) {
		return false
	}
	neighbour, _ := utf8.DecodeRuneInString(rest)
	if before {
		neighbour = last(rest)
	}
	return (wordRune(neighbour) || unicode.IsMark(neighbour)) && !unseparated(neighbour)
}

// unseparated reports whether the script of c puts no blanks between words.
func unseparated(c rune) bool {
	return c >= 0xe00 && unicode.In(c, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}

func fold(c rune) rune { return unicode.ToLower(c) }
