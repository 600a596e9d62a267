package unit

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/repoglot/repoglot/poparse"
)

const editHeader = "# Title\n\nmsgid \"\"\nmsgstr \"\"\n\"Content-Type: text/plain; charset=UTF-8\\n\"\n\"Plural-Forms: nplurals=2; plural=n!=1;\\n\"\n\n"

// cutAll cuts a file before all paragraphs.
func cutAll(data string) (list []string) {
	for data != "" {
		n := poparse.NextParagraph([]byte(data), 1)
		if n < 0 {
			n = len(data)
		}
		list, data = append(list, data[:n]), data[n:]
	}
	return list
}

// regionOf finds where two versions differ, with a paragraph more on each side, as pieces
// are longer than what differs.
func regionOf(old, data string) Region {
	a, b := cutAll(old), cutAll(data)
	begin, end := 0, 0
	for begin < min(len(a), len(b)) && a[begin] == b[begin] {
		begin++
	}
	for end < min(len(a), len(b))-begin && a[len(a)-1-end] == b[len(b)-1-end] {
		end++
	}
	begin, end = max(begin-1, 0), max(end-1, 0)
	from, to := len(strings.Join(a[:begin], "")), len(strings.Join(a[len(a)-end:], ""))
	return Region{From: from, To: len(data) - to, Old: []byte(old[from : len(old)-to])}
}

// checkEdited holds Edited against reading both versions as a whole. It returns whether
// the edit was recognised.
func checkEdited(t *testing.T, old, data string) bool {
	t.Helper()
	rules := NewRules("", false)
	a, err := (*Reader)(nil).Read("a.po", []byte(old), rules)
	if err != nil || !a.Plain {
		return false
	}
	edit, ok := ReadPartial("b.po", []byte(data), []Region{regionOf(old, data)}, rules)
	b, err := (*Reader)(nil).Read("b.po", []byte(data), rules)
	if err != nil {
		if ok {
			t.Fatalf("edit of a file that cannot be read: %v\n%s\n---\n%s", err, old, data)
		}
		return false
	}
	if !ok {
		return false
	}
	got := slices.Clone(a.Units)
	for i := range edit.After {
		n := slices.IndexFunc(got, func(u Unit) bool { return u.Identity == edit.Before[i].Identity })
		if n < 0 || got[n].Text != edit.Before[i].Text || got[n].Meta != edit.Before[i].Meta {
			t.Fatalf("the older version has no unit %+v\n%s\n---\n%s", edit.Before[i], old, data)
		}
		position := got[n].Position
		got[n] = edit.After[i]
		got[n].Position = position
	}
	if diff := cmp.Diff(b.Units, got); diff != "" || a.Outline != b.Outline || !b.Plain {
		t.Fatalf("plain %t, outlines %d, %d; units (-whole +edited):\n%s\n%s\n---\n%s", b.Plain, a.Outline, b.Outline, diff, old, data)
	}
	if d := cmp.Diff(a, b, cmpopts.IgnoreFields(File{}, "Units", "Data", "Outline"), cmp.AllowUnexported(File{})); d != "" {
		t.Fatalf("the files differ in more than units:\n%s", d)
	}
	return true
}

// TestEditedKinds names what is recognised as an edit of translations and what is not.
func TestEditedKinds(t *testing.T) {
	entry := func(i int, more, text string) string {
		return fmt.Sprintf("#. note\n#: a.c:%d\n%smsgid \"source %d\"\nmsgstr \"%s\"\n\n", i, more, i, text)
	}
	var rest strings.Builder
	for i := range 20 {
		rest.WriteString(entry(100+i, "", "x"))
	}
	const plural = "msgid \"one\"\nmsgid_plural \"many\"\nmsgstr[0] \"a\"\nmsgstr[1] \"b\"\n\n"
	for _, c := range []struct {
		name, old, data string
		want            bool
	}{
		{"text", entry(1, "", "a"), entry(1, "", "b"), true},
		{"several lines", entry(1, "", "a"), entry(1, "", "\"\n\"b\\n\"\n\"c"), true},
		{"fuzzy with previous", entry(1, "", "a"), entry(1, "#, fuzzy\n#| msgid \"before\"\n", "a"), true},
		{"form", plural, strings.Replace(plural, `"b"`, `"c"`, 1), true},
		{"two in a row", entry(1, "", "a") + entry(2, "", "a"), entry(1, "", "b") + entry(2, "", "b"), true},
		{"blank lines", entry(1, "", "a"), entry(1, "", "b") + "\n\n", true},
		{"reference", entry(1, "", "a"), strings.Replace(entry(1, "", "a"), "a.c", "b.c", 1), false},
		{"flag", entry(1, "", "a"), entry(1, "#, c-format\n", "a"), false},
		{"comment", entry(1, "", "a"), entry(1, "# hello\n", "a"), false},
		{"source", entry(1, "", "a"), strings.Replace(entry(1, "", "a"), "source", "sauce", 1), false},
		{"added", "", entry(1, "", "a"), false},
		{"removed", entry(1, "", "a"), "", false},
		{"swapped", entry(1, "", "a") + entry(2, "", "a"), entry(2, "", "a") + entry(1, "", "a"), false},
		{"broken", entry(1, "", "a"), entry(1, "", `"`), false},
		{"begins a string", entry(1, "", "a"), strings.TrimSuffix(entry(1, "", "a"), "\"\n\n"), false},
		{"repeats another", entry(1, "", "a"), entry(100, "", "a"), false},
		{"domain", entry(1, "", "a"), "domain \"x\"\n" + entry(1, "", "b"), false},
		{"comment of an obsolete entry", "#~ msgid \"o\"\n#~ msgstr \"o\"\n\n", "# c\n#~ msgid \"o\"\n#~ msgstr \"o\"\n\n", false},
		{"made obsolete", entry(1, "", "a"), "#~ msgid \"source 1\"\n#~ msgstr \"a\"\n\n", false},
	} {
		for name, around := range map[string][2]string{"first": {"", rest.String()}, "last": {rest.String(), ""}, "between": {rest.String(), rest.String()}} {
			if name == "between" {
				around[1] = strings.ReplaceAll(around[1], "source", "other")
			}
			if got := checkEdited(t, editHeader+around[0]+c.old+around[1], editHeader+around[0]+c.data+around[1]); got != c.want {
				t.Errorf("%s, %s: %t", c.name, name, got)
			}
		}
	}
	other := strings.Replace(editHeader, "nplurals=2", "nplurals=3", 1)
	if checkEdited(t, editHeader+rest.String(), other+rest.String()) {
		t.Error("another header is taken for an edit")
	}
	latin := strings.Replace(editHeader, "UTF-8", "ISO-8859-1", 1)
	if checkEdited(t, latin+rest.String(), latin+strings.Replace(rest.String(), "x", "y", 1)) {
		t.Error("another charset is taken for an edit")
	}
}

