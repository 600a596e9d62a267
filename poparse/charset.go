package poparse

import (
	"bytes"
	"cmp"
	"fmt"
	"strings"
	"sync"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/ianaindex"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"
)

// charsetClass says how text in a declared charset is read.
type charsetClass int

const (
	charsetNone    charsetClass = iota // no charset, or a placeholder, or ASCII
	charsetUTF8                        // UTF-8
	charsetTable                       // an encoding of x/text
	charsetUnknown                     // a name that x/text does not know
)

// lookupCharset finds the encoding of a name in a PO header: the portable names of
// gettext (manual, section "Header Entry") and their usual variants, then the names
// of IANA and WHATWG. Case, "-", "_" and blanks do not matter.
//
// If files use a superset of an encoding under its name, the superset is taken:
// GB2312 is read as GBK, EUC-KR as CP949, TIS-620 as CP874, Shift_JIS as CP932. What
// the charset itself has is its repertoire.
func lookupCharset(name string) (charsetClass, encoding.Encoding) {
	key := charsetKey(name)
	switch key {
	case "", "CHARSET", "ASCII", "USASCII", "ANSIX3.41968", "646", "ISO646US":
		return charsetNone, nil
	case "UTF8", "UTF8MB4":
		return charsetUTF8, nil
	}
	if enc := poCharset(key); enc != nil {
		return charsetTable, enc
	}
	// The header could not have been read in an encoding without ASCII.
	if strings.HasPrefix(key, "UTF") || strings.HasPrefix(key, "ISO10646") || strings.HasPrefix(key, "UNICODE") ||
		strings.HasPrefix(key, "ISO2022") || strings.HasPrefix(key, "HZ") {
		return charsetUnknown, nil
	}
	if enc, err := ianaindex.IANA.Encoding(name); err == nil && containsASCII(enc) {
		return charsetTable, enc
	}
	if enc, err := htmlindex.Get(name); err == nil && containsASCII(enc) {
		return charsetTable, enc
	}
	return charsetUnknown, nil
}

// charsetKey returns a name in upper case without "-", "_" and blanks.
func charsetKey(name string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '-' || r == '_' || r == ' ':
			return -1
		case 'a' <= r && r <= 'z':
			return r - 'a' + 'A'
		}
		return r
	}, name)
}

// containsASCII is false for encodings in which a PO file's keywords are other
// bytes (EBCDIC, "replacement"), or ASCII bytes shift to other characters.
func containsASCII(enc encoding.Encoding) bool {
	if enc == nil {
		return false
	}
	const probe = "\n\"#019:=AZ[\\]_az~{VPND~}\x1b$BF|\x1b(B"
	out, err := enc.NewDecoder().String(probe)
	return err == nil && out == probe
}

func poCharset(key string) encoding.Encoding {
	switch key {
	case "EUCJP", "EUCJAPAN", "UJIS", "EUCJIS":
		return japanese.EUCJP
	case "SHIFTJIS", "SJIS", "CP932", "WINDOWS932", "WINDOWS31J", "MSKANJI", "MS932":
		return japanese.ShiftJIS
	case "EUCKR", "EUCKOREA", "CP949", "UHC", "MS949", "WINDOWS949", "KSC5601", "KSC56011987":
		return korean.EUCKR
	case "GB2312", "EUCCN", "GBK", "CP936", "MS936", "WINDOWS936", "GB231280":
		return simplifiedchinese.GBK
	case "GB18030":
		return simplifiedchinese.GB18030
	case "BIG5", "CP950", "MS950", "WINDOWS950", "BIG5HKSCS", "BIGFIVE":
		return traditionalchinese.Big5
	case "TIS620", "TIS6200", "TIS6202533", "CP874", "WINDOWS874", "ISO885911":
		return charmap.Windows874
	case "KOI8RU":
		return charmap.KOI8U
	case "MACROMAN", "MAC":
		return charmap.Macintosh
	case "MACCYRILLIC", "MACUKRAINE":
		return charmap.MacintoshCyrillic
	case "KOI8":
		return charmap.KOI8R
	}
	if number, ok := strings.CutPrefix(key, "LATIN"); ok {
		return charmaps()["ISO8859"+latinParts[number]]
	}
	for _, prefix := range []string{"CP", "WINDOWS", "IBM"} {
		if number, ok := strings.CutPrefix(key, prefix); ok {
			return cmp.Or(charmaps()["WINDOWS"+number], charmaps()["IBM"+number])
		}
	}
	return charmaps()[key]
}

