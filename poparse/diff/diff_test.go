package diff

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/repoglot/repoglot/poparse"
)

const head = `# Team
msgid ""
msgstr ""
"POT-Creation-Date: 2024-01-01 10:00+0000\n"
"Language: de\n"
"Content-Type: text/plain; charset=UTF-8\n"
"Plural-Forms: nplurals=2; plural=n != 1;\n"
`

// middle is a file between others.
const middle = `
#. note
#: a.c:1 a.c:2
#, c-format
msgid "The text in the middle: %s"
msgstr "Der Text in der Mitte: %s"
`

const body = head + `
msgid "first of the texts"
msgstr "erster"
` + middle + `
msgctxt "menu"
msgid "%d thing of those"
msgid_plural "%d things of those"
msgstr[0] "%d Ding"
msgstr[1] "%d Dinge"

#, fuzzy
#| msgid "was something else here"
msgid "is something else here"
msgstr "ist etwas"

msgid "without a text yet"
msgstr ""

#~ msgid "gone long ago"
#~ msgstr "weg"
`

// kinds are single changes, and what each is reported as: the counts that are not zero, by
// their names in Counts and Ignored.
var kinds = []struct{ name, old, new, want string }{
	{"nothing", "", "", ""},
	{"added", middle, middle + "\nmsgid \"quite new\"\nmsgstr \"\"\n", "Added:1"},
	{"added with a text", middle, middle + "\nmsgid \"quite new\"\nmsgstr \"neu\"\n", "Added:1"},
	{"removed", middle, "", "Removed:1"},
	{"obsolete", middle, "\n#~ msgid \"The text in the middle: %s\"\n#~ msgstr \"Der Text in der Mitte: %s\"\n", "Removed:1"},
	{"reworded", `msgid "The text in the middle: %s"`, `msgid "The text in a middle: %s"`, "Reworded:1"},
	{"reworded by msgmerge", "#, c-format\nmsgid \"The text in the middle: %s\"", "#, fuzzy, c-format\n#| msgid \"The text in the middle: %s\"\nmsgid \"The text in a middle: %s\"", "Fuzzy:1 Marks:1 Reworded:1"},
	{"another plural", `"%d things of those"`, `"%d things of these"`, "Reworded:1"},
	{"plural gone", "msgid_plural \"%d things of those\"\nmsgstr[0] \"%d Ding\"\nmsgstr[1] \"%d Dinge\"", "msgstr \"%d Ding\"", "Forms:1 Reworded:1"},
	{"another context", `msgctxt "menu"`, `msgctxt "menus"`, "Reworded:1"},
	{"text", `"Der Text in der Mitte: %s"`, `"Der Text: %s"`, "Texts:1"},
	{"one form", `"%d Dinge"`, `"%d Dinger"`, "Texts:1"},
	{"fewer forms", "\nmsgstr[1] \"%d Dinge\"", "", "Forms:1"},
	{"translated", "yet\"\nmsgstr \"\"", "yet\"\nmsgstr \"ohne\"", "Translated:1"},
	{"translated, fuzzy", "msgid \"without a text yet\"\nmsgstr \"\"", "#, fuzzy\nmsgid \"without a text yet\"\nmsgstr \"ohne\"", "Fuzzy:1 Marks:0 Translated:1"},
	{"emptied", `"Der Text in der Mitte: %s"`, `""`, "Emptied:1"},
	{"fuzzy", "#, c-format", "#, fuzzy, c-format", "Fuzzy:1"},
	{"confirmed", "#, fuzzy\n#| msgid \"was something else here\"\n", "", "Confirmed:1 Marks:1"},
	{"fuzzy without a text", "msgid \"without", "#, fuzzy\nmsgid \"without", "Marks:1"},
	{"previous", "was something else", "was anything else", "Marks:1"},
	{"comment", "#. note", "# see the manual\n#. note", "Comments:1"},
	{"note", "#. note", "#. a note", "Notes:1"},
	{"flags", "#, c-format", "#, no-c-format", "Flags:1"},
	{"references", "#: a.c:1 a.c:2", "#: a.c:1 a.c:3\n#: b.c:1", "References:2"},
	{"wrapping", `msgid "The text in the middle: %s"`, "msgid \"\"\n\"The text in \"\n\"the middle: %s\"", "Wrapping:1"},
	{"escapes", "Der Text", `\104er Text`, "Wrapping:1"},
	{"order", middle + "\nmsgctxt", "\nmsgctxt", ""},
	{"obsolete text", `#~ msgstr "weg"`, `#~ msgstr "fort"`, "Obsolete:1"},
	{"obsolete removed", "\n#~ msgid \"gone long ago\"\n#~ msgstr \"weg\"\n", "", "Obsolete:1"},
	{"revived", "#~ msgid \"gone long ago\"\n#~ msgstr", "msgid \"gone long ago\"\nmsgstr", "Added:1"},
	{"date", "2024-01-01 10", "2024-01-02 10", "Dates:1"},
	{"field", "Language: de", "Language: de_AT", "Header:1"},
	{"field added", `"Language: de\n"`, `"Language: de\n"` + "\n" + `"Language-Team: none\n"`, "Header:1"},
	{"field removed", `"Language: de\n"` + "\n", "", "Header:1"},
	{"header wrapped", `"Language: de\n"`, `"Langu"` + "\n" + `"age: de\n"`, "Wrapping:1"},
	{"header's comment", "# Team", "# Team, 2025", "Header:1"},
	{"header fuzzy", "# Team\n", "# Team\n#, fuzzy\n", "Header:1"},
	{"duplicate", middle, middle + "\nmsgid \"first of the texts\"\nmsgstr \"zweiter\"\n", "Obsolete:1"},
	{"a language's own", "\r", "\r", ""},
}

