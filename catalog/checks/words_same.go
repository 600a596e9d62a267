package checks

import (
	_ "embed"
	"regexp"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/repoglot/repoglot/catalog/lang"
)

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
	text = strings.TrimSpace(withoutMarkup(text))
	return utf8.RuneCountInString(text) <= 1 || isUpper(text) || r.set.wordsStay(text)
}

// withoutMarkup replaces the parts of a text that no language translates by
// blanks: entities, tags, templates, addresses, paths and names of roles.
func withoutMarkup(s string) string { return markupParts.ReplaceAllString(blankEntities(s), " ") }

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

// sourceBase returns the source language without its country; English for "".
func sourceBase(code string) string {
	if code == "" {
		return "en"
	}
	return lang.BaseCode(code)
}
