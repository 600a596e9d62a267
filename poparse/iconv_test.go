package poparse

import (
	"bytes"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/ianaindex"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"

	"github.com/repoglot/repoglot/testrepos/testsize"
)

// servedCharsets are names of every charset that is read and written, except UTF-8 and
// ASCII.
const servedCharsets = "ISO-8859-1 ISO-8859-2 ISO-8859-3 ISO-8859-4 ISO-8859-5 ISO-8859-6 ISO-8859-7 ISO-8859-8 ISO-8859-9 ISO-8859-10 " +
	"ISO-8859-11 ISO-8859-13 ISO-8859-14 ISO-8859-15 ISO-8859-16 KOI8-R KOI8-U KOI8-RU CP437 CP850 CP852 CP855 CP858 CP860 CP862 CP863 " +
	"CP865 CP866 CP874 CP1250 CP1251 CP1252 CP1253 CP1254 CP1255 CP1256 CP1257 CP1258 MACINTOSH MAC-CYRILLIC TIS-620 EUC-JP SHIFT_JIS " +
	"CP932 EUC-KR CP949 GB2312 GBK GB18030 BIG5 BIG5-HKSCS"

// notWritten says why a character is not written that iconv has; "" if it must be.
func notWritten(name string, c rune) string {
	switch {
	case c < 0xA0:
		return "control characters in a text mean that its charset is another one"
	case unicode.Is(unicode.Co, c):
		return "the codes of characters for private use are not the same everywhere"
	case name == "GB18030" && moved18030(c):
		return "its code depends on the edition"
	case name == "SHIFT_JIS" && (c == '¥' || c == '‾'):
		return "their codes are the backslash and the tilde of PO files"
	case strings.HasPrefix(name, "MAC") && (c == 'Δ' || c == '¤'):
		return "glibc and Apple differ"
	case name == "CP1255" && 0xFB1D <= c && c <= 0xFB4E, name == "CP1258" && unicode.IsLetter(c), name == "CP1258" && unicode.Is(unicode.Sk, c):
		return "two codes, which are read as a letter and a mark"
	case name == "EUC-JP" && c == '～':
		return "it is read as the wave dash"
	case name == "EUC-KR" && c == '㉾':
		return "x/text does not have it"
	}
	return ""
}

// TestRepertoires compares each charset with the iconv of glibc, which gettext uses, both
// ways and for every code point (of most charsets those above U+FFFF at night; of every eighth charset with -short): what iconv has is written as by iconv, except what
// notWritten lists, and nothing else is. So is the table in docs/po.md#encoding.
func TestRepertoires(t *testing.T) {
	needIconv(t)
	listed := map[string]bool{}
	for i, name := range strings.Fields(servedCharsets) {
		_, enc := lookupCharset(name)
		if enc == nil {
			t.Fatalf("%s is not served", name)
		}
		if i%testsize.Of(8, 1, 1) > 0 {
			continue
		}
		compareWritten(t, name, enc, listed)
		compareRead(t, name, enc)
	}
	if !testing.Short() && len(listed) != 8 {
		t.Errorf("of what notWritten lists, only %v is so", listed)
	}
}

// TestServedCharsets: servedCharsets leaves out no encoding that a header can name.
func TestServedCharsets(t *testing.T) {
	served := map[encoding.Encoding]bool{}
	for name := range strings.FieldsSeq(servedCharsets) {
		_, enc := lookupCharset(name)
		served[enc] = true
	}
	for _, enc := range slices.Concat(charmap.All, japanese.All, korean.All, simplifiedchinese.All, traditionalchinese.All) {
		name, err := ianaindex.IANA.Name(enc)
		if err != nil {
			continue
		}
		switch class, enc := lookupCharset(name); {
		case class != charsetTable, served[enc]:
		case strings.HasPrefix(name, "ISO_8859-6-"), strings.HasPrefix(name, "ISO_8859-8-"): // the same, in another direction
		default:
			t.Errorf("%s is served, and not in servedCharsets", name)
		}
	}
}

