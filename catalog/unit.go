package catalog

import "time"

// Unit is one string of one translation (read-interface, Unit).
type Unit struct {
	// ID is component id · UnitsPerComponent + n; it stays through edits,
	// removal and return.
	ID int64
	// TranslationID is the owning translation.
	TranslationID int64
	// SourceID is the unit of the same string in the source translation; its
	// own ID for a source unit.
	SourceID int64
	// Identity tells units of one translation apart.
	Identity Identity
	// Source is the msgid; plural forms joined by FormSeparator.
	Source string
	// Context is the msgctxt, "" if there is none.
	Context string
	// Target is the translation; plural forms joined by FormSeparator, as many
	// as the file has. TargetForms gives those of the API.
	Target string
	// PreviousSource is the previous msgid of a fuzzy entry, forms joined.
	PreviousSource string
	// Note holds translator comments, then extracted comments, one per line.
	Note string
	// TranslatorBytes is the number of bytes at the start of Note that are translator
	// comments; 0 if they are blank or there are none.
	TranslatorBytes int
	// Comment is what of the translator comments the template does not have
	// (OwnComment); "" for source units. Only the store's answers have it.
	Comment string
	// Flags are the flags but fuzzy, sorted and joined by ", ".
	Flags string
	// Priority is the value of the flag priority, else 100.
	Priority int
	// State is the unit's state.
	State State
	// Position is the 1-based place among the file's live entries; 0 for a
	// removed unit.
	Position int
	// Location holds the references, joined by ", ".
	Location string
	// Words and Chars count the source.
	Words, Chars int
	// Failing are the failing quality checks, the bits of a checks.Mask; zero
	// for a removed unit. Only the store's answers have it.
	Failing [2]uint64
	// HasSuggestion says that another branch has another text. Only the store's
	// answers have it.
	HasSuggestion bool
	// Removed marks a unit that is in no file any more.
	Removed bool
	// Created is when the commit or pull came that introduced the unit.
	Created time.Time
}

// UnitPosition is where a live unit is in its file.
type UnitPosition struct {
	// ID is the unit's id.
	ID int64
	// Position is the 1-based place among the file's live entries.
	Position int
	// Location holds the references, joined by ", ".
	Location string
}
