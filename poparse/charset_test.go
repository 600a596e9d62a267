package poparse

import (
	"fmt"
	"io"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"
	"golang.org/x/text/encoding/unicode"
	"pgregory.net/rapid"
)

func TestLookupCharset(t *testing.T) {
	for _, tt := range []struct {
		names string
		class charsetClass
		enc   encoding.Encoding
	}{
		{",CHARSET,ASCII,us-ascii,ANSI_X3.4-1968", charsetNone, nil},
		{"UTF-8,utf8,Utf-8,UTF_8", charsetUTF8, nil},
		{"ISO-8859-1,iso8859-1,ISO_8859-1,latin1", charsetTable, charmap.ISO8859_1},
		{"ISO-8859-2,iso8859-2,ISO8859-2,latin-2", charsetTable, charmap.ISO8859_2},
		{"ISO-8859-9,latin5", charsetTable, charmap.ISO8859_9},
		{"ISO-8859-15,iso-8859-15,latin-9", charsetTable, charmap.ISO8859_15},
		{"KOI8-R,koi8-r", charsetTable, charmap.KOI8R},
		{"KOI8-U", charsetTable, charmap.KOI8U},
		{"CP1251,cp1251,windows-1251", charsetTable, charmap.Windows1251},
		{"cp1250", charsetTable, charmap.Windows1250},
		{"CP850,IBM850", charsetTable, charmap.CodePage850},
		{"CP866", charsetTable, charmap.CodePage866},
		{"TIS-620,tis620,CP874,ISO-8859-11", charsetTable, charmap.Windows874},
		{"EUC-JP,eucjp,EUC-JAPAN,ujis", charsetTable, japanese.EUCJP},
		{"SHIFT_JIS,Shift-JIS,sjis,CP932", charsetTable, japanese.ShiftJIS},
		{"EUC-KR,CP949,UHC", charsetTable, korean.EUCKR},
		{"GB2312,EUC-CN,GBK,CP936", charsetTable, simplifiedchinese.GBK},
		{"GB18030", charsetTable, simplifiedchinese.GB18030},
		{"BIG5,big5,CP950,BIG5-HKSCS", charsetTable, traditionalchinese.Big5},
		{"MACINTOSH,MacRoman", charsetTable, charmap.Macintosh},
		{"MAC-CYRILLIC,MacCyrillic,x-mac-cyrillic", charsetTable, charmap.MacintoshCyrillic},
		{"TSCII,VISCII,JOHAB,EUC-TW,GEORGIAN-PS,KOI8-T,nonsense", charsetUnknown, nil},
		{"UTF-16,UTF-16LE,UTF-7,UTF-32,UCS-2,ISO-2022-JP,HZ-GB-2312,IBM037,replacement", charsetUnknown, nil},
	} {
		for name := range strings.SplitSeq(tt.names, ",") {
			class, enc := lookupCharset(name)
			if class != tt.class || enc != tt.enc {
				t.Errorf("lookupCharset(%q) = %v, %v, want %v, %v", name, class, enc, tt.class, tt.enc)
			}
		}
	}
}

// TestCharsets reads letters of each alphabet in its charset.
func TestCharsets(t *testing.T) {
	for name, want := range map[string]string{
		"ISO-8859-2":  "Příliš žluťoučký",
		"ISO-8859-5":  "Съешь",
		"ISO-8859-7":  "Ξεσκεπάζω",
		"ISO-8859-8":  "דג סקרן",
		"ISO-8859-13": "Įlinkdama",
		"KOI8-R":      "Съешь ещё",
		"KOI8-U":      "їжак",
		"CP1251":      "Съешь ещё",
		"CP1256":      "عربي",
		"TIS-620":     "ภาษาไทย",
		"EUC-JP":      "日本語のテキスト",
		"SHIFT_JIS":   "ソースの表示",
		"EUC-KR":      "한국어",
		"GB2312":      "简体中文",
		"GB18030":     "简体中文\uFFFDж€",
		"BIG5":        "繁體中文功許蓋",
	} {
		_, enc := lookupCharset(name)
		header := "msgid \"\"\nmsgstr \"Content-Type: text/plain; charset=" + name + "\\n\"\n\n"
		// Several chunks long, so that characters are across their ends.
		var text strings.Builder
		for i := range 3000 {
			fmt.Fprintf(&text, "# %s\nmsgid \"%d\"\nmsgstr \"%s\"\n", want, i, want)
		}
		data, err := enc.NewEncoder().String(header + text.String())
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		f, err := Parse(name, []byte(data))
		if err != nil {
			t.Error(err)
			continue
		}
		if f.Charset != name || len(f.Entries) != 3000 || len(f.Warnings) != 0 {
			t.Errorf("%s: charset %q, %d entries, warnings %v", name, f.Charset, len(f.Entries), f.Warnings)
		}
		for i := range f.Entries {
			if e := f.Entries[i]; e.Str[0] != want || e.Comments[0] != want {
				t.Errorf("%s: entry %d: %q, %q", name, i, e.Str[0], e.Comments[0])
				break
			}
		}
	}
}

