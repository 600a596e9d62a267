package poparse

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
)

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

// sniff says what the file seems to be. at is the offset of text that PO does not allow; if
// it is not typical of another format, the result is false.
func (p *parser) sniff(at int) bool {
	line, _, _ := strings.Cut(p.text[at:], "\n")
	line = strings.TrimRight(line, " \t\r")
	if strings.TrimLeft(p.text[p.lineStart:at], " \t") != "" {
		return false
	}
	if conflictMarker(line) {
		p.fail(ErrConflict, at, "this looks like a merge conflict (%s): resolve it and commit the file again", clip(line))
		return true
	}
	if len(p.entries) > 1 || p.file.Header != nil {
		return false
	}
	what := ""
	switch lower := strings.ToLower(line[:min(len(line), 100)]); {
	case strings.HasPrefix(lower, "<!doctype html"), strings.HasPrefix(lower, "<html"), strings.HasPrefix(lower, "<head"):
		what = "an HTML page, perhaps the error page of a server"
	case strings.HasPrefix(lower, "<?xml"), strings.HasPrefix(lower, "<"):
		what = "XML or HTML"
	case strings.HasPrefix(lower, `{\rtf`):
		what = "an RTF document"
	case isJSON(lower):
		what = "JSON"
	case strings.HasPrefix(lower, "[") && strings.HasSuffix(lower, "]"):
		what = "an INI file"
	case strings.HasPrefix(line, "version https://git-lfs"):
		what = "a pointer of Git LFS, not the file itself"
	case strings.HasPrefix(lower, "from ") && strings.Contains(lower, "@"), isMailHeader(lower):
		what = "a mail, or has a mail's header before the first entry"
	}
	if what != "" {
		p.fail(ErrNotPO, at, "this is not a PO file, it looks like %s", what)
	}
	return what != ""
}

// isJSON reports whether a line begins like an object, or an array of values that
// are not plain words, which the head of an INI file's section is.
func isJSON(line string) bool {
	if line == "" || line[0] != '{' && line[0] != '[' {
		return false
	}
	next := strings.TrimLeft(line[1:], " \t")
	return next == "" || next[0] == '"' || next[0] == '{' || next[0] == '[' || next[0] == line[0]+2 // the closing one
}

// conflictMarker reports whether a line begins like a conflict marker of git.
func conflictMarker(line string) bool {
	return strings.HasPrefix(line, "<<<<<<<") || strings.HasPrefix(line, "=======") ||
		strings.HasPrefix(line, ">>>>>>>") || strings.HasPrefix(line, "|||||||")
}

func isMailHeader(lower string) bool {
	name, _, ok := strings.Cut(lower, ":")
	return ok && slices.Contains([]string{"from", "to", "subject", "date", "received", "return-path", "message-id"}, name)
}

// sniffBinary returns the kind of binary file that data seems to be, "" for text.
func sniffBinary(data []byte) string {
	if len(data) > 0 && (data[0] == '#' || data[0] == 'm') && !hasControls(data[:min(len(data), 1024)]) {
		return ""
	}
	for _, known := range []struct{ magic, what string }{
		{"\xde\x12\x04\x95", "a compiled catalog (.mo)"},
		{"\x95\x04\x12\xde", "a compiled catalog (.mo)"},
		{"\x7fELF", "a program"},
		{"\x1f\x8b", "a gzip archive"},
		{"PK\x03\x04", "a ZIP archive"},
		{"\x28\xb5\x2f\xfd", "a Zstandard archive"},
		{"\xfd7zXZ\x00", "an XZ archive"},
		{"BZh9", "a bzip2 archive"},
		{"\x89PNG", "a PNG image"},
		{"\xff\xd8\xff", "a JPEG image"},
		{"GIF8", "a GIF image"},
		{"%PDF-", "a PDF document"},
	} {
		if bytes.HasPrefix(data, []byte(known.magic)) {
			return known.what
		}
	}
	if hasControls(data[:min(len(data), 1024)]) {
		return "a binary file"
	}
	return ""
}

// hasControls reports whether data has too many control characters to be text. The
// ones that text may have do not count.
func hasControls(head []byte) bool {
	const text = 1<<'\t' | 1<<'\n' | 1<<'\v' | 1<<'\f' | 1<<'\r' | 1<<'\x1b'
	control := 0
	for _, c := range head {
		if c < 0x20 && text>>c&1 == 0 {
			control++
		}
	}
	return control*10 > len(head) && !bytes.Contains(head, []byte("msgid"))
}
