package poparse

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
	"unsafe"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

// decoded is a file converted to UTF-8.
type decoded struct {
	// text is the whole file without the byte order mark.
	text string
	// bom is the length of the byte order mark.
	bom int
	// enc is nil if the file was UTF-8 or ASCII.
	enc encoding.Encoding
	// charset is the name to use in messages.
	charset string
	// undeclared tells that no header was found, or no charset in it.
	undeclared bool
	// bigEndian is the byte order of UTF-16.
	bigEndian bool
	// withNUL is the text before its NUL characters were replaced, "" without
	// NUL.
	withNUL  string
	warnings []Warning
}

// Names of charsets that do not come from a header.
const (
	charsetASCII = "ASCII"
	charsetUTF16 = "UTF-16"
)

// replacement is what decoders write for what is invalid.
const replacement = "\uFFFD"

// holding says whether text may share the memory of the data.
type holding bool

const (
	copies holding = false // data may change later
	shares holding = true  // data never changes
)

// text returns data as a string.
func (h holding) text(data []byte) string {
	if h == shares {
		return unsafe.String(unsafe.SliceData(data), len(data))
	}
	return string(data)
}

// decode converts data to UTF-8, from the charset of the byte order mark or else of
// the header (docs/po.md#encoding).
func decode(data []byte, h holding) (decoded, *SyntaxError) {
	if d, err, ok := decodeMarked(data, h); ok {
		return d, err
	}
	name, at := declaredCharset(data)
	d, err := decodeAs(data, name, at, h)
	d.undeclared = at < 0
	return d, err
}

// decodeAs converts data from a charset, which its header names at an offset.
func decodeAs(data []byte, name string, at int, h holding) (decoded, *SyntaxError) {
	class, enc := lookupCharset(name)
	switch class {
	case charsetNone:
		return decodeUndeclared(data, name, h), nil
	case charsetUTF8:
		return decodeUTF8(data, 0, name, h)
	case charsetTable:
		text, err := decodeTable(data, enc, name)
		return decoded{text: text, enc: enc, charset: name}, err
	}
	e := encodingError(data, at, nil)
	e.Code = ErrCharset
	e.Msg = fmt.Sprintf("unknown charset %q in the header: convert the file to UTF-8 and say charset=UTF-8", clip(name))
	return decoded{}, e
}

// decodeMarked handles files that begin with a byte order mark, and UTF-16
// without one. ok is false if data is neither.
func decodeMarked(data []byte, h holding) (d decoded, err *SyntaxError, ok bool) {
	switch {
	case bytes.HasPrefix(data, []byte("\xef\xbb\xbf")):
		d, err = decodeUTF8(data, 3, "UTF-8", h)
		if err == nil {
			name, _ := declaredCharset(data[3:])
			if class, _ := lookupCharset(name); class == charsetTable || class == charsetUnknown {
				d.warnings = append(d.warnings, Warning{1, 1, WarnCharset, fmt.Sprintf(
					"the file begins with the byte order mark of UTF-8, but its header says %q: read as UTF-8", clip(name))})
			}
		}
		return d, err, true
	case bytes.HasPrefix(data, []byte{0, 0, 0xfe, 0xff}), bytes.HasPrefix(data, []byte{0xff, 0xfe, 0, 0}):
		return d, &SyntaxError{Line: 1, Column: 1, Code: ErrCharset, Msg: "the file is in UTF-32: convert it to UTF-8"}, true
	case bytes.HasPrefix(data, []byte{0xfe, 0xff}), bytes.HasPrefix(data, []byte{0xff, 0xfe}):
		d, err = decodeUTF16(data, 2, data[0] == 0xfe)
		return d, err, true
	case len(data) >= 4 && (data[0] == 0) != (data[1] == 0) && (data[0] == 0) == (data[2] == 0) && (data[1] == 0) == (data[3] == 0):
		d, err = decodeUTF16(data, 0, data[0] == 0) // every second byte is NUL
		return d, err, true
	}
	return d, nil, false
}

// decodeUndeclared decodes bytes whose header names no charset.
func decodeUndeclared(data []byte, name string, h holding) decoded {
	at := firstHigh(data)
	if at < 0 {
		return decoded{text: h.text(data), charset: charsetASCII}
	}
	first := encodingError(data, at, nil)
	said := "the header names no charset"
	if name != "" {
		said = fmt.Sprintf("the header says charset=%s", clip(name))
	}
	if firstInvalid(data) < 0 {
		return decoded{text: h.text(data), charset: "UTF-8", warnings: []Warning{{
			first.Line, first.Column, WarnCharset, said + ", but there are bytes above 0x7F: read as UTF-8",
		}}}
	}
	text, _ := decodeTable(data, charmap.ISO8859_1, name) // every byte is a character
	return decoded{text: text, enc: charmap.ISO8859_1, charset: "ISO-8859-1", warnings: []Warning{{
		first.Line, first.Column, WarnCharset, said + ", and the bytes above 0x7F are not UTF-8: read as ISO-8859-1",
	}}}
}

func decodeUTF8(data []byte, bom int, name string, h holding) (decoded, *SyntaxError) {
	rest := data[bom:]
	if at := firstInvalid(rest); at >= 0 {
		e := encodingError(rest, at, nil)
		e.Offset += bom
		e.Msg = invalidByte(rest[at:], nil, name)
		return decoded{}, e
	}
	return decoded{text: h.text(rest), bom: bom, charset: name}, nil
}

// invalidByte returns a message about the first byte of rest, the end of a file,
// which is not valid; enc is nil for UTF-8.
func invalidByte(rest []byte, enc encoding.Encoding, charset string) string {
	if beginsCharacter(rest, enc) {
		return fmt.Sprintf("the file ends inside a character of %s, after byte 0x%02X: is it truncated?", clip(charset), rest[len(rest)-1])
	}
	return fmt.Sprintf("byte 0x%02X is not valid %s here: correct the byte, or the charset in the header", rest[0], clip(charset))
}

