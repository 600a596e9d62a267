package unit

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/repoglot/repoglot/catalog"
)

// readAs parses a PO file under the given component flags and source language.
func readAs(t *testing.T, checkFlags string, cjk bool, body string) *File {
	t.Helper()
	const header = "msgid \"\"\nmsgstr \"Content-Type: text/plain; charset=UTF-8\\n\"\n\n"
	f, err := (*Reader)(nil).Read("po/cs.po", []byte(header+body), NewRules(checkFlags, cjk))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// TestReadEntry holds the rules for single entries (docs/po.md).
func TestReadEntry(t *testing.T) {
	const sep = catalog.FormSeparator
	type want struct {
		Source, Context, Target, Previous, Note, Flags, Location string
		State, Priority, Words, Chars                            int
	}
	base := want{Source: "One two", Target: "Jedna", State: 20, Priority: 100, Words: 2, Chars: 7}
	with := func(change func(*want)) want {
		w := base
		change(&w)
		return w
	}
	const entry = "msgid \"One two\"\nmsgstr \"Jedna\"\n"
	for name, c := range map[string]struct {
		flags string
		cjk   bool
		in    string
		want  want
	}{
		"plain":            {in: entry, want: base},
		"context":          {in: "msgctxt \"menu\"\n" + entry, want: with(func(w *want) { w.Context = "menu" })},
		"empty context":    {in: "msgctxt \"\"\n" + entry, want: base},
		"untranslated":     {in: "msgid \"One two\"\nmsgstr \"\"\n", want: with(func(w *want) { w.Target, w.State = "", 0 })},
		"fuzzy":            {in: "#, fuzzy\n#| msgid \"One\"\n" + entry, want: with(func(w *want) { w.State, w.Previous = 10, "One" })},
		"fuzzy and empty":  {in: "#, fuzzy\n#| msgid \"One\"\nmsgid \"One two\"\nmsgstr \"\"\n", want: with(func(w *want) { w.Target, w.State, w.Previous = "", 0, "One" })},
		"previous plural":  {in: "#, fuzzy\n#| msgid \"a\"\n#| msgid_plural \"b\"\n" + entry, want: with(func(w *want) { w.State, w.Previous = 10, "a"+sep+"b" })},
		"previous, sure":   {in: "#| msgid \"One\"\n" + entry, want: base},
		"read-only":        {in: "#, read-only, fuzzy\n" + entry, want: with(func(w *want) { w.State, w.Flags = 100, "read-only" })},
		"all read-only":    {flags: "ignore-same, read-only", in: "msgid \"One two\"\nmsgstr \"\"\n", want: with(func(w *want) { w.Target, w.State = "", 100 })},
		"priority":         {in: "#, priority:140\n" + entry, want: with(func(w *want) { w.Priority, w.Flags = 140, "priority:140" })},
		"priority of all":  {flags: "priority:60", in: entry, want: with(func(w *want) { w.Priority = 60 })},
		"own priority":     {flags: "priority:60", in: "#, priority:70\n" + entry, want: with(func(w *want) { w.Priority, w.Flags = 70, "priority:70" })},
		"bad priority":     {in: "#, priority:high\n" + entry, want: with(func(w *want) { w.Flags = "priority:high" })},
		"sorted flags":     {in: "#, python-format, fuzzy\n#, c-format, max-length:100\n" + entry, want: with(func(w *want) { w.State, w.Flags = 10, "c-format, max-length:100, python-format" })},
		"note":             {in: "#  translator\n#. extracted\n#. more\n# again\n" + entry, want: with(func(w *want) { w.Note = " translator\nagain\nextracted\nmore" })},
		"note, open end":   {in: "# a\n#\n" + entry, want: with(func(w *want) { w.Note = "a" })},
		"locations":        {in: "#: a.c:10 b.c:20\n#: c.c\n" + entry, want: with(func(w *want) { w.Location = "a.c:10, b.c:20, c.c" })},
		"plural":           {in: "msgid \"one\"\nmsgid_plural \"two words\"\nmsgstr[0] \"a\"\nmsgstr[1] \"\"\n", want: want{Source: "one" + sep + "two words", Target: "a" + sep, State: 20, Priority: 100, Words: 3, Chars: 14}},
		"plural, no first": {in: "#, fuzzy\nmsgid \"one\"\nmsgid_plural \"two\"\nmsgstr[0] \"\"\nmsgstr[1] \"b\"\n", want: want{Source: "one" + sep + "two", Target: sep + "b", State: 0, Priority: 100, Words: 2, Chars: 8}},
		"cjk":              {cjk: true, in: "msgid \"日本語 test\"\nmsgstr \"x\"\n", want: want{Source: "日本語 test", Target: "x", State: 20, Priority: 100, Words: 4, Chars: 8}},
	} {
		t.Run(name, func(t *testing.T) {
			f := readAs(t, c.flags, c.cjk, c.in)
			if len(f.Units) != 1 {
				t.Fatalf("%d units, want 1", len(f.Units))
			}
			u := f.Units[0]
			got := want{
				u.Source, u.Context, u.Target, u.PreviousSource, u.Note, u.Flags, u.Location,
				int(u.State), u.Priority, u.Words, u.Chars,
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("unit (-want +got):\n%s", diff)
			}
		})
	}
}

// TestReadFile holds which entries become units, and their positions.
func TestReadFile(t *testing.T) {
	for name, c := range map[string]struct {
		in       string
		want     string
		repeated int
	}{
		"obsolete":                 {in: "msgid \"a\"\nmsgstr \"\"\n\n#~ msgid \"b\"\n#~ msgstr \"x\"\n\nmsgid \"c\"\nmsgstr \"\"\n", want: "1 a, 2 c"},
		"repeated":                 {in: "msgid \"a\"\nmsgstr \"1\"\n\nmsgid \"a\"\nmsgstr \"2\"\n\nmsgid \"c\"\nmsgstr \"\"\n", want: "1 a, 3 c", repeated: 1},
		"an empty context is none": {in: "msgid \"a\"\nmsgstr \"1\"\n\nmsgctxt \"\"\nmsgid \"a\"\nmsgstr \"2\"\n\nmsgid \"c\"\nmsgstr \"\"\n", want: "1 a, 3 c", repeated: 1},
		"forms joined in a msgid":  {in: "msgid \"a\"\nmsgid_plural \"b\"\nmsgstr[0] \"\"\n\nmsgid \"a\\036\\036b\"\nmsgstr \"\"\n\nmsgid \"c\"\nmsgstr \"\"\n", want: "1 a\x1e\x1eb, 3 c", repeated: 1},
		"empty id with context":    {in: "msgctxt \"x\"\nmsgid \"\"\nmsgstr \"1\"\n", want: "1 "},
		"before a domain":          {in: "msgid \"a\"\nmsgstr \"\"\n\ndomain \"d\"\nmsgid \"b\"\nmsgstr \"\"\n", want: "1 a"},
		"first domain":             {in: "domain \"d\"\nmsgid \"b\"\nmsgstr \"\"\n\ndomain \"e\"\nmsgid \"c\"\nmsgstr \"\"\n", want: "1 b"},
		"nothing":                  {in: "", want: ""},
		"obsolete repeats, unseen": {in: "#~ msgid \"a\"\n#~ msgstr \"x\"\n\nmsgid \"a\"\nmsgstr \"\"\n", want: "1 a"},
	} {
		t.Run(name, func(t *testing.T) {
			f := readAs(t, "", false, c.in)
			var got []string
			for i := range f.Units {
				u := &f.Units[i]
				got = append(got, string(rune('0'+u.Position))+" "+u.Source)
			}
			if text := strings.Join(got, ", "); text != c.want || f.Repeated != c.repeated {
				t.Errorf("units %q with %d repeated, want %q with %d", text, f.Repeated, c.want, c.repeated)
			}
		})
	}
}