// latinParts are the parts of ISO 8859 by the numbers of their alphabets.
var latinParts = map[string]string{
	"1": "1", "2": "2", "3": "3", "4": "4", "5": "9", "6": "10", "7": "13", "8": "14", "9": "15", "10": "16",
}

// charmaps are the encodings with one byte for a character by the keys of their names,
// such as "ISO 8859-2", "Windows 1250", "IBM Code Page 850" and "KOI8-R".
var charmaps = sync.OnceValue(func() map[string]encoding.Encoding {
	all := map[string]encoding.Encoding{}
	for _, enc := range charmap.All {
		if name, ok := enc.(fmt.Stringer); ok && containsASCII(enc) {
			all[strings.ReplaceAll(charsetKey(name.String()), "CODEPAGE", "")] = enc
		}
	}
	return all
})

// maxHeader bounds the bytes of a header that are searched for a charset.
const maxHeader = 64 << 10

// declaredCharset finds the charset in the header of undecoded bytes: the first
// entry with msgid "" and no msgctxt, anywhere in the file. It looks at lines and
// quotes only, as the text cannot be scanned before it is decoded. It returns ""
// and -1 if there is no header or the header names no charset.
func declaredCharset(data []byte) (name string, offset int) {
	h := headerSearch{text: make([]byte, 0, 1<<10), at: -1} // most headers are shorter
	for at := 0; at < len(data); {
		line := data[at:]
		next := len(data)
		if nl := bytes.IndexByte(line, '\n'); nl >= 0 {
			line, next = line[:nl], at+nl+1
		}
		if h.add(trimBlanks(line), at) {
			break
		}
		at = next
	}
	from, to := charsetIn(h.text, bytes.IndexByte)
	if from == 0 {
		return "", -1
	}
	name = string(h.text[from:to])
	// The offset of the name itself, unless it is broken over two lines.
	if at := bytes.Index(data[h.at:], []byte(name)); at >= 0 && name != "" {
		return name, h.at + at
	}
	return name, h.at
}

// headerSearch collects the text of the header from the lines of a file.
type headerSearch struct {
	text    []byte
	at      int  // offset of its msgstr, -1 before that
	idEmpty bool // the msgid of the present entry is empty
	context bool // the present entry has a msgctxt
}

// add takes the line at an offset, without blanks at its start, and reports whether
// the header is complete.
func (h *headerSearch) add(line []byte, at int) bool {
	isString := len(line) > 0 && line[0] == '"'
	switch {
	case h.at >= 0:
		if !isString && len(line) > 0 || len(h.text) > maxHeader {
			return true
		}
		h.text = append(h.text, limitLine(quoted(line))...)
		return false
	case len(line) == 0 || line[0] == '#':
		return false
	case isString:
		h.idEmpty = h.idEmpty && len(quoted(line)) == 0
	case bytes.HasPrefix(line, []byte("msgctxt")):
		h.context = true
	case bytes.HasPrefix(line, []byte("msgid_plural")):
	case bytes.HasPrefix(line, []byte("msgid")):
		rest := trimBlanks(line[len("msgid"):])
		h.idEmpty = len(bytes.TrimSpace(rest)) == 0
		if after, ok := bytes.CutPrefix(rest, []byte(`""`)); ok {
			line = trimBlanks(after)
			h.idEmpty = len(line) == 0 || line[0] != '"'
		}
	}
	if bytes.HasPrefix(line, []byte("msgstr")) {
		if h.idEmpty && !h.context {
			h.at = at
			h.text = append(h.text, limitLine(quoted(line))...)
		}
		h.idEmpty, h.context = false, false
	}
	return false
}

// limitLine returns the part of a line that is searched.
func limitLine(line []byte) []byte { return line[:min(len(line), maxHeader)] }

func trimBlanks(s []byte) []byte {
	for len(s) > 0 && isBlank(s[0]) {
		s = s[1:]
	}
	return s
}

// quoted returns the bytes between the first and the last quote of a line.
func quoted(line []byte) []byte {
	first := bytes.IndexByte(line, '"')
	if first < 0 {
		return nil
	}
	last := bytes.LastIndexByte(line, '"')
	if last == first {
		return line[first+1:]
	}
	return line[first+1 : last]
}
