package checks

import (
	"bytes"
	_ "embed"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// repeat is a word that occurs several times in a row.
type repeat struct {
	word []byte // in the text
	n    int    // how many times
	at   Span   // the first repetition, in the text
}

// repeats are the repeated words of a text, in order.
type repeats []repeat

// duplicate finds words that occur twice in a row, if the source does not repeat
// as many words. It looks at the first maxMarks repeated words only.
func duplicate(r *run, s, t string) hit {
	r.target = r.strip(r.target[:0], t)
	target := r.targetRepeats[:0].find(r.target, r.set.base)
	if r.targetRepeats = target; len(target) == 0 {
		return hit{}
	}
	r.source = r.strip(r.source[:0], s)
	source := r.sourceRepeats[:0].find(r.source, "")
	r.sourceRepeats = source
	if slices.EqualFunc(source, target, func(p, q repeat) bool { return p.n == q.n }) {
		return hit{}
	}
	own := make(map[string]struct{}, len(source))
	for i := range source {
		own[string(source[i].word)] = struct{}{}
	}
	var surplus []Span
	for i := range target {
		if _, ok := own[string(target[i].word)]; !ok {
			surplus = append(surplus, target[i].at)
			if !r.explain || len(surplus) == maxPlaces {
				break
			}
		}
	}
	if len(surplus) == 0 {
		return hit{}
	}
	if r.explain {
		r.origins(t, surplus)
	}
	return hit{failed: true, targets: surplus}
}

// find appends the repeated words of a text in a language.
func (p repeats) find(s []byte, base string) repeats {
	var previous []byte
	run := 1
	for i := 0; i < len(s); {
		c, n := utf8.DecodeRune(s[i:])
		if separates(c) {
			i += n
			continue
		}
		from := i
		for i < len(s) {
			if c, n = utf8.DecodeRune(s[i:]); separates(c) {
				break
			}
			i += n
		}
		word := s[from:i]
		if !bytes.Equal(word, previous) || utf8.RuneCount(word) < 2 || mayRepeat(base, word) {
			previous, run = word, 1
			continue
		}
		if run++; run == 2 {
			if len(p) == maxMarks {
				return p
			}
			p = append(p, repeat{word: word, at: Span{from, i}})
		}
		p[len(p)-1].n = run
	}
	return p
}

// strip appends s without the placeholders of the unit's formats to a buffer.
func (r *run) strip(into []byte, s string) []byte {
	kept := 0
	for from, to := range r.holes(s) {
		into = append(into, s[kept:from]...)
		kept = to
	}
	return append(into, s[kept:]...)
}

// origins changes ascending places in the stripped text to places in s.
func (r *run) origins(s string, places []Span) {
	removed, k := 0, 0
	move := func(until int) {
		for ; k < len(places) && places[k].From < until; k++ {
			places[k].From += removed
			places[k].To += removed
		}
	}
	for from, to := range r.holes(s) {
		move(from - removed)
		removed += to - from
	}
	move(len(s) + 1)
}

// holes yields the placeholders of all the unit's formats in s.
func (r *run) holes(s string) func(yield func(from, to int) bool) {
	return func(yield func(from, to int) bool) {
		if r.flags.markers == "" {
			return
		}
		for i := 0; ; {
			n := index(s[i:], r.flags.markers)
			if n < 0 {
				return
			}
			i += n
			to := i + 1
			for _, x := range r.flags.holes {
				if p, ok := x.at(s, i); ok {
					if to = p.to; !yield(i, to) {
						return
					}
					break
				}
			}
			i = to
		}
	}
}

// lowSeparators has a bit for each character below U+10000 that separates words.
// Looking them up in the tables of Unicode took a seventh of the time of all checks
// for text that is not English.
var lowSeparators = func() (bits [1 << 16 / 64]uint64) {
	for c := range rune(utf8.RuneSelf) {
		if c <= ' ' || c == 0x7f || strings.IndexByte("([{]^`!\"#%&'*/?@\\", byte(c)) >= 0 {
			bits[c>>6] |= 1 << (c & 63)
		}
	}
	for _, table := range betweenWords() {
		for _, r := range table.R16 {
			for c := uint32(r.Lo); c <= uint32(r.Hi); c += uint32(r.Stride) {
				if c >= utf8.RuneSelf && c != '·' {
					bits[c>>6] |= 1 << (c & 63)
				}
			}
		}
	}
	return bits
}()

// betweenWords are the categories of Unicode whose characters separate words.
func betweenWords() []*unicode.RangeTable {
	return []*unicode.RangeTable{unicode.White_Space, unicode.Cc, unicode.Ps, unicode.Sk, unicode.Po}
}

// separates reports whether c separates words.
func separates(c rune) bool {
	if uint32(c) < 1<<16 {
		return lowSeparators[c>>6]&(1<<(c&63)) != 0
	}
	return unicode.In(c, betweenWords()...)
}

// mayRepeat reports whether the grammar of a language repeats a word.
func mayRepeat(base string, word []byte) bool {
	return slices.Contains([]string{"fy jo", "fy mei", "fr vous", "fr nous", "hi कर", "tr tek", "tr adım", "tr gıcır", "tr sık", "sq të"}, base+" "+string(word))
}

// languageNames are the words in names of languages, one a line, from the
// language-data project (MIT, data/LICENSE); TestLanguageNames makes the list.
//
//go:embed data/language-names.txt
var languageNames string

// untranslated are words of computing that most languages do not translate, listed
// by hand.
//
//go:embed data/untranslated.txt
var untranslated string

// kept are words that the translators of real repositories do not translate;
// TestKeptWords makes the list.
//
//go:embed data/kept.txt
var kept string

// ignoredWords is the union of the three lists, made when it is first needed.
var ignoredWords = sync.OnceValue(func() map[string]struct{} {
	words := make(map[string]struct{}, 16<<10)
	for _, list := range []string{languageNames, untranslated, kept} {
		for word := range strings.FieldsSeq(list) {
			words[word] = struct{}{}
		}
	}
	return words
})

// same fails for a translation that equals the source, unless the text needs no
// translation in any language.
func same(r *run, s, t string) hit {
	if s != t || utf8.RuneCountInString(s) <= 1 || r.set.base == r.set.source || r.set.source == "en" && r.set.base == "ia" || r.staysAsIs(s) {
		return hit{}
	}
	return hit{failed: true, source: Span{0, len(s)}, target: Span{0, len(t)}}
}

func (r *run) staysAsIs(s string) bool {
	r.source = r.strip(r.source[:0], s)
	text := string(r.source)
	if r.flags.strictSame {
		return strings.TrimSpace(text) == ""
	}
	switch note := r.unit.Note; {
	case strings.HasPrefix(note, "Tag: screen"), strings.HasPrefix(note, "Tag: indexterm"), strings.HasPrefix(note, "Tag: programlisting"):
		return true
	case utf8.RuneCountInString(strings.Trim(s, "0123456789:/,.")) <= 1:
		return true
	case strings.Contains(s, "©"), strings.Contains(strings.ToLower(s), "(c) copyright"):
		return true
	}
	text = strings.TrimSpace(markupParts.ReplaceAllString(blankEntities(text), " "))
	return utf8.RuneCountInString(text) <= 1 || isUpper(text) || r.set.wordsStay(text)
}

// domain is a name whose last label has up to six letters: that of xml.etree.ElementTree
// is longer.
const domain = `(?:[A-Za-z0-9-]+\.)+[A-Za-z]{2,6}\b`

// markupParts are linear, since what an address begins with is short: of one that does not
// end, each domain in it would read all of it.
var markupParts = regexp.MustCompile(strings.Join([]string{
	`<[A-Za-z/!?][^<>]*>`, // a tag or comment; none begins in "a < b"
	`\{[A-Za-z_-]+\}`,     // a template
	`@[A-Za-z_]+@`,
	":[A-Za-z_+.-]+:`", // a role of reStructuredText
	`#[\w-]+`,
	`(?:^|\s)/[\w/=:?.-]+`,
	`[A-Za-z0-9][A-Za-z0-9+.-]{0,30}://\S*`,
	`[A-Za-z0-9][\w+.-]{0,63}@` + domain,
	domain,
}, "|"))

// wordsStay reports whether no word of the text needs a translation.
func (s *Set) wordsStay(text string) bool {
	for word := range strings.FieldsFuncSeq(strings.ToLower(text), isNoWord) {
		if utf8.RuneCountInString(word) <= 2 {
			continue
		}
		if _, ok := ignoredWords()[word]; ok {
			continue
		}
		if _, ok := s.names[word]; !ok {
			return false
		}
	}
	return true
}

// isNoWord reports whether c separates the words that same looks at.
func isNoWord(c rune) bool {
	return unicode.IsSpace(c) || unicode.IsPunct(c) || unicode.IsSymbol(c) || unicode.IsControl(c) || unicode.IsDigit(c)
}

// isUpper reports whether all letters of s are capitals, and some are.
func isUpper(s string) bool {
	upper := false
	for _, c := range s {
		if unicode.IsLower(c) || unicode.IsTitle(c) {
			return false
		}
		upper = upper || unicode.IsUpper(c)
	}
	return upper
}

// nameWords returns the words of names.
func nameWords(names ...string) map[string]struct{} {
	words := make(map[string]struct{})
	for _, name := range names {
		for word := range strings.FieldsFuncSeq(strings.ToLower(name), isNoWord) {
			words[word] = struct{}{}
		}
	}
	return words
}
