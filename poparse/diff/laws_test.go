package diff

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/repoglot/repoglot/poparse"
)

// drawFiles draws a file and what somebody made of it.
func drawFiles(t *rapid.T) (old, new *poparse.File) {
	n := func(most int) int { return rapid.IntRange(0, most).Draw(t, "n") }
	old, new = &poparse.File{}, &poparse.File{}
	header := "Language: de\nContent-Type: text/plain; charset=UTF-8\nPlural-Forms: nplurals=2; plural=n!=1;\n"
	old.Header, new.Header = &poparse.Entry{Str: []string{header}}, &poparse.Entry{Str: []string{header}}
	if n(2) == 0 {
		new.Header.Str = []string{strings.Replace(header, "Language: de", "Language-Team: x\nLanguage: de\nPO-Revision-Date: 2026-01-01", 1)}
	}
	for i := range n(8) {
		e := &poparse.Entry{ID: fmt.Sprintf("%s of the strings, number %d", []string{"Open the file", "Close", "Save all"}[n(2)], i), Str: []string{""}, References: []string{"a.c:1"}}
		if n(4) == 0 {
			e.HasPlural, e.IDPlural, e.Str = true, e.ID+"s", []string{"", ""}
		}
		if n(4) == 0 {
			e.Context, e.HasContext = "menu", true
		}
		if n(2) > 0 {
			e.Str[0] = fmt.Sprint("text ", i)
			e.Fuzzy = n(3) == 0
			e.Obsolete = n(7) == 0
		}
		o := *e
		switch n(9) {
		case 0:
			new.Entries = append(new.Entries, &o)
			continue
		case 1:
			old.Entries = append(old.Entries, e)
			continue
		case 2:
			o.ID += ", or not"
		case 3:
			o.Str = slices.Repeat([]string{fmt.Sprint("new ", i)}, len(e.Str))
		case 4:
			o.Str = make([]string, len(e.Str))
			o.Fuzzy = false
		case 5:
			o.Fuzzy = !e.Fuzzy && e.Str[0] != ""
		case 6:
			o.Comments, o.Extracted = []string{"c"}, []string{"d"}
		case 7:
			o.References = []string{"b.c:7", "a.c:1"}
		}
		old.Entries, new.Entries = append(old.Entries, e), append(new.Entries, &o)
	}
	return old, new
}

func bytesOf(t *rapid.T, f *poparse.File) []byte {
	var b bytes.Buffer
	if _, err := f.WriteTo(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// turned are the counts of the difference the other way round.
func turned(c Counts) Counts {
	c.Added, c.Removed = c.Removed, c.Added
	c.Translated, c.Emptied = c.Emptied, c.Translated
	return c
}

// TestLaws: what holds for any two files.
func TestLaws(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		old, new := drawFiles(t)
		a, b := bytesOf(t, old), bytesOf(t, new)
		show := fmt.Sprintf("\n--- old\n%s--- new\n%s", a, b)
		if f := Files("x.po", a, a, Options{}); f.Status != Equal || f.Counts != (Counts{}) || f.Ignored != (Ignored{}) {
			t.Fatalf("a file differs from itself: %+v%s", f, show)
		}
		f, back := Files("x.po", a, b, Options{}), Files("x.po", b, a, Options{})
		// What is fuzzy on one way is confirmed on the other, unless the text came or went.
		there, other := f.Counts, turned(back.Counts)
		there.Fuzzy, there.Confirmed, other.Fuzzy, other.Confirmed = 0, 0, 0, 0
		if there != other {
			t.Fatalf("%+v, the other way round %+v%s", f.Counts, back.Counts, show)
		}
		if f.Ignored != back.Ignored {
			t.Fatalf("ignored %+v, the other way round %+v%s", f.Ignored, back.Ignored, show)
		}
		if f.Total-back.Total != f.Counts.Added-f.Counts.Removed {
			t.Fatalf("%d and %d strings, but %+v%s", back.Total, f.Total, f.Counts, show)
		}
		if (f.Status == Equal) != (f.Counts == Counts{}) {
			t.Fatalf("%s, but %+v%s", f.Status, f.Counts, show)
		}
		kinds := map[string]int{}
		for i := range f.Strings {
			kinds[f.Strings[i].Kind]++
		}
		if kinds["added"] != f.Counts.Added || kinds["removed"] != f.Counts.Removed || kinds["reworded"] != f.Counts.Reworded {
			t.Fatalf("strings %v, but %+v%s", kinds, f.Counts, show)
		}
		// Order is only counted.
		mixed := *new
		mixed.Entries = slices.Clone(new.Entries)
		seed := rapid.Uint64().Draw(t, "seed")
		rand.New(rand.NewPCG(seed, 1)).Shuffle(len(mixed.Entries), func(i, j int) {
			mixed.Entries[i], mixed.Entries[j] = mixed.Entries[j], mixed.Entries[i]
		})
		if g := Files("x.po", a, bytesOf(t, &mixed), Options{}); g.Counts != f.Counts {
			t.Fatalf("%+v, in another order %+v%s", f.Counts, g.Counts, show)
		}
		// Two files are shown alike if nothing but what is ignored differs.
		x, err := Show("x.po", a)
		y, err2 := Show("x.po", b)
		if err != nil || err2 != nil || bytes.Equal(x, y) && f.Counts != (Counts{}) {
			t.Fatalf("shown alike (%v, %v), but %+v%s", err, err2, f.Counts, show)
		}
		if g := f.Ignored; f.Counts == (Counts{}) && g.Order+g.Obsolete+g.Marks == 0 && !bytes.Equal(x, y) {
			t.Fatalf("nothing differs, but they are shown as\n%s\n---\n%s%s", x, y, show)
		}
		// A report has the sums of its files.
		sum := f.Counts
		second := Files("y.po", b, a, Options{})
		sum.add(&second.Counts)
		if r := New([]File{f, second}, 0); r.Counts != sum || r.Differs() != (sum != Counts{}) || r.Failed() {
			t.Fatalf("%+v, the sum is %+v%s", r.Counts, sum, show)
		}
	})
}

