// Package checks finds what is probably wrong with a translation: a full stop
// that went missing, a placeholder that the source does not have, a plural
// form that was forgotten.
//
// Goals: the checks of the compatible service that can fire on PO files, with
// its rules (facts §11), as pure functions behind one table ([All]). A unit
// without a failure costs no allocation; every check is linear in the length
// of its strings, whatever they hold.
//
// Non-goals: it stores nothing (the import does), knows no neighbours of a
// unit (the functions of across.go get them as arguments) and no severity.
package checks

import (
	"slices"
)

// Scope says what a check looks at.
type Scope uint8

// The scopes of checks.
const (
	ScopePair   Scope = iota // each target form with its source form
	ScopeTarget              // all forms of a target unit together
	ScopeSource              // a source unit
	ScopeAcross              // other units, too: not part of [Set.Run]
)

// Check describes one check.
type Check struct {
	// ID is the check's number.
	ID ID
	// Name is the identifier of the API, such as "end_stop".
	Name string
	// Title is the name for people.
	Title string
	// Description says what fails.
	Description string
	// Example is a source and target that fail, "source → target", forms parted
	// by commas, flags in front; a sketch of several units where one cannot show
	// it ([ScopeAcross]).
	Example string
	// EnableFlag turns on a check that is off by default, else "".
	EnableFlag string
	// IgnoreFlag turns the check off for a unit or component.
	IgnoreFlag string
	// Scope is what the check looks at.
	Scope Scope
}

// Default reports whether the check runs without a flag.
func (c Check) Default() bool { return c.EnableFlag == "" }

// String is the name in the API; "" for a number that is no check.
func (id ID) String() string {
	if id >= count {
		return ""
	}
	return table[id].name
}

// ByName finds the check of an API name, such as "end_stop".
func ByName(name string) (ID, bool) {
	i := slices.IndexFunc(table[:], func(e entry) bool { return e.name == name })
	return ID(max(i, 0)), i >= 0
}

// All lists every check by number. The slice is the caller's.
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
