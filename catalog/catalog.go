// Package catalog is the domain of repoglot: projects, components, translations,
// units, changes and users, and the pure rules about them: hashes, states, word
// counts, percentages and differences.
//
// Goals: all other packages use the terms of this one; each rule of
// docs/compatibility.md that needs neither git, SQL nor HTTP is here, once.
//
// Non-goals: no storage, no wire format (package api has the JSON tags), no parsing
// of files (package poparse) and no clock.
//
// A unit is identified by its context and source. The API's id_hash has no separator
// between them and is not unique, so the store keeps a second hash (Identity); together
// they have 128 bits, and texts are never compared. A unit has two fingerprints: one of
// its target and state, one of its note, flags and previous source. Diff needs nothing else
// of stored units; a change entry is due exactly when the first one differs.
//
// Translator comments are a unit's comments, as far as the template does not have them
// (OwnComment). Without a template all of them count, since nothing says that they came
// from elsewhere. Lines are compared, so the translator's line below the programmer's is a
// comment by itself.
package catalog

import "errors"

// The errors that packages share. Wrap them with %w and add the operation and the key
// that failed; compare with errors.Is.
var (
	// ErrNotFound says that no such object exists, or that the caller may not know
	// that it exists. The API answers 404.
	ErrNotFound = errors.New("not found")
	// ErrInvalid says that an argument is malformed. The API answers 400.
	ErrInvalid = errors.New("invalid")
	// ErrConflict says that another writer was faster: a compare-and-swap found
	// another head. Nothing was written; read the state again and repeat.
	ErrConflict = errors.New("conflict")
)