// beginsCharacter reports whether rest is the beginning of a character whose end is
// missing.
func beginsCharacter(rest []byte, enc encoding.Encoding) bool {
	if len(rest) >= utf8.UTFMax { // the longest character of any charset
		return false
	}
	if enc == nil {
		return !utf8.FullRune(rest)
	}
	_, n, err := enc.NewDecoder().Transformer.Transform(make([]byte, utf8.UTFMax), rest, false)
	return n == 0 && errors.Is(err, transform.ErrShortSrc)
}

// utf16 reports whether the file was in UTF-16.
func (d *decoded) utf16() bool { return d.charset == charsetUTF16 }

// decodeUTF16 converts UTF-16. Its decoder writes U+FFFD for what is invalid.
func decodeUTF16(data []byte, bom int, bigEndian bool) (decoded, *SyntaxError) {
	order := unicode.LittleEndian
	if bigEndian {
		order = unicode.BigEndian
	}
	enc := unicode.UTF16(order, unicode.IgnoreBOM)
	out, _ := enc.NewDecoder().Bytes(data[bom:])
	if bytes.Contains(out, []byte(replacement)) {
		back, _ := enc.NewEncoder().Bytes(out)
		if n := commonPrefix(back, data[bom:]) &^ 1; bom+n < len(data) {
			before, _ := enc.NewDecoder().Bytes(data[bom : bom+n])
			e := encodingError(before, len(before), nil)
			e.Offset = bom + n
			e.Msg = "this is not valid UTF-16: the file is truncated, or an editor or a filter spoilt it; convert it to UTF-8"
			return decoded{}, e
		}
	}
	return decoded{text: shares.text(out), enc: enc, charset: charsetUTF16, bom: bom, bigEndian: bigEndian}, nil
}

// commonPrefix is the number of bytes that two texts have in common at their start.
func commonPrefix(a, b []byte) (n int) {
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}

// decodeTable converts data from an encoding of x/text. Its decoders write U+FFFD
// for invalid bytes.
func decodeTable(data []byte, enc encoding.Encoding, name string) (string, *SyntaxError) {
	most := countHigh(data) / 2 // two bytes make three
	if _, single := enc.(*charmap.Charmap); single {
		most = 2 * countHigh(data)
	}
	out := make([]byte, 0, len(data)+most+utf8.UTFMax)
	dec := enc.NewDecoder().Transformer
	for at, full := 0, true; full; {
		out = slices.Grow(out, utf8.UTFMax) // a few characters have one byte, and three in UTF-8
		nDst, nSrc, err := dec.Transform(out[len(out):cap(out)], data[at:], true)
		out, at, full = out[:len(out)+nDst], at+nSrc, errors.Is(err, transform.ErrShortDst)
	}
	if bad := invalidIn(data, out, enc); bad >= 0 {
		e := encodingError(data, bad, enc)
		e.Msg = invalidByte(data[bad:], enc, name)
		return "", e
	}
	return shares.text(repertoireOf(name, enc).read(out)), nil
}

// invalidIn returns the index of the first invalid bytes of src, or -1. out is src
// decoded.
func invalidIn(src, out []byte, enc encoding.Encoding) int {
	for passed := 0; ; {
		n := bytes.Index(out, []byte(replacement))
		if n < 0 {
			return -1
		}
		// at is the number of bytes that decode to the text up to here.
		_, at, _ := enc.NewDecoder().Transformer.Transform(make([]byte, n), src, true)
		if enc != simplifiedchinese.GB18030 || !bytes.HasPrefix(src[at:], []byte{0x84, 0x31, 0xa4, 0x37}) {
			return passed + at
		}
		at += 4 // U+FFFD itself
		passed, src, out = passed+at, src[at:], out[n+len(replacement):]
	}
}

// encodingError returns an error without message for the byte at an offset; enc is
// nil for UTF-8.
func encodingError(data []byte, offset int, enc encoding.Encoding) *SyntaxError {
	offset = max(offset, 0)
	start := bytes.LastIndexByte(data[:offset], '\n') + 1
	before := data[start:offset]
	if enc != nil {
		if text, err := enc.NewDecoder().Bytes(before); err == nil {
			before = text
		}
	}
	return &SyntaxError{
		Line:   1 + bytes.Count(data[:start], []byte("\n")),
		Column: 1 + utf8.RuneCount(before),
		Offset: offset,
		Code:   ErrBytes,
	}
}

// replaceNUL replaces NUL by U+FFFD: C programs, including gettext's, end a string
// at NUL, and PostgreSQL cannot store it.
func (d *decoded) replaceNUL() {
	if strings.IndexByte(d.text, 0) < 0 {
		return
	}
	line, column := 1, 0
	for _, r := range d.text {
		column++
		switch r {
		case '\n':
			line, column = line+1, 0
		case 0:
			if len(d.warnings) <= maxWarnings {
				d.warnings = append(d.warnings, Warning{line, column, WarnNUL, "NUL byte: read as U+FFFD"})
			}
		}
	}
	d.withNUL = d.text
	d.text = strings.ReplaceAll(d.text, "\x00", "\uFFFD")
}

// clip shortens a text of the file for a message and makes it printable.
func clip(s string) string {
	const limit = 40
	s = strings.Map(func(r rune) rune {
		if r < 0x20 || r == 0x7f || r == utf8.RuneError {
			return '.'
		}
		return r
	}, s[:min(len(s), 4*limit)])
	if r := []rune(s); len(r) > limit {
		return string(r[:limit]) + "…"
	}
	return s
}
