// Package lang knows the languages: codes, English names, writing direction,
// aliases and plural rules, and which language a file's code means.
//
// Goals: answer as the compatible service does (facts §2, decisions 13, 14 and
// 32), from data that is built into the binary, for any code that a file name
// can hold. Every answer is a pure function of its arguments.
//
// Non-goals: it does not find the code in a path (the filemask's business),
// does not decide which of two files of one language wins (decision 13, the
// importer's business), and keeps no state: a [Table] never changes.
//
// The files below data/ come from the language-data project, MIT, see
// data/LICENSE; plural-types.csv was computed from them, and
// recorded-names.csv holds the names that a running service was recorded with
// where the newer language-data has another one.
package lang

import (
	"slices"
	"strings"
)

// Direction of writing, as the API prints it (facts §2, rtl.csv).
const (
	// LeftToRight is the direction of most languages.
	LeftToRight = "ltr"
	// RightToLeft is the direction of Arabic, Hebrew and others.
	RightToLeft = "rtl"
)

// undetermined is the language of a code that says nothing at all.
const undetermined = "und"

// Language is one language as the API's language object shows it. The zero
// value is no language.
type Language struct {
	// Code is the code used in URLs, such as "pt_BR"; never empty in an
	// answer of this package.
	Code string
	// Name is the English name, such as "Portuguese (Brazil)".
	Name string
	// Direction is [LeftToRight] or [RightToLeft].
	Direction string
	// Aliases are other codes for the language in the order of the file
	// aliases.csv, never nil. The slice is shared: do not modify it.
	Aliases []string
	// Plural is the language's default plural rule (source 0).
	Plural Plural
}

// Table is the language table. It is immutable and safe for concurrent use;
// make it with [New].
type Table struct {
	langs    []Language          // sorted by code
	byCode   map[string]int      // exact code → index in langs
	byFold   map[string]int      // fold(code) → index in langs
	byAlias  map[string]int      // fold(alias) → index in langs
	byName   map[string]int      // lower-case English name → index in langs
	defaults map[string]struct{} // folded "ll_cc" where cc is ll's default country
	rtl      map[string]struct{} // codes written from right to left
	longest  int                 // bytes of the longest code, alias or name
}

// ByCode returns the language with exactly this code. The other result is
// false for any other spelling and for aliases; see [Table.Lookup].
func (t *Table) ByCode(code string) (Language, bool) {
	i, ok := t.byCode[code]
	if !ok {
		return Language{}, false
	}
	return t.langs[i], true
}

// Lookup returns the language that a URL means by code: its exact code, the
// same in other case or with '-' or '+' for '_', or an alias (decision 13).
// It invents nothing: an unknown code gives false.
func (t *Table) Lookup(code string) (Language, bool) {
	i, ok := t.lookup(code)
	if !ok {
		return Language{}, false
	}
	return t.langs[i], true
}

// All returns every language of the table, by code in byte order. The slice
// is the caller's own.
func (t *Table) All() []Language {
	return slices.Clone(t.langs)
}

// lookup is Lookup by index. Exact codes come first; a folded code is unique
// among the codes, which New checks.
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

// fold maps the spellings of one code to one key: lower case, with '_' for
// the '-' of BCP 47 and the '+' of Android.
func fold(code string) string {
	return separators.Replace(strings.ToLower(code))
}

// separators is immutable and safe for concurrent use.
var separators = strings.NewReplacer("-", "_", "+", "_")
