package poparse

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

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

func trimBlanks(s []byte) []byte { return bytes.TrimLeft(s, blanks) }

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

// repertoire says what sets a declared charset apart from the encoding of x/text that
// reads it, which has the characters of a browser's larger charset. The charset is
// the one that iconv of glibc (2.36) has under the name: gettext reads files with iconv.
type repertoire struct {
	enc encoding.Encoding
	// other has pairs of characters: the first is what enc reads, the second what
	// the charset has in its place.
	other []rune
	// lacks are the codes that enc reads, and that are not written. Files that have
	// them are read all the same.
	lacks []codes
	// first is the first byte of the codes that are preferred where a character has
	// several; else the lowest code is.
	first byte

	once  sync.Once
	table map[rune]uint32 // the code of each character that is not ASCII
}

// codes are codes of one byte, if trail is 0, or of two: with a first byte from lead to
// leadTo and a second one from trail to trailTo.
type codes struct{ lead, leadTo, trail, trailTo byte }

// parseCodes reads codes such as "80 87:40-FC", in hexadecimal: the first byte or bytes, and
// the second ones of codes of two.
func parseCodes(text string) (list []codes) {
	bytes := func(text string) (from, to byte) {
		first, last, _ := strings.Cut(text, "-")
		a, _ := strconv.ParseUint(first, 16, 8) // they are ours
		b, _ := strconv.ParseUint(cmp.Or(last, first), 16, 8)
		return byte(a), byte(b)
	}
	for field := range strings.FieldsSeq(text) {
		var c codes
		lead, trail, _ := strings.Cut(field, ":")
		c.lead, c.leadTo = bytes(lead)
		c.trail, c.trailTo = bytes(trail)
		list = append(list, c)
	}
	return list
}

const (
	otherJapanese = "\uFF5E\u301C\u2225\u2016\uFF0D\u2212\uFFE0\u00A2\uFFE1\u00A3\uFFE2\u00AC"
	otherHongKong = "\u2027\u2022\uFE51\uFF64\u00AF\u203E\uFF5E\u223C\u2295\u2641\u2299\u2609" +
		"\u2215\uFF0F\uFE68\uFF3C\uFFE5\u00A5\uFFE0\u00A2\uFFE1\u00A3"
)

// repertoires are those of the charsets with many characters, whose tables are made
// once.
var repertoires = map[string]*repertoire{
	// Without the rows of NEC and IBM.
	"EUCJP":    {enc: japanese.EUCJP, other: []rune(otherJapanese), lacks: parseCodes("AD:A1-FE F9-FC:A1-FE")},
	"SHIFTJIS": {enc: japanese.ShiftJIS, other: []rune(otherJapanese), lacks: parseCodes("80 87:40-FC ED-FC:40-FC")},
	// With them, but what NEC and IBM have is written with IBM's codes.
	"CP932": {enc: japanese.ShiftJIS, lacks: parseCodes("80 ED-EE:40-FC")},
	"EUCKR": {enc: korean.EUCKR, lacks: parseCodes("81-A0:40-FE 81-FE:40-A0")},
	"CP949": {enc: korean.EUCKR},
	"GB2312": {enc: simplifiedchinese.GBK, other: []rune{0xB7, 0x30FB, 0x2014, 0x2015}, lacks: parseCodes(
		"80 81-A0:40-FE 81-FE:40-A0 A2:A1-AA A2:E3 A6:E0-F5 A8:BB-C0")},
	"GBK": {enc: simplifiedchinese.GBK, lacks: parseCodes("A2:E3 A3:A0 A8:BF A9:89-95 FE:50-FE")},
	// Without Hong Kong's characters, and control pictures; ETEN's are for private use
	// in the tables of others.
	"BIG5": {enc: traditionalchinese.Big5, first: 0xA1, other: []rune{0xFFED, 0x2593}, lacks: parseCodes(
		"81-A0:40-FE A2:CC A2:CE A3:C0-E0 C6:A1-FE C7-C8:40-FE FA-FE:40-FE")},
	"BIG5HKSCS": {enc: traditionalchinese.Big5, first: 0xA1, other: []rune(otherHongKong), lacks: parseCodes(
		"A1:5A A1:C3 A1:C5 A1:FE A2:40 A2:7E-A7 A2:CC A2:CE A3:C0-E1 8F:CC 92:C8 96:44 96:ED C6:CF C6:D3 C6:D5 C6:D7 C6:DF FA:C5 FB:48 FB:F9 FC:6C FE:52")},
}

