package poparse

import (
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/text/encoding/simplifiedchinese"
	"pgregory.net/rapid"
)

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
