package rest

import (
	"maps"
	"slices"
)

// FieldErrors collects the first error of each parameter.
type FieldErrors map[string]string

// Add records an error of a parameter, unless it has one already.
func (e FieldErrors) Add(field, text string) {
	if _, ok := e[field]; !ok {
		e[field] = text
	}
}

// Err returns a Problem with all errors, or nil.
func (e FieldErrors) Err() error {
	if len(e) == 0 {
		return nil
	}
	p := &Problem{Status: 400, fields: e}
	for _, field := range slices.Sorted(maps.Keys(e)) {
		p.Detail += field + ": " + e[field] + " "
	}
	return p
}
