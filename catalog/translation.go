package catalog

import "time"

// Translation is one language of one component (read-interface, Translation).
type Translation struct {
	// ID is assigned once and never reused.
	ID int64
	// ComponentID is the component's id.
	ComponentID int64
	// Language is the code in URLs: that of the matched language, or for a
	// second file of one language the file's own code (decision 13).
	Language string
	// FileCode is the code as found in the file's name: language_code.
	FileCode string
	// Filename is the file's path in the repository.
	Filename string
	// Revision is the git blob id of the file whose strings are served
	// (decision 12), 40 hexadecimal digits.
	Revision string
	// IsSource marks the source-language translation (decision 11).
	IsSource bool
	// Removed marks a translation whose file is gone; it answers 404.
	Removed bool
	// PluralNumber is the number of plural forms of a target, at least 1.
	PluralNumber int
	// PluralFormula chooses the form; "0" where there is one.
	PluralFormula string
	// Outline fingerprints the file's strings without their translations: the
	// source translation changes only if an outline does.
	Outline int64
	// Stats are the statistics of the live units.
	Stats Stats
	// Checked is what the units were checked with, "" if they were not (ingest
	// gives it its form). The store sets it as it sets Stats.Failing, by
	// StepTx.SetChecked and SetFailing alone.
	Checked string
	// Changes is the number of change entries of the translation's strings.
	Changes int64
	// RecentChanges is how many of them are of the RecentSpan that ends with
	// LastChange.
	RecentChanges int64
	// LastChange is the time of the newest of them; zero if there is none.
	LastChange time.Time
	// LastAuthor is the full name of its git author; "" if there is none.
	LastAuthor string
}

// RecentSpan is the time before the newest change entry whose entries count as
// recent_changes (weblate-facts §6, Statistics).
const RecentSpan = 6 * time.Hour
