package poparse

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
)

// decodeLossy converts data to UTF-8 as decode does, and replaces each invalid byte
// by U+FFFD. It returns an error for the first invalid bytes of each line. The text
// is empty if data cannot be decoded at all.
func decodeLossy(data []byte) (decoded, []*SyntaxError) {
	d, e := decode(data, copies)
	if e == nil {
		return d, nil
	}
	bom := 0
	if bytes.HasPrefix(data, []byte("\xef\xbb\xbf")) {
		bom = 3
	}
	name, _ := declaredCharset(data[bom:])
	class, enc := lookupCharset(name)
	switch {
	case e.Code != ErrBytes:
		return decoded{}, []*SyntaxError{e}
	case bom > 0 || class == charsetUTF8:
		enc = nil
	case class != charsetTable: // UTF-16
		return decoded{}, []*SyntaxError{e}
	}
	if bom > 0 {
		name = "UTF-8"
	}
	text, list := replaceInvalid(data, bom, enc, name)
	return decoded{text: text, bom: bom, enc: enc, charset: name}, list
}

// replaceInvalid decodes data line by line: in none of the charsets is a line feed
// a part of another character.
func replaceInvalid(data []byte, bom int, enc encoding.Encoding, name string) (string, []*SyntaxError) {
	var text strings.Builder
	var list []*SyntaxError
	for at := bom; at < len(data); {
		line := data[at:]
		if nl := bytes.IndexByte(line, '\n'); nl >= 0 {
			line = line[:nl+1]
		}
		out, bad := replaceInLine(line, enc, name)
		text.WriteString(out)
		if bad >= 0 && len(list) <= MaxErrors {
			e := encodingError(data[bom:], at-bom+bad, enc)
			e.Offset += bom
			e.Msg = invalidByte(data[at+bad:], enc, name)
			list = append(list, e)
		}
		at += len(line)
	}
	return text.String(), list
}

// replaceInLine decodes a line and returns the index of its first invalid byte, or
// -1.
func replaceInLine(line []byte, enc encoding.Encoding, name string) (text string, bad int) {
	if enc == nil {
		if bad = firstInvalid(line); bad < 0 {
			return string(line), bad
		}
		var b strings.Builder
		for i := 0; i < len(line); {
			r, n := utf8.DecodeRune(line[i:])
			b.WriteRune(r)
			i += n
		}
		return b.String(), bad
	}
	if firstHigh(line) < 0 {
		return string(line), -1
	}
	out, err := enc.NewDecoder().Bytes(line)
	if err != nil {
		return "", 0
	}
	return string(repertoireOf(name, enc).read(out)), invalidIn(line, out, enc)
}
