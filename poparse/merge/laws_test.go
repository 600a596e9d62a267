package merge

import (
	"bytes"
	"cmp"
	"fmt"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/repoglot/repoglot/poparse"
	"github.com/repoglot/repoglot/testrepos/testsize"
)

// drawn makes files of which all texts are told apart.
type drawn struct {
	*rapid.T
	texts int
}

func (d *drawn) n(most int) int { return rapid.IntRange(0, most).Draw(d.T, "n") }

// text returns a text that no other string has.
func (d *drawn) text() string {
	d.texts++
	return fmt.Sprintf("text %d%s", d.texts, strings.Repeat(" long word", d.n(12)/4))
}

func (d *drawn) str(e *poparse.Entry) {
	e.Str = []string{d.text()}
	for e.HasPlural && len(e.Str) < 2 {
		e.Str = append(e.Str, d.text())
	}
}

// entry draws an entry of one of a few sources, of which some are similar.
func (d *drawn) entry() *poparse.Entry {
	e := &poparse.Entry{ID: fmt.Sprintf("%s number %d", []string{"Open the file", "Close", "Save all files as"}[d.n(2)], d.n(5)), Str: []string{""}}
	if d.n(5) == 0 {
		e.Context, e.HasContext = "menu", true
	}
	if d.n(4) == 0 {
		e.HasPlural, e.IDPlural, e.Str = true, e.ID+"s", []string{"", ""}
	}
	for range 3 {
		d.change(e)
	}
	return e
}

// change changes one field.
func (d *drawn) change(e *poparse.Entry) {
	switch d.n(9) {
	case 0, 1, 2:
		d.str(e)
		if e.Fuzzy = d.n(3) == 0; !e.Fuzzy {
			e.Previous = nil
		}
	case 3:
		e.Fuzzy = !e.Fuzzy && !TextOf(e).Empty()
	case 4:
		e.Comments = append(slices.Clone(e.Comments), d.text())
	case 5:
		e.References = []string{fmt.Sprintf("a.c:%d", d.n(99)), fmt.Sprintf("b.c:%d", d.n(99))}
	case 6:
		e.Extracted = []string{d.text()}
	case 7:
		e.Flags = []string{"c-format", "no-wrap"}[:1+d.n(1)]
	case 8:
		e.Str = make([]string, len(e.Str))
		e.Fuzzy, e.Previous = false, nil
	case 9:
		if e.Fuzzy && !TextOf(e).Empty() {
			e.Previous = &poparse.Previous{ID: d.text()}
		}
	}
}

// file draws a file without repeated strings.
func (d *drawn) file() *poparse.File {
	f := &poparse.File{NoWrap: d.n(1) == 0}
	if d.n(4) > 0 {
		f.Header = &poparse.Entry{Str: []string{"POT-Creation-Date: 2026-01-01 00:00+0000\nPO-Revision-Date: 2026-01-01 00:00+0000\nLast-Translator: A\nContent-Type: text/plain; charset=UTF-8\nPlural-Forms: nplurals=2; plural=n!=1;\n"}}
	}
	for range d.n(8) {
		d.add(f, d.entry())
	}
	return f
}

// add adds an entry whose source is new.
func (d *drawn) add(f *poparse.File, e *poparse.Entry) {
	if !slices.ContainsFunc(f.Entries, func(o *poparse.Entry) bool { return o.ID == e.ID && o.Context == e.Context }) {
		f.Entries = slices.Insert(slices.Clone(f.Entries), d.n(len(f.Entries)), e)
	}
}

// side draws what somebody makes of a file; the two sides have different times.
func (d *drawn) side(base *poparse.File, v Side) *poparse.File {
	f := &poparse.File{NoWrap: base.NoWrap, Header: base.Header}
	if base.Header != nil && d.n(3) > 0 {
		h := *base.Header
		h.Str = []string{strings.NewReplacer("POT-Creation-Date: 2026-01-01", fmt.Sprintf("POT-Creation-Date: 2026-02-0%d", v),
			"PO-Revision-Date: 2026-01-01", fmt.Sprintf("PO-Revision-Date: 2026-03-0%d", 3-v), "Translator: A", fmt.Sprint("Translator: ", v)).Replace(h.Str[0])}
		h.Comments = append(slices.Clone(h.Comments), d.text())
		f.Header = &h
	}
	for _, e := range base.Entries {
		c := *e
		f.Entries = append(f.Entries, &c)
	}
	for range d.n(6) {
		if len(f.Entries) == 0 || d.n(5) == 0 {
			d.add(f, d.entry())
			continue
		}
		i := d.n(len(f.Entries) - 1)
		e := f.Entries[i]
		switch d.n(9) {
		case 0:
			f.Entries = slices.Delete(f.Entries, i, i+1)
		case 1:
			f.Entries = slices.Delete(f.Entries, i, i+1)
			r := *e
			r.ID = fmt.Sprintf("%s, or not", e.ID)
			if r.HasPlural {
				r.IDPlural = r.ID + "s"
			}
			if r.Fuzzy = d.n(2) > 0 && !TextOf(e).Empty(); r.Fuzzy && d.n(1) == 0 {
				r.Previous = &poparse.Previous{ID: e.ID, Context: e.Context}
			}
			d.add(f, &r)
		case 2:
			e.Obsolete = !e.Obsolete && !TextOf(e).Empty()
			if e.Obsolete {
				e.References, e.Extracted = nil, nil
			}
		case 3:
			if e.HasPlural = !e.HasPlural; e.HasPlural {
				e.IDPlural, e.Str = e.ID+"s", []string{e.Str[0], e.Str[0]}
			} else {
				e.IDPlural, e.Str = "", e.Str[:1]
			}
			e.Fuzzy = !TextOf(e).Empty()
		case 4:
			f.Entries = slices.Insert(slices.Delete(f.Entries, i, i+1), d.n(len(f.Entries)-1), e)
		default:
			d.change(e)
		}
	}
	return f
}

