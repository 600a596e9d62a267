package edit

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/poparse"
)

// TestMissingStringsDrawn translates drawn strings that a file lacks. The file has the bytes
// that msgmerge --no-fuzzy-matching and the same edits give it, if the template has nothing
// else that it lacks. In files in another order all other lines stay.
func TestMissingStringsDrawn(t *testing.T) {
	needMsgmerge(t)
	rapid.Check(t, func(rt *rapid.T) {
		var all, old, now []*poparse.Entry // of the template, of what the file has of it, and that with what is translated
		var edits []Edit
		n := rapid.IntRange(1, 12).Draw(rt, "strings")
		forms := rapid.IntRange(1, 3).Draw(rt, "forms")
		file := newFile(forms)
		for i := range n {
			e := drawEntry(rt, i)
			all = append(all, e)
			there := rapid.SampledFrom([]string{"there", "there", "translated", "missing", "obsolete"}).Draw(rt, fmt.Sprint(i, " is"))
			text := make([]string, 1)
			if e.HasPlural {
				text = make([]string, forms)
			}
			for k := range text {
				text[k] = fmt.Sprintf("text %d of %d", k, i)
			}
			if there == "there" || there == "obsolete" {
				with := *e
				with.Comments, with.Obsolete = []string{"by somebody"}, there == "obsolete"
				with.Fuzzy = rapid.Bool().Draw(rt, fmt.Sprint(i, " fuzzy"))
				if with.Str = text; with.Obsolete {
					with.Flags, with.References, with.Extracted = nil, nil, nil
				}
				file.Entries = append(file.Entries, &with)
			}
			if there == "there" {
				old = append(old, e)
			}
			if there == "there" || there == "translated" || there == "obsolete" && rapid.Bool().Draw(rt, fmt.Sprint(i, " translated")) {
				now = append(now, e)
			}
			if there != "there" && len(now) > 0 && now[len(now)-1] == e {
				state := rapid.SampledFrom([]catalog.State{done, fuzzy}).Draw(rt, fmt.Sprint(i, " state"))
				ours := Text{catalog.JoinForms(text) + " of ours", state}
				edits = append(edits, Edit{Context: e.Context, Source: SourceOf(e), Base: Text{State: catalog.StateAbsent}, Ours: ours})
			}
		}
		edits = rapid.Permutation(edits).Draw(rt, "edits")
		var options []string
		if rapid.Bool().Draw(rt, "no location") {
			options = append(options, "--no-location")
		}
		before := gnuMerge(t, written(t, file), written(t, templateOf(old)), options...)
		template, err := poparse.Parse("app.pot", written(t, templateOf(all)))
		if err != nil {
			rt.Fatal(err)
		}
		o := Options{Overrule: true, Template: template, NoLocation: options != nil}
		got, results, err := Apply("de.po", before, edits, o)
		if err != nil {
			rt.Fatal(err)
		}
		for i, r := range results {
			if r.Outcome != Applied {
				rt.Errorf("edit %d: %v", i, r)
			}
		}
		want, _, err := Apply("de.po", gnuMerge(t, before, written(t, templateOf(now)), options...), edits, Options{Overrule: true})
		if err != nil {
			rt.Fatal(err)
		}
		if diff := cmp.Diff(string(want), string(got)); diff != "" {
			rt.Fatalf("(-msgmerge +ours)\n%s\nthe file:\n%s", diff, before)
		}
		// The same in two commits.
		if k := len(edits) / 2; k > 0 {
			half, _, _ := Apply("de.po", before, edits[:k], o)
			if half, _, _ = Apply("de.po", half, edits[k:], o); !bytes.Equal(half, got) {
				rt.Fatalf("in two steps (-one +two)\n%s", cmp.Diff(string(got), string(half)))
			}
		}
		file.Entries = rapid.Permutation(file.Entries).Draw(rt, "order")
		other := bytes.ReplaceAll(written(t, file), []byte("\n"), []byte("\r\n"))
		got, _, err = Apply("de.po", other, edits, o)
		if err != nil {
			rt.Fatal(err)
		}
		for line := range strings.Lines(changedLines(string(other), string(got))) {
			if strings.HasPrefix(line, "-") && !strings.HasPrefix(line, "-#~") && strings.TrimSpace(line) != "-" && line != "-# by somebody\r\n" && line != "-#, fuzzy\r\n" {
				rt.Fatalf("%q is lost:\n%s\nof\n%s", line, got, other)
			}
		}
	})
}

