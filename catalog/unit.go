package catalog

import (
	"slices"
	"strings"
	"time"
)

// Unit is one string of one translation.
type Unit struct {
	// ID is component id · UnitsPerComponent + n; it stays through edits,
	// removal and return.
	ID int64
	// TranslationID is the owning translation.
	TranslationID int64
	// SourceID is the ID of the same string's unit in the source translation; for a
	// source unit its own ID.
	SourceID int64
	// Identity tells units of one translation apart.
	Identity Identity
	// Source is the msgid; plural forms joined by FormSeparator.
	Source string
	// Context is the msgctxt, "" without one.
	Context string
	// Target is the translation; the plural forms of the file joined by
	// FormSeparator. TargetForms returns the forms of the API.
	Target string
	// PreviousSource is the previous msgid of a fuzzy entry, forms joined.
	PreviousSource string
	// Note has the translator comments, then the extracted comments, one per line.
	Note string
	// TranslatorBytes is the length of the translator comments at the start of Note,
	// in bytes; 0 if they are blank.
	TranslatorBytes int
	// Comment is the part of the translator comments that the template does not
	// have (OwnComment); "" for source units. Only the store fills it in.
	Comment string
	// Flags are the flags except fuzzy, sorted and joined by ", ".
	Flags string
	// Priority is the value of the flag priority, else 100.
	Priority int
	// State is the unit's state.
	State State
	// Position is the 1-based index among the file's live entries; 0 for a removed
	// unit.
	Position int
	// Location has the references, joined by ", ".
	Location string
	// Words and Chars count the source.
	Words, Chars int
	// Failing has the failing quality checks, as the bits of a checks.Mask; zero for
	// a removed unit. Only the store fills it in.
	Failing [2]uint64
	// HasSuggestion says that another branch has another text. Only the store fills
	// it in.
	HasSuggestion bool
	// Pending says that the text is an edit that the repository does not have yet. Only
	// the store fills it in.
	Pending bool
	// Removed marks a unit that its file no longer has.
	Removed bool
	// Created is the time of the commit or pull that introduced the unit.
	Created time.Time
}

// UnitPosition is where a live unit is in its file.
type UnitPosition struct {
	// ID is the unit's id.
	ID int64
	// Position is the 1-based index among the file's live entries.
	Position int
	// Location has the references, joined by ", ".
	Location string
}

// State is the state of a unit (docs/compatibility.md#states). The numbers are part
// of the API.
type State int16

// The states a unit can have. Approved is never read from PO files.
const (
	StateEmpty      State = 0   // untranslated
	StateFuzzy      State = 10  // needs editing
	StateTranslated State = 20  // translated
	StateApproved   State = 30  // translated and approved by a reviewer
	StateReadOnly   State = 100 // not to be translated: source strings, flag read-only
)

// Fuzzy reports whether the unit needs editing.
func (s State) Fuzzy() bool { return s == StateFuzzy }

// Translated reports whether the unit counts as translated; read-only units do.
func (s State) Translated() bool { return s >= StateTranslated }

// Approved reports whether a reviewer approved the unit.
func (s State) Approved() bool { return s == StateApproved }

// OwnComment returns a unit's comment: the lines of its translator comments that the
// comments of the template's entry do not have, without blank lines at both ends. It
// is "" if only blank lines are left.
func OwnComment(comment, template string) string {
	if template == "" {
		return strings.Trim(comment, "\n")
	}
	if comment == template {
		return ""
	}
	has := strings.Split(template, "\n")
	lines := slices.DeleteFunc(strings.Split(comment, "\n"), func(line string) bool { return slices.Contains(has, line) })
	if own := strings.Join(lines, "\n"); strings.TrimSpace(own) != "" {
		return strings.Trim(own, "\n")
	}
	return ""
}

// TranslatorNote returns the translator comments of Note.
func (u *Unit) TranslatorNote() string { return u.Note[:u.TranslatorBytes] }

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