// TestInvalidByteFar puts the invalid byte after the first chunk.
func TestInvalidByteFar(t *testing.T) {
	for name, bad := range map[string]string{"EUC-JP": "\xa4", "CP1255": "\xff", "GB18030": "\xff", "UTF-8": "\xa4"} {
		pad := strings.Repeat("# pad\n", 10_000)
		data := "msgid \"\"\nmsgstr \"charset=" + name + "\"\n" + pad + "# xy" + bad + "\n"
		_, err := Parse("x.po", []byte(data))
		want := fmt.Sprintf("x.po:10003:5: byte 0x%02X is not valid %s here: correct the byte, or the charset in the header", bad[0], name)
		if err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", name, err, want)
			continue
		}
		if got, want := err.(*SyntaxError).Offset, strings.Index(data, bad); got != want {
			t.Errorf("%s: offset %d, want %d", name, got, want)
		}
	}
}

// TestEndsInsideCharacter cuts files in the middle of their last character.
func TestEndsInsideCharacter(t *testing.T) {
	for name, letters := range map[string]string{
		"UTF-8": "é€😀", "EUC-JP": "語", "SHIFT_JIS": "表", "GBK": "体", "GB18030": "体ж", "EUC-KR": "한", "BIG5": "體",
	} {
		for _, letter := range strings.Split(letters, "") {
			encoded := letter
			if _, enc := lookupCharset(name); enc != nil {
				var err error
				if encoded, err = enc.NewEncoder().String(letter); err != nil {
					t.Fatal(err)
				}
			}
			before := "msgid \"\"\nmsgstr \"charset=" + name + "\"\n\nmsgid \"a\"\nmsgstr \"b"
			for n := 1; n < len(encoded); n++ {
				data := before + encoded[:n]
				_, err := Parse("x.po", []byte(data))
				want := fmt.Sprintf("x.po:5:10: the file ends inside a character of %s, after byte 0x%02X: is it truncated?", name, encoded[n-1])
				if err == nil || err.Error() != want {
					t.Errorf("%q: %v, want %s", data, err, want)
				}
				if list, _ := Errors("x.po", []byte(data)); len(list) != 1 || list[0].Error() != want {
					t.Errorf("%q: all errors %v, want %s", data, list, want)
				}
				// The same bytes are wrong, not cut off, before a line end.
				if _, err := Parse("x.po", []byte(data+"\"\n")); err == nil || strings.Contains(err.Error(), "truncated") {
					t.Errorf("%q before a line end: %v", data, err)
				}
			}
		}
	}
}

func TestUTF16(t *testing.T) {
	const text = "msgid \"\"\nmsgstr \"charset=UTF-16\"\n\nmsgid \"a\"\nmsgstr \"ž😀\uFFFD\"\n"
	for _, endian := range []unicode.Endianness{unicode.LittleEndian, unicode.BigEndian} {
		for _, bom := range []unicode.BOMPolicy{unicode.UseBOM, unicode.IgnoreBOM} {
			data, err := unicode.UTF16(endian, bom).NewEncoder().Bytes([]byte(text))
			must(t, err)
			f, err := Parse("x.po", data)
			if err != nil {
				t.Errorf("endian %v, BOM %v: %v", endian, bom, err)
				continue
			}
			if diff := cmp.Diff([]string{"ž😀\uFFFD"}, f.Entries[0].Str); diff != "" {
				t.Errorf("endian %v, BOM %v: %s", endian, bom, diff)
			}
			if _, err := Parse("x.po", data[:len(data)-1]); err == nil {
				t.Errorf("endian %v, BOM %v: half a character at the end is no error", endian, bom)
			}
		}
	}
	_, err := Parse("x.po", []byte("\xff\xfem\x00\n\x00\x00\xdc"))
	if err == nil || !strings.HasPrefix(err.Error(), "x.po:2:1: this is not valid UTF-16") {
		t.Errorf("a lone surrogate: %v", err)
	}
	if _, err = Parse("x.po", []byte("\xff\xfe\x00\x00m\x00\x00\x00")); err == nil || !strings.Contains(err.Error(), "UTF-32") {
		t.Errorf("UTF-32: %v", err)
	}
}