// TestMissingInCharset adds strings of a template in UTF-8 to a file in another charset. Comments
// with characters that this lacks are left out: whoever translates can do nothing about them.
func TestMissingInCharset(t *testing.T) {
	const head = "msgid \"\"\nmsgstr \"Content-Type: text/plain; charset=ISO-8859-1\\n\"\n"
	var all []*poparse.Entry
	var list []Edit
	for _, e := range []poparse.Entry{
		{ID: "one", Extracted: []string{"grün"}, References: []string{"a.c:1"}},
		{ID: "two", Extracted: []string{"“quoted”"}, References: []string{"a.c:2"}, Flags: []string{"c-format"}},
		{ID: "three", References: []string{"č.c:1"}, Comments: []string{"“"}},
		{ID: "four", Extracted: []string{"grün"}},
	} {
		all = append(all, &e)
		list = append(list, Edit{Source: e.ID, Base: Text{State: catalog.StateAbsent}, Ours: Text{"für " + e.ID, done}})
	}
	list[3].Ours.Target = "“four”"
	template, err := poparse.Parse("app.pot", written(t, templateOf(all)))
	if err != nil {
		t.Fatal(err)
	}
	out, results, err := Apply("de.po", []byte(head), list, Options{Template: template})
	want := head + "\n#. gr\xfcn\n#: a.c:1\nmsgid \"one\"\nmsgstr \"f\xfcr one\"\n\n#: a.c:2\n#, c-format\nmsgid \"two\"\nmsgstr \"f\xfcr two\"\n" +
		"\nmsgid \"three\"\nmsgstr \"f\xfcr three\"\n"
	if diff := cmp.Diff(want, string(out)); err != nil || diff != "" {
		t.Errorf("%v (-want +got)\n%s", err, diff)
	}
	if results[1].Outcome != Applied || results[3].Outcome != Unwritable || !strings.Contains(results[3].Reason, "“") {
		t.Errorf("%+v", results)
	}
}

func newFile(forms int) *poparse.File {
	h := &poparse.Entry{Str: []string{fmt.Sprintf("Language: de\nContent-Type: text/plain; charset=UTF-8\nPlural-Forms: nplurals=%d; plural=0;\n", forms)}}
	return &poparse.File{Header: h}
}

func templateOf(list []*poparse.Entry) *poparse.File {
	h := &poparse.Entry{Str: []string{"Content-Type: text/plain; charset=UTF-8\n"}}
	return &poparse.File{Header: h, Entries: list}
}

// drawEntry draws an entry of a template.
func drawEntry(rt *rapid.T, i int) *poparse.Entry {
	yes := func(what string) bool { return rapid.IntRange(1, 3).Draw(rt, fmt.Sprint(i, " ", what)) == 1 }
	e := &poparse.Entry{ID: fmt.Sprintf("string %d", i), Str: []string{""}, HasContext: yes("context"), HasPlural: yes("plural")}
	if e.HasContext {
		e.Context = "menu"
	}
	if e.HasPlural {
		e.IDPlural, e.Str = e.ID+"s", []string{"", ""}
	}
	if yes("long") {
		e.ID += strings.Repeat(" and so on", 12)
	}
	if yes("extracted") {
		e.Extracted = []string{"for translators"}
	}
	if yes("comments") {
		e.Comments = []string{"of the template"}
	}
	if yes("references") {
		e.References = []string{"./a.c:" + fmt.Sprint(i), "b.c:1", "b.c:1"}
	}
	if yes("flags") {
		e.Flags = []string{rapid.SampledFrom([]string{"c-format", "no-c-format", "other"}).Draw(rt, fmt.Sprint(i, " flag"))}
	}
	return e
}

func written(t *testing.T, f *poparse.File) []byte {
	t.Helper()
	var b bytes.Buffer
	if _, err := f.WriteTo(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func needMsgmerge(t *testing.T) {
	t.Helper()
	if out, err := exec.Command("msgmerge", "--version").Output(); err != nil || !bytes.Contains(out, []byte(" 0.21")) {
		t.Skip("skipped: msgmerge 0.21 is not installed")
	}
}

// gnuMerge updates a file to a template, as GNU msgmerge does without similar strings.
func gnuMerge(t *testing.T, file, template []byte, options ...string) []byte {
	t.Helper()
	dir := t.TempDir()
	a, b := filepath.Join(dir, "de.po"), filepath.Join(dir, "app.pot")
	for path, data := range map[string][]byte{a: file, b: template} {
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	out, err := exec.Command("msgmerge", append([]string{"--quiet", "--force-po", "--no-fuzzy-matching", a, b}, options...)...).Output()
	if err != nil {
		t.Fatalf("msgmerge: %v\n%s\n%s", err, file, template)
	}
	return out
}