// numbers lists the counts of a file that are not zero.
func numbers(f *File) string {
	var list []string
	for _, part := range strings.Fields(strings.NewReplacer("{", "", "}", "").Replace(fmt.Sprintf("%+v %+v", f.Counts, f.Ignored))) {
		if !strings.HasSuffix(part, ":0") {
			list = append(list, part)
		}
	}
	slices.Sort(list)
	return strings.Join(list, " ")
}

func TestKinds(t *testing.T) {
	for _, k := range kinds {
		new := strings.Replace(body, k.old, k.new, 1)
		if k.name == "order" {
			new, k.want = strings.Replace(new, "\n#~ ", middle+"\n#~ ", 1), "Order:1"
		}
		f := Files("de.po", []byte(body), []byte(new), Options{})
		want := strings.ReplaceAll(strings.ReplaceAll(k.want, "Marks:0 ", ""), "  ", " ")
		if got := numbers(&f); got != want {
			t.Errorf("%s: %s, want %s", k.name, got, want)
		}
		if differs := f.Counts != (Counts{}); (f.Status == Changed) != differs || f.Status == Unreadable {
			t.Errorf("%s: %s %s", k.name, f.Status, f.Error)
		}
		n := 0
		for _, s := range f.Strings {
			n += max(1, len(s.Changes))
		}
		if c := f.Counts; n > c.Added+c.Removed+c.Reworded+c.Texts+c.Translated+c.Emptied+c.Fuzzy+c.Confirmed+c.Forms+c.Comments+c.Notes+c.Flags {
			t.Errorf("%s: %d changes of strings: %+v", k.name, n, f.Strings)
		}
	}
}

func TestFile(t *testing.T) {
	old := strings.ReplaceAll(body, "The text in the middle", "The file in the middle")
	f := Files("po/de.po", []byte(old), []byte(body), Options{})
	context := (*string)(nil)
	want := []String{{
		Kind: "reworded", Changes: []string{}, Line: 12, Source: "The text in the middle: %s", OldSource: "The file in the middle: %s", OldContext: context,
		Similarity: f.Strings[0].Similarity, Old: &Text{[]string{"Der Text in der Mitte: %s"}, "translated"}, New: &Text{[]string{"Der Text in der Mitte: %s"}, "translated"},
	}}
	if d := cmp.Diff(want, f.Strings); d != "" || f.Strings[0].Similarity < 0.8 || f.Strings[0].Similarity >= 1 {
		t.Errorf("%v %s", f.Strings[0].Similarity, d)
	}
	if f.Total != 5 || f.Translated != 3 || f.Fuzzy != 1 || f.Language != "de" || f.Group != "po/de.po" {
		t.Errorf("%+v", f)
	}
	for _, test := range []struct {
		old, new []byte
		status   string
		total    int
	}{
		{nil, []byte(body), Added, 5},
		{[]byte(body), nil, Removed, 5},
		{nil, nil, Equal, 0},
		{nil, []byte{}, Added, 0},
		{[]byte("oops"), []byte(body), Unreadable, 0},
		{[]byte(body), []byte("oops"), Unreadable, 0},
		{[]byte("oops"), []byte("oops"), Equal, 0},
	} {
		f := Files("de.po", test.old, test.new, Options{})
		if f.Status != test.status || f.Total != test.total || (f.Error != "") != (test.status == Unreadable) || f.Counts != (Counts{}) {
			t.Errorf("%q to %q: %+v", test.old, test.new, f)
		}
	}
}

