package poparse

import "fmt"

// A SyntaxError tells why a file cannot be read. Parse stops at the first one,
// Errors goes on.
type SyntaxError struct {
	// File is the name given to Parse.
	File string
	// Line is the 1-based line.
	Line int
	// Column is the 1-based column, in characters of the decoded text.
	Column int
	// Offset counts bytes from 0 at the start of the file: its own bytes for an
	// encoding error and in a UTF-8 file (where a NUL counts 3), those of the
	// text converted to UTF-8 for other errors in files of other encodings.
	Offset int
	// Code is one of the Err constants.
	Code string
	// Msg says what is wrong and what to do about it, without position.
	Msg string
}

// Error returns "file:line:column: message".
func (e *SyntaxError) Error() string {
	return fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Column, e.Msg)
}

// Codes of errors. They are stable: scripts may rely on them. No warning has the
// code of an error.
const (
	// ErrNotPO: something else under the name of a PO file: HTML, an INI file,
	// an archive, a pointer of Git LFS.
	ErrNotPO = "not-po"
	// ErrConflict: the markers of a merge conflict.
	ErrConflict = "merge-conflict"
	// ErrTruncated: the file ends inside an entry or a string.
	ErrTruncated = "truncated"
	// ErrCharset: a charset that is not known, or UTF-32.
	ErrCharset = "unknown-charset"
	// ErrBytes: bytes that are not text in the file's charset.
	ErrBytes = "invalid-bytes"
	// ErrText: text where none can be.
	ErrText = "unexpected-text"
	// ErrAfterString: text behind the closing quote of a string, mostly as a
	// quote inside of it has no backslash.
	ErrAfterString = "text-behind-string"
	// ErrKeyword: a word at the place of a keyword that is none.
	ErrKeyword = "unknown-keyword"
	// ErrUnclosed: a string without a closing quote on its line.
	ErrUnclosed = "unclosed-string"
	// ErrLooseString: a string that belongs to no keyword.
	ErrLooseString = "loose-string"
	// ErrNoString: a keyword without a string.
	ErrNoString = "missing-string"
	// ErrEscape: a backslash with a character that makes no escape.
	ErrEscape = "bad-escape"
	// ErrNoMsgid: a msgctxt, msgid_plural or msgstr without a msgid.
	ErrNoMsgid = "missing-msgid"
	// ErrNoMsgstr: an entry without a msgstr directly behind its msgid.
	ErrNoMsgstr = "missing-msgstr"
	// ErrPlural: a msgstr with an index without msgid_plural or the other way
	// round, a second one without index, or an index that cannot be.
	ErrPlural = "bad-plural"
	// ErrPrevious: lines with "#|" that are not a msgctxt, msgid and
	// msgid_plural right before those of the entry.
	ErrPrevious = "bad-previous"
	// ErrMixed: lines with and without "#~", or "#|", in one entry or string.
	ErrMixed = "mixed-prefixes"
)

// A Warning is a fault that does not keep the file from being read.
type Warning struct {
	// Line and Column are 1-based; Column counts characters.
	Line, Column int
	// Code is one of the Warn constants.
	Code string
	// Msg says what is wrong and how it was read.
	Msg string
}

// Codes of warnings. They are stable: scripts may rely on them.
const (
	// WarnCharset: bytes above 0x7F, but no charset (or ASCII) in the header;
	// or a charset that contradicts the byte order mark.
	WarnCharset = "charset"
	// WarnNUL: a NUL byte or escape, read as U+FFFD.
	WarnNUL = "nul"
	// WarnEscape: octal or hexadecimal escapes that are not text in the file's
	// charset, read as U+FFFD.
	WarnEscape = "escape"
	// WarnDuplicate: a live entry repeated; the first one wins.
	WarnDuplicate = "duplicate"
	// WarnHeader: a second header; the first one wins.
	WarnHeader = "second-header"
	// WarnDomain: the file has domain directives.
	WarnDomain = "domain"
	// WarnPluralIndex: plural indices repeated, out of order or with gaps.
	WarnPluralIndex = "plural-index"
	// WarnPluralCount: a translated plural with more or fewer forms than the
	// header's nplurals.
	WarnPluralCount = "plural-count"
	// WarnPluralForms: a Plural-Forms field that cannot be understood.
	WarnPluralForms = "plural-forms"
	// WarnTooMany: comments, references or flags were left out, as there are
	// too many for the size of the file (see Parse).
	WarnTooMany = "too-many"
	// WarnMore: the last warning of a file that has more than are listed.
	WarnMore = "more"
)

// maxWarnings bounds what a file with a million faults costs. The first ones
// tell the maintainer what is wrong.
const maxWarnings = 1000
