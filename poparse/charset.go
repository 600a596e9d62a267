package poparse

import (
	"bytes"
	"strings"

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
	case "KOI8R", "KOI8":
		return charmap.KOI8R
	case "KOI8U", "KOI8RU":
		return charmap.KOI8U
	case "MACINTOSH", "MACROMAN", "MAC":
		return charmap.Macintosh
	case "MACCYRILLIC", "MACUKRAINE":
		return charmap.MacintoshCyrillic
	}
	for _, prefix := range []string{"ISO8859", "LATIN", "CP", "WINDOWS", "IBM"} {
		if rest, ok := strings.CutPrefix(key, prefix); ok {
			return numberedCharset(prefix, rest)
		}
	}
	return nil
}

func numberedCharset(prefix, number string) encoding.Encoding {
	switch prefix {
	case "ISO8859":
		return isoCharset(number)
	case "LATIN":
		switch number {
		case "1", "2", "3", "4":
			return isoCharset(number)
		case "5":
			return charmap.ISO8859_9
		case "6":
			return charmap.ISO8859_10
		case "7":
			return charmap.ISO8859_13
		case "8":
			return charmap.ISO8859_14
		case "9":
			return charmap.ISO8859_15
		case "10":
			return charmap.ISO8859_16
		}
		return nil
	}
	return codePage(number)
}

func isoCharset(number string) encoding.Encoding {
	switch number {
	case "1":
		return charmap.ISO8859_1
	case "2":
		return charmap.ISO8859_2
	case "3":
		return charmap.ISO8859_3
	case "4":
		return charmap.ISO8859_4
	case "5":
		return charmap.ISO8859_5
	case "6":
		return charmap.ISO8859_6
	case "7":
		return charmap.ISO8859_7
	case "8":
		return charmap.ISO8859_8
	case "9":
		return charmap.ISO8859_9
	case "10":
		return charmap.ISO8859_10
	case "13":
		return charmap.ISO8859_13
	case "14":
		return charmap.ISO8859_14
	case "15":
		return charmap.ISO8859_15
	case "16":
		return charmap.ISO8859_16
	}
	return nil
}

func codePage(number string) encoding.Encoding {
	switch number {
	case "437":
		return charmap.CodePage437
	case "850":
		return charmap.CodePage850
	case "852":
		return charmap.CodePage852
	case "855":
		return charmap.CodePage855
	case "858":
		return charmap.CodePage858
	case "860":
		return charmap.CodePage860
	case "862":
		return charmap.CodePage862
	case "863":
		return charmap.CodePage863
	case "865":
		return charmap.CodePage865
	case "866":
		return charmap.CodePage866
	case "1250":
		return charmap.Windows1250
	case "1251":
		return charmap.Windows1251
	case "1252":
		return charmap.Windows1252
	case "1253":
		return charmap.Windows1253
	case "1254":
		return charmap.Windows1254
	case "1255":
		return charmap.Windows1255
	case "1256":
		return charmap.Windows1256
	case "1257":
		return charmap.Windows1257
	case "1258":
		return charmap.Windows1258
	}
	return nil
}

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
