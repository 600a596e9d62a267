package msgmerge

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/repoglot/repoglot/poparse"
)

// TestDrawn compares drawn files and templates with msgmerge.
func TestDrawn(t *testing.T) {
	needMsgmerge(t)
	sets := optionSets()
	refused := 0
	rapid.Check(t, func(rt *rapid.T) {
		args := rapid.SampledFrom([]string{"", "-N", "--previous", "-N --no-location --no-wrap", "--previous --no-wrap"}).Draw(rt, "options")
		file, template := drawFile(rt, "file", true), drawFile(rt, "template", false)
		diff, no := compare(t, []byte(file), []byte(template), args, sets[args])
		if diff != "" {
			rt.Fatalf("msgmerge %s (-msgmerge +ours)\n%s\nfile:\n%s\ntemplate:\n%s", args, diff, file, template)
		}
		if no {
			refused++
		}
	})
	t.Logf("both refused %d", refused)
}

// drawFile draws a small file, of few sources, so that files and templates share some.
func drawFile(rt *rapid.T, label string, texts bool) string {
	var b strings.Builder
	header := `msgid ""
msgstr ""
"Project-Id-Version: x\n"
"Content-Type: text/plain; charset=%s\n"
"POT-Creation-Date: %d\n"
"X-Generator: z\n"
"%s\n"
"Plural-Forms: nplurals=%d; plural=n != 1;\n"
`
	forms := rapid.IntRange(1, 3).Draw(rt, label+" forms")
	languages := []string{"Language: de", "Language:", "Language-Team: German <a@b>", "Language-Team:\tLow Saxon  x/y", "Language-Team: German", "Language-Team: German <a@b> ", "Language-Team: Klingon <a@b>"}
	fmt.Fprintf(&b, header, rapid.SampledFrom([]string{"UTF-8", "utf-8"}).Draw(rt, label+" charset"), rapid.IntRange(0, 9).Draw(rt, label+" date"), rapid.SampledFrom(languages).Draw(rt, label+" language"), forms)
	ids := []string{"a", "abc", "Open file", "Open files", "Open the file", "Close the file", "Open file 5", strings.Repeat("a long text ", 9), "two\nlines", "tab\t\"quote\"", "日本語の文字列", "-"}
	n := rapid.IntRange(0, 8).Draw(rt, label+" entries")
	for i := range n {
		of := func(what string) string { return fmt.Sprintf("%s %d %s", label, i, what) }
		yes := func(what string, most int) bool { return rapid.IntRange(1, most).Draw(rt, of(what)) == 1 }
		obsolete := texts && yes("obsolete", 4)
		e := &poparse.Entry{ID: rapid.SampledFrom(ids).Draw(rt, of("id")), Obsolete: obsolete}
		if e.HasContext = yes("context", 4); e.HasContext {
			e.Context = rapid.SampledFrom([]string{"menu", "window"}).Draw(rt, of("which"))
		}
		if e.HasPlural = yes("plural", 4); e.HasPlural {
			e.IDPlural = rapid.SampledFrom([]string{"files", "Open files"}).Draw(rt, of("plural id"))
		}
		e.Fuzzy = texts && yes("fuzzy", 3)
		if e.Fuzzy && yes("previous", 2) {
			e.Previous = &poparse.Previous{ID: "was " + e.ID}
		}
		if yes("comment", 3) {
			e.Comments = []string{rapid.SampledFrom([]string{"by " + label, "File: a.c, line: 3", "File:src/b.c, line:7", "file: c.c ,\tline:012 ", " File: d.c, line:1"}).Draw(rt, of("comments"))}
		}
		if yes("extracted", 3) && !obsolete {
			e.Extracted = []string{"from " + label}
		}
		if yes("reference", 2) && !obsolete {
			e.References = []string{rapid.SampledFrom([]string{"./src/a.c:1", "src/a.c", "b.c:22"}).Draw(rt, of("reference"))}
		}
		if yes("flag", 3) {
			e.Flags = []string{rapid.SampledFrom([]string{"c-format", "no-c-format", "no-wrap", "range: 0..5", "python-format"}).Draw(rt, of("flags"))}
		}
		count := 1
		if e.HasPlural {
			count = forms
		}
		for range count {
			str := ""
			if texts && !yes("empty", 3) {
				str = rapid.SampledFrom([]string{"Text", "Datei öffnen", strings.Repeat("ein langer Text ", 8), "zwei\nZeilen"}).Draw(rt, of("text"))
			}
			e.Str = append(e.Str, str)
		}
		var out bytes.Buffer
		if _, err := (&poparse.File{Entries: []*poparse.Entry{e}}).WriteTo(&out); err != nil {
			continue // what cannot be written in ASCII, without a header
		}
		b.WriteString("\n" + out.String())
	}
	return b.String()
}

// TestSimilarity compares the measure with the usual way to compute it.
func TestSimilarity(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		text := rapid.StringOfN(rapid.SampledFrom([]rune("abc é")), 1, 150, -1)
		a, b := text.Draw(rt, "a"), text.Draw(rt, "b")
		want := 2 * float64(common(a, b)) / float64(len(a)+len(b))
		if got := NewPattern(a).Similarity(b, 0); got != want {
			rt.Errorf("the similarity of %q and %q is %v, want %v", a, b, got, want)
		}
	})
}

