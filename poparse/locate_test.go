package poparse_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/repoglot/repoglot/poparse"
)

const located = "msgid \"\"\nmsgstr \"Content-Type: text/plain; charset=UTF-8\\n\"\n" +
	"\n# a \"comment\"\n#, c-format\n#| msgid \"old\"\nmsgctxt \"menu\"\nmsgid \"\"\n\"Open\\n\"\n\"it\"\nmsgid_plural \"Opens\"\n" +
	"msgstr[0] \"\"\nmsgstr[1] \"\"\n\"Ö\\\"ffne\\303\\244\\tX\" \"Y\"\n" +
	"#~ msgid \"gone\"\n#~ msgstr \"\"\n#~ \"weg\"\n"

// TestLocate finds characters in strings of several lines, with escapes.
func TestLocate(t *testing.T) {
	f, err := poparse.Parse("a.po", []byte(located))
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		entry, form, n int
		part           poparse.Part
		line, column   int
	}{
		{0, 0, 0, poparse.PartContext, 7, 10},
		{0, 0, 0, poparse.PartID, 9, 2},
		{0, 0, 4, poparse.PartID, 9, 6},
		{0, 0, 5, poparse.PartID, 10, 2},
		{0, 0, 7, poparse.PartID, 10, 4},
		{0, 0, 99, poparse.PartID, 10, 4},
		{0, 0, 1, poparse.PartIDPlural, 11, 16},
		{0, 0, 0, poparse.PartStr, 12, 12},
		{0, 1, 0, poparse.PartStr, 14, 2},
		{0, 1, 1, poparse.PartStr, 14, 3},
		{0, 1, 2, poparse.PartStr, 14, 5},
		{0, 1, 7, poparse.PartStr, 14, 17}, // the tab, after the two bytes of an ä
		{0, 1, 8, poparse.PartStr, 14, 19},
		{0, 1, 9, poparse.PartStr, 14, 23},
		{0, 7, 0, poparse.PartStr, 7, 1},
		{1, 0, 2, poparse.PartStr, 17, 7},
		{1, 0, 0, poparse.PartContext, 15, 1},
	} {
		line, column := f.Locator().Locate(f.Entries[tt.entry], tt.part, tt.form, tt.n)
		if line != tt.line || column != tt.column {
			t.Errorf("entry %d part %d form %d character %d: %d:%d, want %d:%d", tt.entry, tt.part, tt.form, tt.n, line, column, tt.line, tt.column)
		}
	}
}

// TestLocateCharset counts characters, not bytes of the file.
func TestLocateCharset(t *testing.T) {
	text := strings.Replace(located, "UTF-8", "ISO-8859-1", 1)
	text = strings.ReplaceAll(strings.Replace(text, "Ö", "\xd6", 1), "\\303\\244", "\\344")
	f, err := poparse.Parse("a.po", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if line, column := f.Locator().Locate(f.Entries[0], poparse.PartStr, 1, 2); line != 14 || column != 5 {
		t.Errorf("%d:%d, want 14:5", line, column)
	}
}

// TestLocateByHand finds only lines in a file made by hand.
func TestLocateByHand(t *testing.T) {
	f := &poparse.File{Entries: []*poparse.Entry{{ID: "a", Str: []string{"b"}, KeywordLine: 4}}}
	if line, column := f.Locator().Locate(f.Entries[0], poparse.PartStr, 0, 0); line != 4 || column != 1 {
		t.Errorf("%d:%d, want 4:1", line, column)
	}
}

// FuzzLocate finds every character of the strings of a file at its position, unless it
// is escaped.
func FuzzLocate(f *testing.F) {
	f.Add([]byte(located))
	f.Add([]byte("msgid\"a\"msgstr\"\\x\"\n"))
	f.Add([]byte("domain \"x\"\nmsgid \"a\" # c\n\"b\"\nmsgstr[0] \"\"\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := poparse.Parse("fuzz.po", data)
		if err != nil || len(data) > 1<<12 {
			return
		}
		l := file.Locator()
		for i := range file.Entries {
			e := file.Entries[i]
			for form, s := range e.Str {
				for n := range utf8.RuneCountInString(s) + 1 {
					if line, column := l.Locate(e, poparse.PartStr, form, n); line < e.KeywordLine || column < 1 {
						t.Fatalf("entry %d form %d character %d: %d:%d", i, form, n, line, column)
					}
				}
			}
		}
	})
}
