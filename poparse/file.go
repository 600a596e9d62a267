// Package poparse reads PO and POT files, the translation files of GNU
// gettext, into entries with position, flags and comments, and writes them back.
//
// Goals: read every file that GNU gettext 0.21 to 0.25 reads (gettext manual,
// section "The Format of PO Files") and keep everything that a catalog can use;
// decide in one documented way where parsers differ (docs/po.md); say exactly
// where and why a file cannot be read; stay bounded in time and memory on hostile
// input; be fast, as a server imports millions of entries; write a file so that
// only the changed parts differ, in the form of gettext's msgcat.
//
// Non-goals: translation lookup, plural evaluation, knowledge of repositories,
// languages or quality checks. Encodings that do not contain ASCII, except UTF-16,
// are refused.
//
// # How it works
//
// [Parse] decodes the whole file first, because a trail byte of CP932 or Big5
// can look like a backslash, and scans the text by index. A string on one line
// without escapes is a substring of that text; all other strings are built in
// shared chunks. So every string of a [File] may keep the whole text alive: clone
// the strings that must outlive it. Entries are in blocks of about a hundred, and
// each has room for one translation; a block is cleared just before it is filled.
// A [Reader] uses blocks again, and uses UTF-8 input without a copy.
//
// [Errors] reads a broken file again, slowly, and continues after each error at
// the next entry.
//
// [File.WriteTo] reads the text again and records where all entries are. It
// compares them with the File, and writes the bytes read for the parts that are
// equal. So a File has no bookkeeping and is changed by assignment. Package
// linebreak wraps lines as gettext does.
//
// Where this package and gettext differ is in docs/po.md#differences-from-gettext.
//
// What follows from an error is left out rather than guessed: one fault, one finding. A
// test compares the line of our first error with msgfmt's on 20,000 spoilt files.
//
// New lines are broken as the file's other entries are: up to 200 entries that can tell are
// written in about twenty styles, gettext's first, and the style that gives most of them
// back is taken.
package poparse

import (
	"iter"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/repoglot/repoglot/poparse/plural"
)

// A File is a PO or POT file, read by Parse or made by hand to be written. Its
// methods do not change it, so any number of goroutines may use it at once.
type File struct {
	// Name is the name given to Parse.
	Name string
	// Charset is the charset as the header spells it, "" if it names none. The
	// strings of the File are UTF-8 whatever it says.
	Charset string
	// Domain is the domain whose entries a catalog takes (docs/po.md#domains): ""
	// if there is no domain directive or there are entries before the first
	// one, else the name in the first directive.
	Domain string
	// Header is the entry with an empty msgid and no msgctxt: the first one of
	// Domain, else the first one of the file, nil without one.
	Header *Entry
	// OtherHeaders are the headers of other domains and the repeated headers.
	OtherHeaders []*Entry
	// Entries are all entries except headers, in file order. They include
	// obsolete entries, duplicates, and the entries of all domains.
	Entries []*Entry
	// Warnings are in file order, at most about a thousand.
	Warnings []Warning
	// CommentsBehind says that a comment is behind a string, on its line: it belongs to
	// the next entry.
	CommentsBehind bool
	// NoWrap breaks the strings that are written after line feeds only, as the option
	// --no-wrap of gettext's programs does.
	NoWrap bool

	// source is what Parse read, nil for a File made by hand.
	source *source
}

// Live yields the entries that a catalog takes, in file order: the entries of
// Domain that are neither obsolete nor duplicates.
func (f *File) Live() iter.Seq[*Entry] {
	return func(yield func(*Entry) bool) {
		for _, e := range f.Entries {
			if !e.Obsolete && !e.Duplicate && e.Domain == f.Domain && !yield(e) {
				return
			}
		}
	}
}

// Field returns the value of a header field, such as "Language", without
// surrounding blanks. Case does not matter. It returns "" without a header or such
// a field. If a field is repeated, the first one counts.
func (f *File) Field(name string) string {
	if f.Header == nil || len(f.Header.Str) == 0 {
		return ""
	}
	return headerField(f.Header.Str[0], name)
}

func headerField(header, name string) string {
	ascii := name != "" && name[0] < utf8.RuneSelf
	for line := range strings.Lines(header) {
		if ascii && isLetter(line[0]) && line[0]|0x20 != name[0]|0x20 {
			continue // most lines
		}
		key, value, ok := strings.Cut(line, ":")
		if ok && strings.EqualFold(strings.TrimSpace(key), name) {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// charsetOf returns the name after "charset=" in a header's text, "" without one.
func charsetOf(header string) string {
	from, to := charsetIn(header, strings.IndexByte)
	return header[from:to]
}

// charsetIn returns where the name after "charset=" is in a header's text, or 0 and
// 0. Like gettext (po-charset.c) it searches the whole header, but without regard to
// case.
func charsetIn[T string | []byte](header T, indexByte func(T, byte) int) (from, to int) {
	const key = "charset"
	for i := 0; ; i++ {
		n := indexByte(header[i:], '=')
		if n < 0 {
			break
		}
		i += n
		if i < len(key) || !strings.EqualFold(string(header[i-len(key):i]), key) {
			continue
		}
		for to = i + 1; to < len(header) && strings.IndexByte(blanks+"\n\"\\;", header[to]) < 0; to++ {
		}
		return i + 1, to
	}
	return 0, 0
}

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
	// number counts the entries of the file up to this one, headers among them.
	number int

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

// Equal reports whether two are the same; nil is none.
func (p *Previous) Equal(o *Previous) bool { return p == o || p != nil && o != nil && *p == *o }

// PluralForms is the header field Plural-Forms (gettext manual, section "Additional
// functions for plural forms").
type PluralForms struct {
	// Number is nplurals, from 1 to 32.
	Number int
	// Expression is the C expression in n after "plural=", without the semicolon
	// and the blanks around it. Its syntax is valid; it may still divide by zero
	// or give an index of Number or more.
	Expression string
}

const (
	// maxPlurals bounds the cost of msgstr[4000000000]; no language has more
	// than six forms.
	maxPlurals = 32
	// maxExpression bounds a hostile plural expression. The longest in use (Arabic, Cornish)
	// have about 200 characters.
	maxExpression = 2000
)

// PluralForms returns the number of plural forms and the expression of the header.
// It returns false if the field is missing, invalid, or still has the placeholders
// INTEGER and EXPRESSION of a POT.
func (f *File) PluralForms() (PluralForms, bool) {
	var none PluralForms
	rest, _ := afterAssign(f.Field("Plural-Forms"), "nplurals")
	digits, rest, _ := strings.Cut(rest, ";")
	n, err := strconv.Atoi(strings.TrimSpace(digits))
	if err != nil || n < 1 || n > maxPlurals {
		return none, false
	}
	rest, ok := afterAssign(rest, "plural")
	expr, _, _ := strings.Cut(rest, ";")
	expr = strings.TrimSpace(expr)
	if !ok || len(expr) > maxExpression {
		return none, false
	}
	if _, err := plural.Compile(expr); err != nil {
		return none, false
	}
	return PluralForms{Number: n, Expression: expr}, true
}

// afterAssign returns what follows "key =" in s.
func afterAssign(s, key string) (string, bool) {
	i := strings.Index(s, key)
	if i < 0 {
		return "", false
	}
	s = strings.TrimLeft(s[i+len(key):], " \t")
	if !strings.HasPrefix(s, "=") || strings.HasPrefix(s, "==") {
		return "", false
	}
	return s[1:], true
}
