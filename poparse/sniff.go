package poparse

import (
	"bytes"
	"slices"
	"strings"
)

// sniff returns an error that says what the file seems to be. at is the offset of
// text that PO does not allow; if it is not typical of another format, the result
// is nil.
func (p *parser) sniff(at int) error {
	line := p.text[at:]
	if nl := strings.IndexByte(line, '\n'); nl >= 0 {
		line = line[:nl]
	}
	line = strings.TrimRight(line, " \t\r")
	atStart := strings.TrimLeft(p.text[p.lineStart:at], " \t") == ""
	if !atStart {
		return nil
	}
	if conflictMarker(line) {
		return p.fail(ErrConflict, at, "this looks like a merge conflict (%s): resolve it and commit the file again", clip(line))
	}
	if len(p.entries) > 1 || p.file.Header != nil {
		return nil
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
	if what == "" {
		return nil
	}
	return p.fail(ErrNotPO, at, "this is not a PO file, it looks like %s", what)
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
