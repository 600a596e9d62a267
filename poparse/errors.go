package poparse

import "fmt"

// A SyntaxError tells why a file cannot be read. Parse stops at the first error;
// Errors continues.
type SyntaxError struct {
	// File is the name given to Parse.
	File string
	// Line is the 1-based line.
	Line int
	// Column is the 1-based column, in characters of the decoded text.
	Column int
	// Offset counts bytes from 0 at the start of the file. For an encoding error
	// and in a UTF-8 file they are the bytes of the file (a NUL counts 3); for
	// other errors in files of other encodings, the bytes of the text converted to
	// UTF-8.
	Offset int
	// Code is one of the Err constants.
	Code string
	// Msg says what is wrong and what to do about it, without the position.
	Msg string
}

// Error returns "file:line:column: message".
func (e *SyntaxError) Error() string {
	return fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Column, e.Msg)
}

// The codes of errors. They are stable: scripts may rely on them. Errors and
// warnings have different codes. docs/check.md explains each of them.
const (
	// ErrNotPO: the file is not a PO file but HTML, an INI file, an archive, a
	// pointer of Git LFS.
	ErrNotPO = "not-po"
	// ErrConflict: the file has the markers of a merge conflict.
	ErrConflict = "merge-conflict"
	// ErrTruncated: the file ends inside an entry or a string.
	ErrTruncated = "truncated"
	// ErrCharset: the charset is unknown, or UTF-32.
	ErrCharset = "unknown-charset"
	// ErrBytes: there are bytes that are not text in the file's charset.
	ErrBytes = "invalid-bytes"
	// ErrText: there is text outside of strings and comments.
	ErrText = "unexpected-text"
	// ErrAfterString: there is text after the closing quote of a string, usually
	// because a quote inside the string has no backslash.
	ErrAfterString = "text-behind-string"
	// ErrKeyword: there is an unknown word where a keyword must be.
	ErrKeyword = "unknown-keyword"
	// ErrUnclosed: a string has no closing quote on its line.
	ErrUnclosed = "unclosed-string"
	// ErrLooseString: a string belongs to no keyword.
	ErrLooseString = "loose-string"
	// ErrNoString: a keyword has no string.
	ErrNoString = "missing-string"
	// ErrEscape: a backslash and the character after it make no escape.
	ErrEscape = "bad-escape"
	// ErrNoMsgid: there is a msgctxt, msgid_plural or msgstr without a msgid.
	ErrNoMsgid = "missing-msgid"
	// ErrNoMsgstr: an entry has no msgstr directly after its msgid.
	ErrNoMsgstr = "missing-msgstr"
	// ErrPlural: a msgstr has an index and the entry no msgid_plural or the other
	// way round, or an entry has two msgstr without index, or an index is too
	// large or not a number.
	ErrPlural = "bad-plural"
	// ErrPrevious: lines with "#|" are not a msgctxt, msgid and msgid_plural
	// directly before the msgctxt or msgid of the entry.
	ErrPrevious = "bad-previous"
	// ErrMixed: one entry or string has lines with and without "#~", or "#|".
	ErrMixed = "mixed-prefixes"
)

// A Warning is a fault in a file that can still be read.
type Warning struct {
	// Line and Column are 1-based; Column counts characters.
	Line, Column int
	// Code is one of the Warn constants.
	Code string
	// Msg says what is wrong and how it was read.
	Msg string
}

// The codes of warnings. They are stable: scripts may rely on them.
const (
	// WarnCharset: there are bytes above 0x7F and the header names no charset, or
	// ASCII; or its charset contradicts the byte order mark.
	WarnCharset = "charset"
	// WarnNUL: there is a NUL byte or escape, read as U+FFFD.
	WarnNUL = "nul"
	// WarnEscape: octal or hexadecimal escapes are not text in the file's
	// charset, and are read as U+FFFD.
	WarnEscape = "escape"
	// WarnDuplicate: a live entry is repeated; the first one counts.
	WarnDuplicate = "duplicate"
	// WarnHeader: there is a second header; the first one counts.
	WarnHeader = "second-header"
	// WarnDomain: the file has domain directives.
	WarnDomain = "domain"
	// WarnPluralIndex: plural indices are repeated, out of order or have gaps.
	WarnPluralIndex = "plural-index"
	// WarnPluralCount: a translated plural has more or fewer forms than the
	// header's nplurals.
	WarnPluralCount = "plural-count"
	// WarnPluralForms: the Plural-Forms field cannot be understood.
	WarnPluralForms = "plural-forms"
	// WarnTooMany: comments, references or flags were left out because there are
	// too many for the size of the file (see Parse).
	WarnTooMany = "too-many"
	// WarnMore: there are more warnings than are listed; this one is the last.
	WarnMore = "more"
)

// maxWarnings bounds the cost of a file with a million faults. The first ones tell
// the maintainer what is wrong.
const maxWarnings = 1000
