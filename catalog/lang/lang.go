// Package lang knows the languages: codes, English names, writing direction,
// aliases and plural rules, and which language a file's code means.
//
// Goals: answer as Weblate does (docs/compatibility.md#languages and
// docs/compatibility.md#plurals), from data that is built into the binary, for any
// code that a file name can have. Every answer is a pure function of its arguments.
//
// Non-goals: it does not find the code in a path (the filemask does), does not decide
// which of two files of one language counts (the import does), and keeps no state: a
// [Table] never changes.
//
// The files in data/ come from https://github.com/WeblateOrg/language-data, MIT, see
// data/LICENSE. plural-types.csv was computed from them. recorded-names.csv has the
// names that a Weblate was recorded with, where language-data now has another one.
//
// Plural formulas are evaluated by a parser of our own: gotext's ends a condition of
// Breton's formula at the wrong parenthesis, panics on n%0, which a translator can write
// into a header, and starts goroutines while it parses (TestGotextIsWrong).
package lang

import (
	"slices"
	"strings"
)

// The directions of writing, as the API has them.
const (
	// LeftToRight is the direction of most languages.
	LeftToRight = "ltr"
	// RightToLeft is the direction of Arabic, Hebrew and others.
	RightToLeft = "rtl"
)

// undetermined is the language of an empty code.
const undetermined = "und"

// Language is one language as the API's language object shows it. The zero
// value is no language.
type Language struct {
	// Code is the code in URLs, such as "pt_BR". This package never returns an
	// empty one.
	Code string
	// Name is the English name, such as "Portuguese (Brazil)".
	Name string
	// Direction is [LeftToRight] or [RightToLeft].
	Direction string
	// Aliases are other codes for the language in the order of the file
	// aliases.csv, never nil. The slice is shared: do not modify it.
	Aliases []string
	// Population is the number of people who speak the language; 0 if unknown.
	Population int
	// Plural is the language's default plural rule (source 0).
	Plural Plural
}

// Table is the language table. It is immutable and safe for concurrent use;
// make it with [New].
type Table struct {
	langs    []Language        // sorted by code
	byCode   map[string]int    // exact code → index in langs
	byFold   map[string]int    // fold(code) → index in langs
	byAlias  map[string]int    // fold(alias) → index in langs
	byName   map[string]int    // lower-case English name → index in langs
	defaults map[string]string // folded "ll_cc" where cc is ll's default country
	rtl      map[string]string // codes written from right to left
	longest  int               // bytes of the longest code, alias or name
}

// ByCode returns the language with exactly this code. It returns false for other
// spellings and for aliases; see [Table.Lookup].
func (t *Table) ByCode(code string) (Language, bool) {
	i, ok := t.byCode[code]
	if !ok {
		return Language{}, false
	}
	return t.langs[i], true
}

// Lookup returns the language for a code in a URL: its exact code, the same in other
// case or with '-' or '+' for '_', or an alias. It returns false for an unknown code.
func (t *Table) Lookup(code string) (Language, bool) {
	i, ok := t.lookup(code)
	if !ok {
		return Language{}, false
	}
	return t.langs[i], true
}

// All returns all languages of the table, sorted by code. The caller may modify the
// slice.
func (t *Table) All() []Language {
	return slices.Clone(t.langs)
}

// lookup is Lookup and returns an index. Exact codes come first. New checks that no two
// codes have the same folded form.
func (t *Table) lookup(code string) (int, bool) {
	if i, ok := t.byCode[code]; ok {
		return i, true
	}
	key := fold(code)
	if i, ok := t.byFold[key]; ok {
		return i, true
	}
	i, ok := t.byAlias[key]
	return i, ok
}

// fold returns one key for all spellings of a code: lower case, with '_' for the '-' of
// BCP 47 and the '+' of Android.
func fold(code string) string {
	return separators.Replace(strings.ToLower(code))
}

// separators is immutable and safe for concurrent use.
var separators = strings.NewReplacer("-", "_", "+", "_")

// codeSeparators end the base of a code: country and script (ll_CC, ll-CC,
// b+ll+CC), modifier (ll@formal), and the charset of a POSIX locale name
// (ll_CC.UTF-8).
const codeSeparators = "_-+@."

// BaseCode returns the language part of a code, in lower case: "pt" of
// "pt_BR", "sr" of "sr@latin". A code without separators is its own base.
func BaseCode(code string) string {
	if i := strings.IndexAny(code, codeSeparators); i >= 0 {
		code = code[:i]
	}
	return strings.ToLower(code)
}

// IsCJK reports whether words of the language are counted by characters: its base
// code is ja, zh or ko (docs/compatibility.md#words).
func IsCJK(code string) bool {
	switch BaseCode(code) {
	case "ja", "zh", "ko":
		return true
	}
	return false
}