// TestDecodeTable compares with the decoders of x/text. The texts have bytes that are
// valid, invalid or half a character, between short and long runs of ASCII.
func TestDecodeTable(t *testing.T) {
	names := rapid.SampledFrom([]string{
		"EUC-JP", "SHIFT_JIS", "EUC-KR", "GBK", "GB18030", "BIG5", "ISO-8859-2", "CP1250", "KOI8-R", "TIS-620", "ISO-8859-8",
	})
	pieces := rapid.SampledFrom([]string{
		"a", "\\", "~", "\"\nmsgid \"", "more ASCII than is decoded before the next look for it, which is sixty-four bytes",
		"\xb1\xed", "\xa4\xa2\xa4\xa4\xa4\xa6", "\x95\x5c", "\x83\x5c", "\x8f\xb0\xa1", "\x8e\xb1", "\x81\x30\x81\x30", "\x84\x31\xa4\x37",
		"\x95\x32\x82\x36", "\xa4@", "\x80", "\x85", "\xa0", "\xff", "\xfe\xfe", "\x81", "\xe9\xf8\xb9\xbe",
	})
	rapid.Check(t, func(t *rapid.T) {
		name := names.Draw(t, "charset")
		data := []byte(strings.Join(rapid.SliceOf(pieces).Draw(t, "text"), ""))
		_, enc := lookupCharset(name)
		want, err := enc.NewDecoder().String(string(data))
		if err != nil {
			t.Fatal(err)
		}
		want = string(repertoireOf(name, enc).read([]byte(want))) // as iconv has it
		got, bad := decodeTable(data, enc, name)
		switch valid := !strings.ContainsRune(want, utf8.RuneError) || enc == simplifiedchinese.GB18030; {
		case bad == nil && got != want:
			t.Fatalf("%s: %q is %q, want %q", name, data, got, want)
		case bad != nil && !strings.ContainsRune(want, utf8.RuneError):
			t.Fatalf("%s: %q is refused: %v", name, data, bad)
		case bad == nil && !valid:
			t.Fatalf("%s: %q is accepted: %q", name, data, got)
		case bad != nil:
			// The text before the first invalid byte is right.
			before, err := decodeTable(data[:bad.Offset], enc, name)
			if err != nil || !strings.HasPrefix(want, before+"\uFFFD") {
				t.Fatalf("%s: %q is refused at byte %d: %v", name, data, bad.Offset, err)
			}
		}
	})
}

// TestLargerCharsets reads codes of a larger charset, and does not write them; what was
// there stays.
func TestLargerCharsets(t *testing.T) {
	for name, tt := range map[string]struct{ code, letter string }{
		"SHIFT_JIS": {"\x87\x40", "①"}, "EUC-JP": {"\xAD\xA1", "①"}, "BIG5": {"\x88\x68", "á"}, "CP950": {"\x88\x68", "á"},
		"GB2312": {"\x87\x65", "噀"}, "EUC-KR": {"\x8C\x63", "똠"}, "TIS-620": {"\x93", "“"},
	} {
		header := "msgid \"\"\nmsgstr \"Content-Type: text/plain; charset=" + name + "\\n\"\n\n"
		data := header + "msgid \"a\"\nmsgstr \"" + tt.code + "\"\n\nmsgid \"b\"\nmsgstr \"\"\n"
		f, err := Parse("x.po", []byte(data))
		if err != nil || f.Entries[0].Str[0] != tt.letter {
			t.Errorf("%s: %v, read as %q", name, err, f.Entries[0].Str)
			continue
		}
		f.Entries[1].Str[0] = "b"
		if got, want := written(t, f), strings.Replace(data, "b\"\nmsgstr \"", "b\"\nmsgstr \"b", 1); got != want {
			t.Errorf("%s: written as %q", name, got)
		}
		f.Entries[1].Str[0] = tt.letter
		if _, err := f.WriteTo(io.Discard); err == nil || !strings.Contains(err.Error(), "is not in the charset "+name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	// A change of the charset's name converts what the two read differently.
	f, err := Parse("x.po", []byte("msgid \"\"\nmsgstr \"charset=GB2312\"\n\nmsgid \"a\"\nmsgstr \"\xa1\xaa\"\n"))
	must(t, err)
	f.Header.Str[0] = "charset=GB18030"
	if got := written(t, f); f.Entries[0].Str[0] != "―" || !strings.Contains(got, "\xa8\x44") {
		t.Errorf("%q is written as %q", f.Entries[0].Str[0], got)
	}
}