func compareWritten(t *testing.T, name string, enc encoding.Encoding, listed map[string]bool) {
	t.Helper()
	out := output{enc: enc, charset: name}
	last := rune(0x2FFFF) // no charset but one has codes for others
	switch {
	case !testsize.Nightly() && enc != traditionalchinese.Big5:
		last = 0xFFFF
	case enc == simplifiedchinese.GB18030:
		last = unicode.MaxRune
	}
	var characters, ours []string
	for c := rune(utf8.RuneSelf); c <= last; c++ {
		if utf8.ValidRune(c) {
			code, _ := out.encode(string(c)) // "" with an error
			characters, ours = append(characters, string(c)), append(ours, code)
		}
	}
	theirs := iconv(t, "UTF-8", name, characters)
	theirsRead := iconv(t, name, "UTF-8", theirs)
	oursRead := iconv(t, name, "UTF-8", ours)
	for i, c := range characters {
		r, _ := utf8.DecodeRuneInString(c)
		why := notWritten(name, r)
		switch {
		case ours[i] != "" && oursRead[i] != c:
			t.Errorf("%s: %U is written as %x, which iconv reads as %+q", name, r, ours[i], oursRead[i])
		case ours[i] == theirs[i], ours[i] == "" && theirsRead[i] != c:
		case ours[i] == "" && why != "":
			listed[why] = true
		case ours[i] != "" && name == "GB18030": // six have a second, shorter code in its newest edition
		default:
			t.Errorf("%s: %U is written as %x, by iconv as %x", name, r, ours[i], theirs[i])
		}
		if ours[i] == "" {
			continue
		}
		if text, err := decodeTable([]byte(ours[i]), enc, name); err != nil || text != c {
			t.Errorf("%s: %U is written as %x, which is read as %+q, %v", name, r, ours[i], text, err)
		}
	}
}

// compareRead compares what codes are read as. Some are read that iconv does not have,
// since files in the wild have them.
func compareRead(t *testing.T, name string, enc encoding.Encoding) {
	t.Helper()
	var codes []string
	_, single := enc.(*charmap.Charmap)
	for lead := 0x80; lead < 0x100; lead++ {
		codes = append(codes, string([]byte{byte(lead)}))
		for trail := 0x40; trail < 0xFF && !single; trail++ {
			codes = append(codes, string([]byte{byte(lead), byte(trail)}))
		}
	}
	for row := 0xA1; row < 0xFF && enc == japanese.EUCJP; row++ {
		for trail := 0xA1; trail < 0xFF; trail++ {
			codes = append(codes, string([]byte{0x8F, byte(row), byte(trail)}))
		}
	}
	const end = "=="
	var lines []string
	for _, code := range codes {
		lines = append(lines, code+end, code[len(code)-1:]+end) // and the last byte alone
	}
	lines = iconv(t, name, "UTF-8", lines)
	for i, code := range codes {
		ours, err := decodeTable([]byte(code), enc, name)
		if err != nil || utf8.RuneCountInString(ours) != 1 {
			continue
		}
		theirs, ok := strings.CutSuffix(lines[2*i], end)
		if !ok || utf8.RuneCountInString(theirs) != 1 || ours == theirs || len(code) > 1 && lines[2*i] == lines[2*i+1] {
			continue // with only the last byte, iconv does not have the code
		}
		r, _ := utf8.DecodeRuneInString(theirs)
		if notWritten(name, r) == "" && code != "\x8F\xA2\xB7" {
			t.Errorf("%s: %x is read as %+q, by iconv as %+q", name, code, ours, theirs)
		}
	}
}

// iconv converts lines, and leaves out what cannot be converted.
func iconv(t *testing.T, from, to string, lines []string) []string {
	t.Helper()
	cmd := exec.Command("iconv", "-c", "-f", from, "-t", to)
	cmd.Stdin = strings.NewReader(strings.Join(lines, "\n") + "\n")
	var out, why bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &why
	err := cmd.Run() // an error if something is left out
	got := strings.Split(out.String(), "\n")
	if len(got) != len(lines)+1 {
		t.Fatalf("iconv -f %s -t %s: %v: %s", from, to, err, why.Bytes())
	}
	return got
}

// needIconv skips a test without the iconv of glibc, which must be there in CI.
func needIconv(t *testing.T) {
	t.Helper()
	out, err := exec.Command("iconv", "--version").Output()
	switch {
	case err == nil && (bytes.Contains(out, []byte("GLIBC")) || bytes.Contains(out, []byte("GNU libc"))):
	case os.Getenv("CI") != "":
		t.Fatalf("CI is set, but there is no iconv of glibc: %v", err)
	default:
		t.Skip("skipped: there is no iconv of glibc on this machine")
	}
}
