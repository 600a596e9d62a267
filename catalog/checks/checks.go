// Package checks finds probable mistakes in translations: a missing full stop, a
// placeholder that the source does not have, a forgotten plural form.
//
// Goals: the checks of Weblate that can fail on PO files, with its rules
// (docs/compatibility.md#checks), as pure functions in one table (table.go). A
// unit without a failure costs no allocation. The time of a check is linear in
// the length of its strings, whatever they contain.
//
// Non-goals: storing results (package ingest does), finding the units that a unit
// is compared with (the functions of across.go get them as arguments), severity.
//
// To add a check: its number and row in table.go, its function in a file that
// fits, its cases in testdata/NAME.txtar, Version, then go generate.
package checks

import "slices"

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
	if id >= count {
		return ""
	}
	return table[id].name
}

// ByName finds a check by its name in the API, such as "end_stop".
func ByName(name string) (ID, bool) {
	i := slices.IndexFunc(table[:], func(e entry) bool { return e.name == name })
	return ID(max(i, 0)), i >= 0
}

// All returns every check, ordered by number. The caller may change the slice.
func All() []Check {
	all := make([]Check, 0, count)
	for i, e := range table {
		c := Check{ID: ID(i), Name: e.name, Title: e.title, Description: e.description, Example: e.example, IgnoreFlag: "ignore-" + dashed(e.name), Scope: e.scope}
		if e.off {
			c.EnableFlag = e.enabling()
		}
		all = append(all, c)
	}
	return all
}