// drawLines makes lines that parsers know, in an order that they may not.
func drawLines(t *rapid.T) []string {
	lines := rapid.SampledFrom([]string{
		"\n", "msgid \"a\"\n", "msgid \"s1\"\n", "msgstr \"x\"\n", "msgstr \"y\"\n", "msgstr \"\"\n", "\"more\"\n", "# c\n", "#: r.c:1\n", "#, fuzzy\n",
		"msgctxt \"k\"\n", "msgid_plural \"as\"\n", "msgstr[0] \"p\"\n", "msgstr[1] \"q\"\n", "#~ msgid \"o\"\n", "#~ msgstr \"o\"\n", "#| msgid \"w\"\n",
		"domain \"x\"\n", "msgid \"\"\n", "\r\n", "msgid \"e\" msgstr \"f\"\n", "#~ \"g\"\n", "msgstr \"x\" # behind\n", "msgstr \"x\" #, fuzzy\n", "msgid \"a\" # behind\n", "\"more\" # \"it\"\n", "msgstr \"x\"\n\nmsgid \"n\"\nmsgstr \"m\"\n",
	})
	return rapid.SliceOfN(lines, 0, 3).Draw(t, "lines")
}

// drawFile makes the lines of a file that can be read.
func drawFile(t *rapid.T) (lines []string) {
	for i := range rapid.IntRange(1, 6).Draw(t, "entries") {
		more := rapid.SampledFrom([]string{
			"", "", "", "# c\n", "#: r.c:2\n", "#, fuzzy\n#| msgid \"w\"\n", "msgctxt \"k\"\n", "#, c-format\n",
			"#~ msgid \"p\"\n#~ msgstr \"p\"\n\n",
		}).Draw(t, "more")
		text := rapid.SampledFrom([]string{
			"msgstr \"x\"\n", "msgstr \"x\"\n", "msgstr \"x\"\n", "msgstr \"x\"\n", "msgstr \"x\"\n", "msgstr \"x\"\n", "msgstr \"x\"\n", "msgstr \"x\"\n",
			"msgstr \"\"\n", "msgstr \"\"\n", "msgstr \"\"\n\"x\"\n\"y\"\n", "msgid_plural \"ss\"\nmsgstr[0] \"x\"\nmsgstr[1] \"y\"\n",
			"msgstr \"x\" # behind\n", "msgstr \"x\" #, fuzzy\n",
		}).Draw(t, "text")
		end := rapid.SampledFrom([]string{"\n", "\n", "\n", "", "\n\n", "\r\n"}).Draw(t, "end")
		lines = append(lines, strings.SplitAfter(fmt.Sprintf("%smsgid \"s%d\"\n%s%s", more, i, text, end), "\n")...)
	}
	return lines
}

// TestEditedAgreesWithReading: whatever is edited, an edit that is recognised gives the
// units that reading the whole file gives.
func TestEditedAgreesWithReading(t *testing.T) {
	const three = editHeader + "msgid \"a\"\nmsgstr \"b\"\n\nmsgid \"c\"\nmsgstr \"d\"\n\nmsgid \"e\"\nmsgstr \"f\"\n"
	if !checkEdited(t, three, strings.Replace(three, "\"d\"", "\"D\"", 1)) {
		t.Error("an edit is not recognised")
	}
	rapid.Check(t, func(rt *rapid.T) {
		old := drawFile(rt)
		at := rapid.IntRange(0, len(old)).Draw(rt, "at")
		gone := rapid.IntRange(0, min(3, len(old)-at)).Draw(rt, "gone")
		next := slices.Concat(old[:at], drawLines(rt), old[at+gone:])
		checkEdited(t, editHeader+strings.Join(old, ""), editHeader+strings.Join(next, ""))
	})
}

// FuzzEdited is TestEditedAgreesWithReading for any bytes.
func FuzzEdited(f *testing.F) {
	f.Add("msgid \"a\"\nmsgstr \"b\"\n\nmsgid \"c\"\nmsgstr \"d\"\n\nmsgid \"e\"\nmsgstr \"f\"\n", 40, 1, "x")
	f.Fuzz(func(t *testing.T, old string, at, gone int, text string) {
		if at < 0 || gone < 0 || at > len(old) || gone > len(old)-at {
			t.Skip()
		}
		checkEdited(t, editHeader+old, editHeader+old[:at]+text+old[at+gone:])
	})
}