// bytes writes a file as somebody's editor would.
func (d *drawn) bytes(f *poparse.File, crlf bool) []byte {
	var b bytes.Buffer
	if _, err := f.WriteTo(&b); err != nil {
		d.Fatal(err)
	}
	text := b.String()
	if d.n(9) == 0 {
		text = strings.TrimSuffix(text, "\n")
	}
	if d.n(9) == 0 {
		text += "\n# " + d.text() + "\n"
	}
	if crlf != (d.n(19) == 0) {
		text = strings.ReplaceAll(text, "\n", "\r\n")
	}
	return []byte(text)
}

func draw(t *rapid.T) (d *drawn, base, ours, theirs []byte) {
	d = &drawn{T: t}
	f, crlf := d.file(), d.n(4) == 0
	x, y := d.side(f, Ours), d.side(f, Theirs)
	return d, d.bytes(f, crlf), d.bytes(x, crlf), d.bytes(y, crlf)
}

type testingT interface {
	Helper()
	Fatalf(string, ...any)
}

// merged merges without looking whether two are the same.
func merged(t testingT, base, ours, theirs []byte, o Options) Result {
	t.Helper()
	r, err := files([3][]byte{base, ours, theirs}, o)
	if err != nil {
		t.Fatalf("%v\n--- base\n%s--- ours\n%s--- theirs\n%s", err, base, ours, theirs)
	}
	return r
}

// meaning lists what a file says, without order.
func meaning(t testingT, data []byte) string {
	t.Helper()
	f, err := poparse.Parse("", data)
	if err != nil {
		t.Fatalf("%v\n%s", err, data)
	}
	var list []string
	for _, e := range entriesOf(f) {
		comments := slices.Sorted(slices.Values(lines(e.Comments)))
		prev := fmt.Sprint(e.Previous)
		if e.Previous != nil {
			prev = fmt.Sprint(*e.Previous)
		}
		// The name of a side tells which one it was.
		comments = slices.DeleteFunc(comments, func(c string) bool { return c == "ours:" || c == "theirs:" })
		list = append(list, fmt.Sprintf("%q %t %q %q fuzzy %t obsolete %t %q %q %q %q %s", e.Context, e.HasContext, e.ID, e.IDPlural, e.Fuzzy, e.Obsolete, trim(e.Str), comments, e.Extracted, e.Flags, prev))
		if isHeader(e) {
			list[len(list)-1] = fmt.Sprintf("%q %q", comments, e.Str)
		}
	}
	slices.Sort(list)
	return strings.Join(list, "\n")
}

// TestLaws: what holds for all files.
func TestLaws(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		d, base, ours, theirs := draw(t)
		for _, law := range []struct {
			name          string
			b, x, y, want []byte
		}{{"merge(b, x, b) = x", base, ours, base, ours}, {"merge(b, b, x) = x", base, base, theirs, theirs}, {"merge(b, x, x) = x", base, ours, ours, ours}} {
			if r := merged(t, law.b, law.x, law.y, Options{}); !bytes.Equal(r.Data, law.want) {
				t.Fatalf("%s\n--- b\n%s--- x\n%s--- got\n%s", law.name, law.b, law.want, r.Data)
			}
		}
		r, back := merged(t, base, ours, theirs, Options{}), merged(t, base, theirs, ours, Options{})
		show := fmt.Sprintf("\n--- base\n%s--- ours\n%s--- theirs\n%s--- merged\n%s", base, ours, theirs, r.Data)
		const date = "POT-Creation-Date"
		told := r.Table.files[Ours].Field(date) != r.Table.files[Theirs].Field(date) // which template is newer
		if told && r.Conflicts != back.Conflicts {
			t.Fatalf("%d conflicts, exchanged %d%s--- exchanged\n%s", r.Conflicts, back.Conflicts, show, back.Data)
		}
		one, other := merged(t, base, ours, theirs, Options{Favor: FavorOurs}), merged(t, base, theirs, ours, Options{Favor: FavorTheirs})
		if a, b := meaning(t, one.Data), meaning(t, other.Data); told && a != b {
			t.Fatalf("exchanged:\n%s\n---\n%s%s", a, b, show)
		}
		for _, favor := range []Favor{FavorNone, FavorFuzzy} {
			r := merged(t, base, ours, theirs, Options{Favor: favor})
			if why := lost(base, ours, theirs, r.Data); why != "" {
				t.Fatalf("%s (favor %q)%s", why, favor, show)
			}
		}
		_ = d
	})
}

