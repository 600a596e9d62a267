package poparse

// An Entry is one message of a PO file (gettext manual, section "The Format
// of PO Files"). Its zero value is an untranslated entry with an empty msgid.
//
// The slices of an Entry have no spare capacity: appending to one copies it.
type Entry struct {
	// Line is the 1-based line of the entry's first comment or keyword.
	Line int
	// KeywordLine is the 1-based line of its msgctxt or, without one, its msgid;
	// 0 for an entry that is to be added (see File.WriteTo).
	KeywordLine int

	// Domain is the name given by the last domain directive before the entry,
	// "" before the first one.
	Domain string

	// Context is the unescaped msgctxt, "" if there is none.
	Context string
	// HasContext tells a msgctxt "" from no msgctxt.
	HasContext bool
	// HasPlural tells whether there is a msgid_plural.
	HasPlural bool
	// Fuzzy tells whether any flag line of the entry says fuzzy.
	Fuzzy bool
	// Obsolete tells whether the entry stands behind "#~".
	Obsolete bool
	// Duplicate tells that an earlier live entry of the domain has the same
	// Context, HasContext and ID. The earlier one wins (po-semantics.md);
	// never set on obsolete entries.
	Duplicate bool

	// ID is the unescaped msgid, empty only together with HasContext or Obsolete.
	ID string
	// IDPlural is the unescaped msgid_plural, "" if HasPlural is false.
	IDPlural string
	// Str has exactly one element for a singular; for a plural the forms by
	// index up to the highest index present, "" where one is missing.
	Str []string

	// Flags are the flags of "#," and "#=" lines in file order, without
	// "fuzzy" and repetitions; nil if there are none. A range is one flag,
	// "range: 0..5".
	Flags []string
	// References are the tokens of "#:" lines in file order; nil if there are
	// none. File names between U+2068 and U+2069 may hold blanks; the two
	// isolates are removed.
	References []string
	// Comments are the translator's comment lines without the "#" and one
	// following blank; nil if there are none.
	Comments []string
	// Extracted are the "#." lines without the marker and one following blank;
	// nil if there are none.
	Extracted []string

	// Previous is what "#|" and "#~|" lines say, nil if there are none.
	Previous *Previous
}

// Previous is what a fuzzy entry was a translation of: the strings of its "#|"
// lines (gettext manual, section "Fuzzy Entries").
type Previous struct {
	// Context is the previous msgctxt, "" if there is none.
	Context string
	// ID and IDPlural are the previous msgid and msgid_plural, each "" if there
	// is none.
	ID, IDPlural string
}
