// Package unit makes units of the entries of PO files: identity, state, note,
// flags, location, counts of words, and the fingerprints that tell whether a
// stored unit changed.
//
//	reader.go         reads one file after the other, in the same memory
//	convert.go        one file: entries → units; All yields them to a linter
//	comments.go       note, flags and location of an entry
//	paragraphs.go     parts of a file: a push that edits few strings, a large import
//	fingerprint.go    the fields of a unit that are compared with the store
//
// Goals: the units do not depend on what a Reader read before. A replay reads the same
// strings thousands of times; keeping what was computed for them, or for the version
// before, made no real history faster.
//
// Non-goals: git, the store (package ingest), quality checks (package checks).
package unit

import (
	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/poparse"
)

// Unit is a unit as read from a file, with the fingerprints that catalog.Diff
// compares. It has no ids.
type Unit struct {
	catalog.Unit
	// Text and Meta are the fingerprints for catalog.Seen.
	Text, Meta int64

	// Single says that source and target have one form; false if that is not known.
	Single bool
}

// File is one version of a PO file as units.
type File struct {
	// Units are the live entries in file order; of repeated ones the first. A file in
	// parts has none.
	Units []Unit
	// Repeated is the number of entries that repeat an earlier one.
	Repeated int
	// RepeatedLine is the line of the first entry that repeats one, or 0.
	RepeatedLine int
	// Plural is the header's Plural-Forms; HasPlural is false without one.
	Plural    poparse.PluralForms
	HasPlural bool
	// Outline is a fingerprint of all units without their translations.
	Outline int64
	// Plain says that what is made of each paragraph depends only on it and the
	// header; see Edited.
	Plain bool
	// Data is the file as it is in the repository.
	Data []byte

	index map[catalog.Identity]int32 // of Units, made when it is needed
	items int                        // comments, references and flags of the entries
	parts *parts                     // of a file without Units
}

// Find returns the index of a unit in f.Units.
func (f *File) Find(id catalog.Identity) (int32, bool) {
	if f.index == nil {
		f.index = make(map[catalog.Identity]int32, len(f.Units))
		for i := range f.Units {
			f.index[f.Units[i].Identity] = int32(i)
		}
	}
	i, ok := f.index[id]
	return i, ok
}

// Source makes the unit of the source translation: read-only, its target is the
// source (docs/compatibility.md#source-translation).
func Source(u *Unit, h *catalog.Hasher) Unit {
	s := *u
	s.Target, s.PreviousSource, s.State = s.Source, "", catalog.StateReadOnly
	s.Text = h.Text("", s.State) // target and source are the same string: it never changes
	SetMeta(&s, h)
	return s
}
