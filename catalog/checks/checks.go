// Package checks finds probable mistakes in translations: a missing full stop, a
// placeholder that the source does not have, a forgotten plural form.
//
// Goals: the checks of Weblate that can fail on PO files, with its rules
// (docs/compatibility.md#checks), as pure functions in one table (table.go). A
// unit without a failure, tags and placeholders costs no allocation. The time of a check is linear in
// the length of its strings, whatever they contain.
//
// Non-goals: storing results (package ingest does), finding the units that a unit
// is compared with (IsReused gets it as an argument), severity.
//
// To add a check: its row in table.go, its function in a file that
// fits, its cases in testdata/NAME.txtar, Version, then go generate.
package checks

import (
	"iter"
	"math/bits"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/repoglot/repoglot/catalog"
)

//go:generate go test . -run TestLanguageNames|TestKeptWords|TestPage|TestVersion -update

// Scope says what a check looks at.
type Scope uint8

// The scopes of checks.
const (
	ScopePair   Scope = iota // each target form with its source form
	ScopeTarget              // all forms of a target unit together
	ScopeSource              // a source unit
	ScopeAcross              // a unit and others; not part of [Set.Run]
)

// Check describes one check.
type Check struct {
	// ID is the number of the check.
	ID ID
	// Name is the identifier in the API, such as "end_stop".
	Name string
	// Title is the name for people.
	Title string
	// Description says what fails.
	Description string
	// Example is a source and a target that fail, "source → target": flags come
	// first, commas separate plural forms. For [ScopeAcross] it is a sketch of
	// several units.
	Example string
	// EnableFlag is the flag that turns on the check; "" if it is on by default.
	EnableFlag string
	// IgnoreFlag is the flag that turns off the check, for a unit or a component.
	IgnoreFlag string
	// Scope is what the check looks at.
	Scope Scope
}

// Default reports whether the check runs without a flag.
func (c Check) Default() bool { return c.EnableFlag == "" }

// String returns the name in the API; "" if no check has the number.
func (id ID) String() string {
	if int(id) >= len(table) {
		return ""
	}
	return table[id].Name
}

// ByName finds a check by its name in the API, such as "end_stop".
func ByName(name string) (ID, bool) {
	i := slices.IndexFunc(table, func(e entry) bool { return e.Name == name })
	return ID(max(i, 0)), i >= 0
}

// All returns every check, ordered by number. The caller may change the slice.
func All() []Check { return catalog.Each(table, func(e *entry) Check { return e.Check }) }

// Mask is a set of checks. The zero value is empty.
type Mask [2]uint64

// Has reports whether id is in the set.
func (m Mask) Has(id ID) bool { return id < 128 && m[id>>6]&(1<<(id&63)) != 0 }

// With returns the set with id added. Numbers from 128 on are ignored.
func (m Mask) With(id ID) Mask {
	if id < 128 {
		m[id>>6] |= 1 << (id & 63)
	}
	return m
}

// Without returns the set with id removed.
func (m Mask) Without(id ID) Mask {
	if id < 128 {
		m[id>>6] &^= 1 << (id & 63)
	}
	return m
}

// Set returns the set with id added, or else removed.
func (m Mask) Set(id ID, in bool) Mask {
	if in {
		return m.With(id)
	}
	return m.Without(id)
}

// Or returns the union of two sets.
func (m Mask) Or(o Mask) Mask { return Mask{m[0] | o[0], m[1] | o[1]} }

// And returns the intersection of two sets.
func (m Mask) And(o Mask) Mask { return Mask{m[0] & o[0], m[1] & o[1]} }

// AndNot returns the checks of m that are not in o.
func (m Mask) AndNot(o Mask) Mask { return Mask{m[0] &^ o[0], m[1] &^ o[1]} }

// IsZero reports whether the set is empty.
func (m Mask) IsZero() bool { return m == Mask{} }

// Len returns the number of checks in the set.
func (m Mask) Len() int { return bits.OnesCount64(m[0]) + bits.OnesCount64(m[1]) }

// Checks yields the checks of the set that the table has. Others are of a newer version.
func (m Mask) Checks() iter.Seq[*Check] {
	return func(yield func(*Check) bool) {
		all := All()
		for id := range m.All() {
			if int(id) >= len(all) || !yield(&all[id]) {
				return
			}
		}
	}
}

// All yields the numbers of the set, ascending.
func (m Mask) All() iter.Seq[ID] {
	return func(yield func(ID) bool) {
		for i, word := range m {
			for ; word != 0; word &= word - 1 {
				if !yield(ID(i*64 + bits.TrailingZeros64(word))) {
					return
				}
			}
		}
	}
}

// Sibling is the part of a unit that the checks across units read. The forms of
// source and target are joined (catalog.JoinForms).
type Sibling struct {
	// Source, Context and Target are the unit's texts.
	Source, Context, Target string
	// State is the unit's state.
	State catalog.State
}

// IsReused reports whether other, a unit of the same project, language and
// plural rule, has the same target for another source. forms is the rule's number
// of forms: the check does not apply to languages with one form, nor to fuzzy
// strings.
func IsReused(u, other Sibling, forms int) bool {
	return forms > 1 && u.State.Translated() && other.State.Translated() && !catalog.EmptyForms(u.Target) && u.Target == other.Target && u.Source != other.Source
}

// HasMultipleFailures reports whether a source unit fails. failures is the number
// of failing checks of all its translations.
func HasMultipleFailures(failures int) bool { return failures >= 2 }

// LongUntranslatedDays is the age in days above which a string counts as old.
const LongUntranslatedDays = 90

// IsLongUntranslated reports whether a source string is old and translated less
// than its component. days is its age; translated of its total translations are
// neither empty nor fuzzy; percent is the component's translated percentage.
func IsLongUntranslated(days, translated, total int, percent float64) bool {
	return days > LongUntranslatedDays && total > 0 && 200*float64(translated)/float64(total) < percent
}

// digits returns the position after the digits at byte i.
func digits(s string, i int) int {
	for i < len(s) && isDigit(s[i]) {
		i++
	}
	return i
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func isWord(c byte) bool { return isLetter(c) || isDigit(c) || c == '_' }

// starts fails at the first characters.
func starts(s, t string) hit {
	_, a := utf8.DecodeRuneInString(s)
	_, b := utf8.DecodeRuneInString(t)
	return hit{failed: true, source: Span{0, a}, target: Span{0, b}}
}

// ends fails at the last characters.
func ends(s, t string) hit {
	_, a := utf8.DecodeLastRuneInString(s)
	_, b := utf8.DecodeLastRuneInString(t)
	return hit{failed: true, source: Span{len(s) - a, len(s)}, target: Span{len(t) - b, len(t)}}
}

// wordRune reports whether c is a letter, a number or an underscore.
func wordRune(c rune) bool { return c == '_' || unicode.IsLetter(c) || unicode.IsNumber(c) }

// last returns the last character of s.
func last(s string) rune {
	c, _ := utf8.DecodeLastRuneInString(s)
	return c
}

// firstEntity is an HTML entity that a text begins with.
var firstEntity = regexp.MustCompile(`^&#?[0-9A-Za-z]+;`)

// entity returns the length of the HTML entity that s begins with, or 0.
func entity(s string) int {
	if !strings.HasPrefix(s, "&") {
		return 0
	}
	return len(firstEntity.FindString(s))
}