// TestSources: a change of a source string is counted once in a group.
func TestSources(t *testing.T) {
	var files []File
	change := strings.NewReplacer("The text in the middle", "The file in the middle", "yet\"\nmsgstr \"\"", "yet\"\nmsgstr \"x\"", "#. note", "#. a note")
	for _, language := range []string{"de", "cs", "fr"} {
		files = append(files, Files("po/"+language+".po", []byte(body), []byte(change.Replace(body)+"\nmsgid \"quite new\"\nmsgstr \"\"\n"), Options{Group: "po/*.po", Language: language}))
	}
	lagging := strings.Replace(body, middle, "", 1)
	files = append(files,
		Files("po/it.po", []byte(lagging), []byte(change.Replace(body)), Options{Group: "po/*.po", Language: "it"}),
		Files("po/es.po", []byte(body), []byte(body), Options{Group: "po/*.po", Language: "es"}),
		Files("doc/de.po", []byte(head), []byte(head+"\nmsgid \"quite new\"\nmsgstr \"\"\n"), Options{Group: "doc/*.po", Language: "de"}))
	r := New(files, 0)
	if got := r.Sources.words(counts[:]); got != "2 strings added, 1 reworded, 1 note changed" {
		t.Error(got)
	}
	if got := r.Headline(); got != "2 strings added, 1 reworded, 1 note changed, 4 texts new" {
		t.Error(got)
	}
	if r.Compared != 6 || len(r.Files) != 5 || len(r.Languages) != 4 || r.Languages[1].Counts.Added != 2 || r.Languages[1].Files != 2 {
		t.Errorf("%+v", r)
	}
	all := 0
	for i := range r.Files {
		all += len(r.Files[i].Strings)
	}
	short := New(files, 3)
	for i := range short.Files {
		if f := &short.Files[i]; len(f.Strings)+f.Omitted != len(r.Files[i].Strings) {
			t.Errorf("%s: %d and %d", f.Path, len(f.Strings), f.Omitted)
		}
		all -= short.Files[i].Omitted
	}
	if all != 3 || short.Sources != r.Sources || short.Counts != r.Counts {
		t.Errorf("%d strings listed: %+v", all, short.Sources)
	}
}

// TestChecks: checks that failed before are not told again.
func TestChecks(t *testing.T) {
	new := strings.NewReplacer("erster", "erster!", "ist etwas", "ist etwas!!", "Der Text", "Ein Text", "gone long ago", "gone").Replace(body)
	fails := func(f *poparse.File, of []*poparse.Entry) map[*poparse.Entry]map[string]string {
		m := map[*poparse.Entry]map[string]string{}
		for _, e := range of {
			if strings.Contains(e.Str[0], "!") || strings.Contains(e.Str[0], "etwas") {
				m[e] = map[string]string{"mark": "it has a mark"}
			}
		}
		return m
	}
	f := Files("de.po", []byte(body), []byte(new), Options{Checks: fails})
	if want := []Check{{Line: 9, Source: "first of the texts", Check: "mark", Message: "it has a mark"}}; !cmp.Equal(f.Checks, want) {
		t.Errorf("%+v", f.Checks)
	}
	r := New([]File{f}, 0)
	if got := r.Headline(); got != "3 texts changed, 1 check newly failing" {
		t.Error(got)
	}
}

func TestMark(t *testing.T) {
	for _, test := range []struct{ old, new, want string }{
		{"a b", "a c", "a [-b-]{+c+}"},
		{"", "a", "{+a+}"},
		{"a", "", "[-a-]"},
		{"", "", ""},
		{"x y", "x y", "x y"},
		{"Open the file", "Open file", "Open [-the -]file"},
		{"打开文件", "打开新文件", "打开{+新+}文件"},
		{"a a", "a", "a[- a-]"},
	} {
		var b strings.Builder
		for _, s := range Mark(test.old, test.new) {
			b.WriteString(map[string]string{"del": "[-" + s.Text + "-]", "ins": "{+" + s.Text + "+}", "": s.Text}[s.Kind])
		}
		if b.String() != test.want {
			t.Errorf("%q to %q: %q", test.old, test.new, b.String())
		}
	}
}

func BenchmarkFiles(b *testing.B) {
	old, new := drawnSize(5000)
	b.SetBytes(int64(len(old) + len(new)))
	for b.Loop() {
		Files("de.po", old, new, Options{})
	}
}

// drawnSize is a file of n strings, and the file after msgmerge.
func drawnSize(n int) (old, new []byte) {
	var a, b bytes.Buffer
	a.WriteString(head)
	b.WriteString(strings.Replace(head, "2024-01-01", "2024-02-01", 1))
	for i := range n {
		s := fmt.Sprintf("msgid \"Message %d of the program, which says %x\"\nmsgstr \"Nachricht %d des Programms, die %x sagt\"\n", i, i*i*7919, i, i*i*7919)
		fmt.Fprintf(&a, "\n#: src/file%d.c:%d\n%s", i/50, i*13, s)
		if i == n/2 {
			fmt.Fprintf(&b, "\n#: new.c:1\nmsgid \"new one\"\nmsgstr \"\"\n\n#: new.c:2\n#, fuzzy\nmsgid \"Message %d of a program, which says %x\"\nmsgstr \"Nachricht\"\n", i, i*i*7919)
			continue
		}
		fmt.Fprintf(&b, "\n#: src/file%d.c:%d\n%s", i/50, i*13+7, s)
	}
	return a.Bytes(), b.Bytes()
}
