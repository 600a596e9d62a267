package catalog

import "time"

// Translation is one language of one component.
type Translation struct {
	// ID is assigned once and never reused.
	ID int64
	// ComponentID is the component's id.
	ComponentID int64
	// Language is the code in URLs: the code of the matched language, or for a
	// second file of one language the file's own code
	// (docs/compatibility.md#languages).
	Language string
	// FileCode is the code in the file's name: language_code.
	FileCode string
	// Filename is the file's path in the repository.
	Filename string
	// Revision is the git blob id of the file whose strings are served, 40
	// hexadecimal digits (docs/compatibility.md#revisions).
	Revision string
	// IsSource marks the source-language translation
	// (docs/compatibility.md#source-translation).
	IsSource bool
	// Removed marks a translation whose file has been removed; it answers 404.
	Removed bool
	// PluralNumber is the number of plural forms of a target, at least 1.
	PluralNumber int
	// PluralFormula chooses the form; it is "0" for one form.
	PluralFormula string
	// Outline is a fingerprint of the file's strings without their translations:
	// the source translation changes only if an outline changes.
	Outline int64
	// HasTemplate says of a source translation that it is made from a file of its own,
	// the component's template.
	HasTemplate bool
	// Stats are the statistics of the live units.
	Stats Stats
	// Against compares the live units with the template. The store counts it.
	Against Against
	// Checked is the version of the checks and settings that the units were
	// checked with, "" before that; package ingest defines its form. Only
	// StepTx.SetChecked and SetFailing change it.
	Checked string
	// Changes is the number of change entries of the translation's strings.
	Changes int64
	// RecentChanges is the number of those in the RecentSpan that ends at
	// LastChange.
	RecentChanges int64
	// LastChange is the time of the newest change entry, zero without one.
	LastChange time.Time
	// LastAuthor is the full name of its git author, "" without one.
	LastAuthor string
}

// Strings counts the strings of a source translation that people are to translate: those
// of the template, or without one those of all files together.
func (t *Translation) Strings() Count {
	n := t.Stats.Total
	if t.HasTemplate {
		n.Units, n.Words = n.Units-t.Against.Extra, n.Words-t.Against.ExtraWords
	}
	return n
}

// RecentSpan is the time before the newest change entry in which entries count as
// recent_changes (docs/compatibility.md#statistics).
const RecentSpan = 6 * time.Hour
