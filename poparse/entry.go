package poparse

// An Entry is one message of a PO file (gettext manual, section "The Format
// of PO Files"). Its zero value is an untranslated entry with an empty msgid.
//
// The slices of an Entry have no spare capacity: appending to one copies it.
type Entry struct {
	// Line is the 1-based line of the entry's first comment or keyword.
	Line int
	// KeywordLine is the 1-based line of its msgctxt or, without one, its msgid;
	// 0 for a new entry (see File.WriteTo).
	KeywordLine int

	// Domain is the name given by the last domain directive before the entry,
	// "" before the first one.
	Domain string

	// Context is the unescaped msgctxt, "" without one.
	Context string
	// HasContext tells a msgctxt "" from no msgctxt.
	HasContext bool
	// HasPlural tells whether the entry has a msgid_plural.
	HasPlural bool
	// Fuzzy tells whether any flag line of the entry says fuzzy.
	Fuzzy bool
	// Obsolete tells whether the lines of the entry begin with "#~".
	Obsolete bool
	// Duplicate tells that an earlier live entry of the domain has the same
	// Context, HasContext and ID. The earlier one counts
	// (docs/po.md#duplicates). Obsolete entries are never duplicates.
	Duplicate bool

	// ID is the unescaped msgid. It is empty only if HasContext or Obsolete is set.
	ID string
	// IDPlural is the unescaped msgid_plural, "" if HasPlural is false.
	IDPlural string
	// Str has exactly one element for a singular. For a plural it has the forms
	// by index, up to the highest index in the file, and "" for missing ones.
	Str []string

	// Flags are the flags of "#," and "#=" lines in file order, without "fuzzy"
	// and repetitions; nil without flags. A range is one flag, "range: 0..5".
	Flags []string
	// References are the tokens of "#:" lines in file order; nil without them.
	// File names between U+2068 and U+2069 may have blanks; these two characters
	// are removed.
	References []string
	// Comments are the translator's comment lines without "#" and one blank
	// after it; nil without comments.
	Comments []string
	// Extracted are the "#." lines without the marker and one blank after it; nil
	// without such lines.
	Extracted []string

	// Previous has the strings of "#|" and "#~|" lines, nil without such lines.
	Previous *Previous
}

// Previous has the source strings that a fuzzy entry once translated, from its
// "#|" lines (gettext manual, section "Fuzzy Entries").
type Previous struct {
	// Context is the previous msgctxt, "" without one.
	Context string
	// ID and IDPlural are the previous msgid and msgid_plural, each "" if
	// missing.
	ID, IDPlural string
}
