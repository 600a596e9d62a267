package unit

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

// checkParts holds a file read in parts against one that is read as a whole. It returns
// whether it can be read in parts.
func checkParts(t *testing.T, data string, size int) bool {
	t.Helper()
	rules := NewRules("", false)
	got := ReadParts("a.po", []byte(data), rules, size)
	if got == nil {
		return false
	}
	want, err := (*Reader)(nil).Read("a.po", []byte(data), rules)
	if err != nil {
		t.Fatalf("parts of a file that cannot be read: %v\n%s", err, data)
	}
	if !got.InParts() || len(got.Units) > 0 || got.Len() != len(want.Units) {
		t.Fatalf("%d units, in parts %t: %d; want %d\n%s", len(got.Units), got.InParts(), got.Len(), len(want.Units), data)
	}
	if diff := cmp.Diff(want.Units, got.All(), cmpopts.EquateEmpty()); diff != "" {
		t.Fatalf("units (-whole +parts):\n%s\n%s", diff, data)
	}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(File{}, "Units"), cmpopts.IgnoreUnexported(File{})); diff != "" {
		t.Fatalf("(-whole +parts):\n%s\n%s", diff, data)
	}
	return true
}

func TestReadParts(t *testing.T) {
	var b strings.Builder
	b.WriteString(editHeader)
	for i := range 200 {
		fmt.Fprintf(&b, "# c\n#. note\n#: a.c:%d\nmsgid \"source %d\"\nmsgstr \"target %d\"\n\n", i, i, i)
		if i%7 == 0 {
			fmt.Fprintf(&b, "#, fuzzy\n#| msgid \"old\"\nmsgctxt \"k\"\nmsgid \"one %d\"\nmsgid_plural \"many\"\nmsgstr[0] \"a\"\nmsgstr[1] \"b\"\n\n", i)
		}
	}
	file := b.String()
	for name, c := range map[string]struct {
		data string
		want bool
	}{
		"plain":           {file, true},
		"obsolete at end": {file + "#~ msgid \"o\"\n#~ msgstr \"o\"\n", true},
		"no line at end":  {strings.TrimRight(file, "\n"), true},
		"repeated":        {file + "msgid \"source 3\"\nmsgstr \"x\"\n", false},
		"one more plural": {file + "msgid \"source 3\"\nmsgid_plural \"x\"\nmsgstr[0] \"x\"\nmsgstr[1] \"y\"\n", false},
		"second header":   {file + "msgid \"\"\nmsgstr \"x\"\n", false},
		"domain":          {file + "domain \"x\"\nmsgid \"y\"\nmsgstr \"x\"\n", false},
		"broken":          {file + "msgid \"y\"\n", false},
		"empty context":   {file + "msgctxt \"\"\nmsgid \"y\"\nmsgstr \"x\"\n", false},
		"another charset": {strings.Replace(file, "UTF-8", "ISO-8859-1", 1), false},
		"small":           {file[:7*len(file)/10], false},
	} {
		if got := checkParts(t, c.data, len(file)/8); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

// TestPartsStop: whoever needs no more units ends the iteration.
func TestPartsStop(t *testing.T) {
	var b strings.Builder
	b.WriteString(editHeader)
	for i := range 100 {
		fmt.Fprintf(&b, "msgid \"source %d\"\nmsgstr \"x\"\n\n", i)
	}
	f := ReadParts("a.po", []byte(b.String()), NewRules("", false), b.Len()/10)
	blocks := 0
	for units := range f.Blocks() {
		if blocks++; len(units) == 0 {
			t.Error("an empty block")
		}
		if blocks == 2 {
			break
		}
	}
	if blocks != 2 {
		t.Errorf("%d blocks", blocks)
	}
}

// TestPartsAgreeWithReading: whatever the lines of a file, one that is read in parts
// gives the units that reading it as a whole gives.
func TestPartsAgreeWithReading(t *testing.T) {
	inParts := 0
	rapid.Check(t, func(rt *rapid.T) {
		lines := drawFile(rt)
		at := rapid.IntRange(0, len(lines)).Draw(rt, "at")
		lines = slices.Concat(lines[:at], drawLines(rt), lines[at:])
		if checkParts(t, editHeader+strings.Join(lines, ""), rapid.IntRange(1, 40).Draw(rt, "size")) {
			inParts++
		}
	})
	if inParts == 0 {
		t.Error("no file was read in parts")
	}
}

// FuzzParts is TestPartsAgreeWithReading for any bytes.
func FuzzParts(f *testing.F) {
	f.Add("msgid \"a\"\nmsgstr \"b\"\n\nmsgid \"c\"\nmsgstr \"d\"\n\nmsgid \"e\"\nmsgstr \"f\"\n", 10)
	f.Fuzz(func(t *testing.T, data string, size int) {
		if size <= 0 || len(data) > 1<<16 {
			t.Skip()
		}
		checkParts(t, editHeader+data, size)
	})
}