// common is the length of the longest common subsequence.
func common(a, b string) int {
	row := make([]int, len(b)+1)
	for i := range len(a) {
		before := 0
		for j := range len(b) {
			above := row[j+1]
			if a[i] == b[j] {
				row[j+1] = before + 1
			} else {
				row[j+1] = max(row[j], above)
			}
			before = above
		}
	}
	return row[len(b)]
}

// FuzzMerge asks that whatever can be read can be merged and written, that the result has
// the strings of the template and no others, and that no text of the file is lost.
func FuzzMerge(f *testing.F) {
	f.Add([]byte("msgid \"a b c d\"\nmsgstr \"x\"\n"), []byte("msgid \"a b c d e\"\nmsgstr \"\"\n"), false)
	f.Add([]byte("msgid \"\"\nmsgstr \"Language-Team: x <y@z>\\n\"\n#~ msgid \"a\"\n#~ msgstr \"b\"\n"), []byte("msgid \"a\"\nmsgid_plural \"b\"\nmsgstr[0] \"\"\n"), true)
	f.Fuzz(func(t *testing.T, file, template []byte, previous bool) {
		if len(file)+len(template) > 20_000 {
			return
		}
		a, err := poparse.Parse("a.po", file)
		if err != nil {
			return
		}
		b, err := poparse.Parse("b.pot", template)
		if err != nil {
			return
		}
		r, err := Merge(a, b, Options{Previous: previous})
		if err != nil {
			return
		}
		var out bytes.Buffer
		if _, err := r.File.WriteTo(&out); err != nil {
			return // such as characters that the charset does not have
		}
		back, err := poparse.Parse("a.po", out.Bytes())
		if err != nil {
			t.Fatalf("%v in\n%s", err, out.Bytes())
		}
		live, texts := map[key]bool{}, map[string]bool{}
		for _, e := range back.Entries {
			live[keyOf(e)] = !e.Obsolete
			texts[form(e.Str)[0]] = true
		}
		for _, e := range b.Entries {
			if !e.Obsolete && !live[keyOf(e)] {
				t.Errorf("%+v of the template is not in\n%s", e, out.Bytes())
			}
		}
		for _, e := range a.Entries {
			if translated(e) && !texts[e.Str[0]] {
				t.Errorf("the text of %+v is not in\n%s", e, out.Bytes())
			}
		}
	})
}

// TestSimilar compares what is found, while it is remembered from other files, with what comparing
// with each entry finds.
func TestSimilar(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		id := rapid.Custom(func(rt *rapid.T) string {
			if rapid.IntRange(0, 9).Draw(rt, "short") == 0 {
				return rapid.StringOfN(rapid.SampledFrom([]rune("ab")), 0, 3, -1).Draw(rt, "id")
			}
			return fmt.Sprintf("String %d of %s", rapid.IntRange(10, 99).Draw(rt, "number"), rapid.SampledFrom([]string{"the", "my files", "é"}).Draw(rt, "of"))
		})
		entry := rapid.Custom(func(rt *rapid.T) *poparse.Entry {
			context := rapid.SampledFrom([]string{"", "", "x", "y"}).Draw(rt, "context")
			return &poparse.Entry{ID: id.Draw(rt, "id"), Context: context, HasContext: context != "", Str: []string{rapid.SampledFrom([]string{"text", "text", ""}).Draw(rt, "text")}}
		})
		refs, s := rapid.SliceOfN(entry, 1, 5).Draw(rt, "template"), &similar{}
		for range rapid.IntRange(2, 5).Draw(rt, "files") {
			without := rapid.SampledFrom([]string{"the", "files", "é", "-"}).Draw(rt, "without")
			list := slices.DeleteFunc(rapid.SliceOfN(entry, 20, 60).Draw(rt, "file"), func(e *poparse.Entry) bool {
				return strings.HasSuffix(e.ID, without)
			})
			s.of(list)
			for _, ref := range refs {
				if got, want := s.search(ref), mostSimilar(list, ref); got != want {
					rt.Fatalf("for %q in %q: entry %d, want %d", ref.ID, ref.Context, got, want)
				}
			}
		}
	})
}

// mostSimilar is similar.search by comparing with each entry.
func mostSimilar(list []*poparse.Entry, ref *poparse.Entry) (best int) {
	best, weight, order, grams := -1, threshold, 0, gramsOf(ref.ID)
	for i, e := range list {
		shared := 0
		for _, gram := range grams {
			if strings.Contains(e.ID, string(gram[:])) {
				shared++
			}
		}
		if len(grams) == 0 && len(e.ID) <= shortBytes {
			shared = 1000 - len(e.ID)
		}
		if e.Str[0] == "" || e.ID == "" || ref.ID == "" || shared == 0 {
			continue
		}
		w := 2 * float64(common(ref.ID, e.ID)) / float64(len(ref.ID)+len(e.ID))
		if !e.HasContext || ref.HasContext && ref.Context == e.Context {
			w += sameContext
		}
		if w > weight || w == weight && best >= 0 && shared > order {
			best, weight, order = i, w, shared
		}
	}
	return best
}
