package poparse

import "bytes"

// A PO file is its header and its paragraphs. A paragraph begins with a comment or a
// keyword after a blank line that ends a complete entry, and goes on to the next
// beginning. What Parse makes of a text up to there does not depend on what follows, and
// it reads the text from there on as if that followed the header. So where nothing else
// leads from one paragraph to another (one domain, one header, which is the first entry,
// no comment behind a string, no repeated entry, far from the limits of a file), the
// entries of some paragraphs are what is read of the header and these.

// NextParagraph returns the first beginning of a paragraph at or after an offset, in
// bytes; -1 if there is none within 64 KiB. The header is what is before
// NextParagraph(data, 1), with comments before it and entries that no blank line parts
// from it. The charset must contain ASCII.
func NextParagraph(data []byte, at int) int {
	for end := at + paragraphReach; at < end; at++ {
		at = max(at-1, 0)
		n := bytes.IndexByte(data[at:], '\n')
		if n < 0 {
			return -1
		}
		if at += n + 1; afterBlank(data[:at]) && beginsLine(data[at:]) && endsEntry(data[:at]) {
			return at
		}
	}
	return -1
}

// paragraphReach bounds how far one beginning of a paragraph is looked for.
const paragraphReach = 64 << 10

// beginsLine reports whether a line may begin an entry.
func beginsLine(text []byte) bool {
	return len(text) > 0 && text[0] == '#' || bytes.HasPrefix(text, []byte("msgid")) || bytes.HasPrefix(text, []byte("msgctxt"))
}

// afterBlank reports whether the last line of a text, which a line feed ends, is blank.
func afterBlank(text []byte) bool {
	n := len(text) - 2
	if n > 0 && text[n] == '\r' {
		n--
	}
	return n >= 0 && text[n] == '\n'
}

// endsEntry reports whether the last line of a text that is not blank is part of a
// msgstr.
func endsEntry(text []byte) bool {
	for n := len(text); len(text) > 0 && len(text) > n-paragraphReach; {
		var line []byte
		if line, text = lastLine(text); len(line) > 0 && line[0] != '"' {
			return bytes.HasPrefix(line, []byte("msgstr"))
		}
	}
	return false
}

// lastLine returns the last line of a text, without what ends it, and what is before.
func lastLine(text []byte) (line, before []byte) {
	text = bytes.TrimSuffix(text, []byte("\n"))
	begin := 1 + bytes.LastIndexByte(text, '\n')
	return bytes.TrimSuffix(text[begin:], []byte("\r")), text[:begin]
}