// repertoireOf returns what a charset has that is declared by name and read with enc.
func repertoireOf(name string, enc encoding.Encoding) *repertoire {
	key := charsetKey(name)
	for _, names := range [][]string{ // the first is that of the repertoire
		{"CP932", "MS932", "WINDOWS932", "WINDOWS31J", "CSWINDOWS31J"},
		{"CP949", "UHC", "MS949", "WINDOWS949"},
		{"GBK", "CP936", "MS936", "WINDOWS936", "CSGBK"},
		{"BIG5HKSCS", "CSBIG5HKSCS"},
	} {
		if r := repertoires[names[0]]; r.enc == enc && slices.Contains(names, key) {
			return r
		}
	}
	for _, usual := range []string{"EUCJP", "SHIFTJIS", "EUCKR", "GB2312", "BIG5"} {
		if r := repertoires[usual]; r.enc == enc {
			return r
		}
	}
	r := &repertoire{enc: enc}
	switch key {
	case "TIS620", "TIS6200", "TIS6202533":
		r.lacks = parseCodes("80-A0")
	case "ISO885911":
		r.lacks = parseCodes("80-9F")
	case "KOI8U", "CSKOI8U":
		r.other = []rune{0x45E, 0x255D, 0x40E, 0x256C}
	case "KOI8RU":
		r.other = []rune("\u2320\u201C\u221A\u201D\u2248\u2014\u2264\u2116\u2265\u2122\u2321\u00BB\u00B0\u00AE\u00B2\u00AB\u00F7\u00A4")
	}
	switch enc {
	case charmap.Windows1255:
		r.lacks = parseCodes("CA")
	case charmap.Macintosh: // Apple and glibc read these differently
		r.lacks = parseCodes("C6 F0")
	case charmap.MacintoshCyrillic:
		r.lacks = parseCodes("FF")
	}
	return r
}

// rune returns what the charset has in the place of a character that enc reads.
func (r *repertoire) rune(c rune) rune {
	for i := 0; i < len(r.other); i += 2 {
		if r.other[i] == c {
			return r.other[i+1]
		}
	}
	return c
}

// read returns text that enc has read with the characters of the charset.
func (r *repertoire) read(text []byte) []byte {
	for i := 0; i < len(r.other); i += 2 {
		if bytes.Contains(text, []byte(string(r.other[i]))) {
			return bytes.Map(r.rune, text)
		}
	}
	return text
}

// has reports whether a code is written.
func (r *repertoire) has(code []byte) bool {
	for _, c := range r.lacks {
		if c.lead > code[0] || code[0] > c.leadTo {
			continue
		}
		if c.trail == 0 || len(code) == 2 && c.trail <= code[1] && code[1] <= c.trailTo {
			return false
		}
	}
	return true
}

// append appends the code of a character that is not ASCII, and reports whether it has
// one.
func (r *repertoire) append(out []byte, c rune) ([]byte, bool) {
	if r.enc == simplifiedchinese.GB18030 {
		if moved18030(c) {
			return out, false
		}
		code, err := r.enc.NewEncoder().String(string(c))
		return append(out, code...), err == nil
	}
	r.once.Do(r.fill)
	code, ok := r.table[c]
	for shift := 16; shift >= 0; shift -= 8 {
		if b := byte(code >> shift); b != 0 {
			out = append(out, b)
		}
	}
	return out, ok
}

// moved18030 reports whether a character has other codes in other editions of GB18030,
// which else has codes for all.
func moved18030(c rune) bool {
	return 0xE000 <= c && c <= 0xE864 || c == 0x1E3F || 0x9FB4 <= c && c <= 0x9FBB || 0xFE10 <= c && c <= 0xFE19
}

// fill makes the table, by reading every code.
func (r *repertoire) fill() {
	r.table = make(map[rune]uint32, 128)
	dec := r.enc.NewDecoder()
	var text [2 * utf8.UTFMax]byte
	add := func(code ...byte) {
		n, _, err := dec.Transform(text[:], code, true)
		c, size := utf8.DecodeRune(text[:n])
		if err != nil || c == utf8.RuneError || size < n || c < utf8.RuneSelf || !r.has(code) {
			return
		}
		if c = r.rune(c); r.table[c] == 0 {
			for _, b := range code {
				r.table[c] = r.table[c]<<8 | uint32(b)
			}
		}
	}
	_, single := r.enc.(*charmap.Charmap)
	for i := range 0x80 {
		lead := 0x80 | (byte(i)+r.first)&0x7F
		add(lead)
		for trail := 0x40; trail < 0xFF && !single; trail++ {
			add(lead, byte(trail))
		}
	}
	for row := 0xA1; row < 0xFF && r.enc == japanese.EUCJP; row++ {
		for trail := 0xA1; trail < 0xFF; trail++ {
			add(0x8F, byte(row), byte(trail))
		}
	}
}
