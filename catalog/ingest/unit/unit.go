// Package unit makes units of the entries of PO files: identity, state, note,
// flags, location, counts of words, and the fingerprints that tell whether a
// stored unit changed.
//
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
	"slices"
	"strings"

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
	// header; see ReadPartial.
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

// Missing makes the unit of a string that a file lacks, of its source translation's: as it
// would be with an entry of the template, but that its state says that there is none.
func (r *Rules) Missing(source *catalog.Unit) catalog.Unit {
	u := *source
	u.ID, u.SourceID, u.Target, u.PreviousSource, u.State, u.Removed, u.Failing = 0, source.ID, "", "", catalog.StateAbsent, true, [2]uint64{}
	const eot = "\x04" // for which gettext would refuse the whole file
	if r.readOnly || slices.Contains(strings.Split(u.Flags, ", "), "read-only") || strings.Contains(u.Source, eot) || strings.Contains(u.Context, eot) {
		u.State = catalog.StateReadOnly
	}
	return u
}

// A Reader reads many files, one after the other, in the same memory. It belongs to one
// goroutine. Its zero value is ready to use. A nil Reader reads each file alone.
type Reader struct{ parser poparse.Reader }

// Read makes units of a PO file. name is used in errors. data must not be changed as
// long as the File is in use, or the Reader. The error is a *poparse.SyntaxError.
func (r *Reader) Read(name string, data []byte, rules Rules) (*File, error) {
	parse := poparse.Parse
	if r != nil {
		parse = r.parser.Parse
	}
	f, err := parse(name, data)
	if err != nil {
		return nil, err
	}
	out, ok := convert(f, data, rules, partStart{}, false)
	if !ok {
		out, _ = convert(f, data, rules, partStart{}, true)
	}
	return out, nil
}

// Rules are the settings of a component that decide how entries are read. The
// zero value is not usable; see NewRules.
type Rules struct {
	cjk      bool // the source language counts words by character
	readOnly bool // the component's flags contain read-only
	priority int  // of the component's flags, else 100
}

// defaultPriority is the priority of a unit that no flag gives another one.
const defaultPriority = 100

// NewRules makes the rules of a component from its check flags, which are
// separated by commas, and from how its source language counts words
// (lang.IsCJK).
func NewRules(checkFlags string, cjk bool) Rules {
	var list []string
	for flag := range strings.SplitSeq(checkFlags, ",") {
		if flag = strings.TrimSpace(flag); flag != "" {
			list = append(list, flag)
		}
	}
	return Rules{cjk: cjk, readOnly: slices.Contains(list, "read-only"), priority: priority(list, defaultPriority)}
}

// state returns the state of an entry. One whose first form is empty is
// untranslated, whatever its flags say (docs/po.md#states).
func (r *Rules) state(e *poparse.Entry) catalog.State {
	switch {
	case r.readOnly || slices.Contains(e.Flags, "read-only"):
		return catalog.StateReadOnly
	case len(e.Str) == 0 || e.Str[0] == "":
		return catalog.StateEmpty
	case e.Fuzzy:
		return catalog.StateFuzzy
	default:
		return catalog.StateTranslated
	}
}