var word = regexp.MustCompile(`text \d+`)

// lost says which text of a side is lost, or under a source that its author did not see. All
// texts are told apart.
func lost(base, ours, theirs, data []byte) string {
	had, have := words(base), words(data)
	for _, side := range [][]byte{ours, theirs} {
		f, _ := poparse.Parse("", side)
		for _, e := range f.Entries {
			for _, text := range slices.Concat(e.Str, e.Comments) {
				if w := word.FindString(text); w != "" && !had[w] && !have[w] {
					return fmt.Sprintf("%q of %q is lost", w, e.ID)
				}
			}
		}
	}
	seen := map[string]bool{}
	for _, side := range [][]byte{base, ours, theirs} {
		f, _ := poparse.Parse("", side)
		for _, e := range f.Entries {
			if !e.Fuzzy {
				seen[sourceAndText(e)] = true
			}
		}
	}
	for v := Ours; v <= Theirs; v++ {
		f, err := poparse.Parse("", resolved(data, v))
		if err != nil {
			return err.Error()
		}
		for _, e := range f.Entries {
			if e.Duplicate {
				return fmt.Sprintf("%q is repeated", e.ID)
			}
			if TextOf(e).Translated() && !e.Obsolete && !seen[sourceAndText(e)] {
				return fmt.Sprintf("%q is under %q, which its author did not see", e.Str, e.ID)
			}
		}
	}
	return ""
}

func sourceAndText(e *poparse.Entry) string {
	return fmt.Sprintf("%q %q %t %q %q", e.ID, e.Context, e.HasContext, e.IDPlural, trim(e.Str))
}

func words(data []byte) map[string]bool {
	set := map[string]bool{}
	for _, w := range word.FindAll(regexp.MustCompile(`"\r?\n(# |#~ )?"`).ReplaceAll(data, nil), -1) {
		set[string(w)] = true
	}
	return set
}

// resolved takes one side of all conflicts.
func resolved(data []byte, v Side) []byte {
	var out []byte
	in := Base
	for line := range bytes.Lines(data) {
		switch {
		case bytes.HasPrefix(line, []byte("<<<<<<<")):
			in = Ours
		case bytes.HasPrefix(line, []byte("=======")):
			in = Theirs
		case bytes.HasPrefix(line, []byte(">>>>>>>")):
			in = Base
		case in == Base || in == v:
			out = append(out, line...)
		}
	}
	return out
}

// TestDisjoint: three people who change different strings get the same in any order.
func TestDisjoint(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		d := &drawn{T: t}
		f := d.file()
		for len(f.Entries) < 6 {
			d.add(f, d.entry())
		}
		slices.SortFunc(f.Entries, func(a, b *poparse.Entry) int {
			return cmp.Or(cmp.Compare(a.ID, b.ID), cmp.Compare(a.Context, b.Context))
		})
		base := d.bytes(f, false)
		var sides [3][]byte
		for i := range sides {
			f, _ := poparse.Parse("", base)
			for k, e := range f.Entries {
				if k%3 == i {
					d.change(e)
				}
			}
			sides[i] = d.bytes(f, false)
		}
		m := func(b, x, y []byte) []byte {
			r := merged(t, b, x, y, Options{})
			if r.Conflicts > 0 {
				t.Fatalf("%d conflicts\n%s", r.Conflicts, r.Data)
			}
			return r.Data
		}
		left, right := m(base, m(base, sides[0], sides[1]), sides[2]), m(base, sides[0], m(base, sides[1], sides[2]))
		if a, b := meaning(t, left), meaning(t, right); a != b {
			t.Fatalf("%s\n---\n%s\n--- base\n%s--- sides\n%s---\n%s---\n%s", a, b, base, sides[0], sides[1], sides[2])
		}
	})
}

// TestMsgfmt: msgfmt -c accepts what it accepts on both sides.
func TestMsgfmt(t *testing.T) {
	t.Parallel()
	msgfmt, err := exec.LookPath("msgfmt")
	if err != nil {
		t.Skip("skipped: there is no msgfmt here")
	}
	accepts := func(data []byte) bool {
		cmd := exec.CommandContext(t.Context(), msgfmt, "-c", "-o", "/dev/null", "-")
		cmd.Stdin = bytes.NewReader(data)
		return cmd.Run() == nil
	}
	count, most := 0, testsize.Of(30, 300, 3000)
	rapid.Check(t, func(t *rapid.T) {
		if count >= most {
			return
		}
		_, base, ours, theirs := draw(t)
		if !accepts(ours) || !accepts(theirs) {
			return
		}
		count++
		if r := merged(t, base, ours, theirs, Options{}); r.Conflicts == 0 && !accepts(r.Data) {
			t.Fatalf("msgfmt refuses\n%s\n--- base\n%s--- ours\n%s--- theirs\n%s", r.Data, base, ours, theirs)
		}
	})
	if count < 10 {
		t.Errorf("only %d pairs were accepted", count)
	}
}