// TestShow: what is shown of a file, in UTF-8, and that one which cannot be read stays.
func TestShow(t *testing.T) {
	const file = "# Team\nmsgid \"\"\nmsgstr \"\"\n\"Language: cs\\n\"\n\"X-Generator: G\\n\"\n\"PO-Revision-Date: 2026-01-01\\n\"\n\"Content-Type: text/plain; charset=ISO-8859-2\\n\"\n" +
		"\n#. note\n#: a.c:1\n#, no-wrap, c-format\nmsgid \"a\"\nmsgstr \"\"\n\"\xb9\"\n\" %s\"\n\n#~ msgid \"b\"\n#~ msgstr \"c\"\n"
	const want = "# Team\nmsgid \"\"\nmsgstr \"\"\n\"Language: cs\\n\"\n\"Content-Type: text/plain; charset=UTF-8\\n\"\n" +
		"\n#. note\n#, c-format, no-wrap\nmsgid \"a\"\nmsgstr \"š %s\"\n\n#~ msgid \"b\"\n#~ msgstr \"c\"\n"
	if got, err := Show("cs.po", []byte(file)); err != nil || string(got) != want {
		t.Errorf("%v\n%s, want\n%s", err, got, want)
	}
	if got, err := Show("cs.po", []byte("msgid a")); err == nil || string(got) != "msgid a" {
		t.Errorf("%v, shown as %q", err, got)
	}
}

// TestRemovedSource: a string that left the files of all languages is one that was removed.
func TestRemovedSource(t *testing.T) {
	files := []File{}
	for _, path := range []string{"de.po", "cs.po"} {
		files = append(files, Files(path, []byte(head+middle), []byte(head), Options{Group: "po", Language: path}))
	}
	if r := New(files, 0); r.Sources != (Counts{Removed: 1}) || r.Counts != (Counts{Removed: 2}) {
		t.Errorf("sources %+v, in all %+v", r.Sources, r.Counts)
	}
}

// TestReferences: of lists of references the longer one's that the other lacks are counted.
func TestReferences(t *testing.T) {
	list := func(s string) []string { return strings.Fields(s) }
	for _, tt := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"a", "a", 0}, {"a", "b", 1}, {"", "a b", 2}, {"a", "b c", 2}, {"a b", "b a", 0}, {"a b", "b c", 1}, {"a a", "a", 1}} {
		if got, back := changed(list(tt.a), list(tt.b)), changed(list(tt.b), list(tt.a)); got != tt.want || back != tt.want {
			t.Errorf("%q and %q: %d and %d, want %d", tt.a, tt.b, got, back, tt.want)
		}
	}
}

// FuzzFiles compares any two files: no panic, nothing differs from itself, the counts are
// those of the other way round, and each format can be written.
func FuzzFiles(f *testing.F) {
	f.Add([]byte(body), []byte(head+middle))
	f.Add([]byte("msgid \"a\"\nmsgstr \"\\033[1m`<b>|\"\n"), []byte("#~ msgid \"a\"\n#~ msgstr \"b\"\nmsgid \"\"\nmsgstr \"\"\n"))
	f.Fuzz(func(t *testing.T, old, new []byte) {
		if len(old)+len(new) > 20_000 {
			return
		}
		o := Options{Comparisons: 2_000}
		a, b := Files("x.po", old, new, o), Files("x.po", new, old, o)
		if a.Counts.Added != b.Counts.Removed || a.Counts.Removed != b.Counts.Added || a.Counts.Reworded != b.Counts.Reworded || (a.Status == Equal) != (b.Status == Equal) {
			t.Errorf("%s %+v, the other way round %s %+v", a.Status, a.Counts, b.Status, b.Counts)
		}
		if same := Files("x.po", slices.Concat(old, []byte("\n")), old, o); same.Counts != (Counts{}) && same.Error == "" {
			t.Errorf("a file differs from itself: %+v in\n%s", same.Counts, old)
		}
		r := New([]File{a, b}, 0)
		for _, write := range []func(io.Writer, *Report) error{
			WriteJSON, WriteMarkdown, WriteHTML,
			func(w io.Writer, r *Report) error { return WriteText(w, r, true) },
		} {
			if err := write(io.Discard, &r); err != nil {
				t.Error(err)
			}
		}
	})
}
