package edit

import (
	"fmt"
	"math/rand/v2"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"golang.org/x/text/encoding/unicode"
	"pgregory.net/rapid"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/poparse"
)

const file = `# Czech
msgid ""
msgstr ""
"PO-Revision-Date: 2020-01-01 10:00+0100\n"
"Last-Translator: Somebody\n"
"Language: cs\n"
"Content-Type: text/plain; charset=UTF-8\n"
"Plural-Forms: nplurals=3; plural=(n==1) ? 0 : (n>=2 && n<=4) ? 1 : 2;\n"

#: a.c:1
#, c-format
msgid "one %d"
msgstr ""

#, fuzzy
#| msgid "to"
msgid "two"
msgstr "dva?"

msgctxt "menu"
msgid "two"
msgid_plural "twos"
msgstr[0] "dvojka"
msgstr[1] "dvojky"
msgstr[2] "dvojek"

#, read-only
msgid "locked"
msgstr ""

#~ msgid "one %d"
#~ msgstr "jedna %d"

#~ msgid "old"
#~ msgstr "staré"
`

var (
	noon = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	jana = Author{Name: "Jana <x>\nEvil: 1", Email: "jana@example.org", Time: noon}
)

func edits(list ...Edit) []Edit { return list }

// TestApply applies edits to one file, and lists the lines that change.
func TestApply(t *testing.T) {
	one := Edit{Source: "one %d", Ours: Text{"jedna %d", done}, Authors: []Author{jana}}
	two := Edit{Source: "two", Base: Text{"dva?", fuzzy}, Ours: Text{"dva", done}}
	menu := Edit{Source: forms("two", "twos"), Context: "menu", Base: Text{forms("dvojka", "dvojky", "dvojek"), done}, Ours: Text{forms("dvojka", "dvojky", "pět"), fuzzy}}
	with := func(e Edit, change func(*Edit)) Edit { change(&e); return e }
	for _, tt := range []struct {
		name  string
		edits []Edit
		o     Options
		want  string // lines removed and added
		out   string // outcomes
	}{
		{"first translation, with an obsolete twin", edits(one), Options{}, "-msgstr \"\"\n+msgstr \"jedna %d\"\n", "applied"},
		{"no longer fuzzy", edits(two), Options{}, "-#, fuzzy\n-#| msgid \"to\"\n-msgstr \"dva?\"\n+msgstr \"dva\"\n", "applied"},
		{"still fuzzy keeps the previous text", edits(with(two, func(e *Edit) { e.Ours.State = fuzzy })), Options{}, "-msgstr \"dva?\"\n+msgstr \"dva\"\n", "applied"},
		{"approved as it is", edits(with(two, func(e *Edit) { e.Ours.Target = "dva?" })), Options{}, "-#, fuzzy\n-#| msgid \"to\"\n", "applied"},
		{"emptied", edits(with(two, func(e *Edit) { e.Ours = Text{} })), Options{}, "-#, fuzzy\n-#| msgid \"to\"\n-msgstr \"dva?\"\n+msgstr \"\"\n", "applied"},
		{"plural, fuzzy set", edits(menu), Options{}, "-msgstr[2] \"dvojek\"\n+#, fuzzy\n+msgstr[2] \"pět\"\n", "applied"},
		{"two and the header", edits(one, two), Options{Revision: noon}, "-\"PO-Revision-Date: 2020-01-01 10:00+0100\\n\"\n-\"Last-Translator: Somebody\\n\"\n-#, fuzzy\n-#| msgid \"to\"\n-msgstr \"dva?\"\n-msgstr \"\"\n" +
			"+\"PO-Revision-Date: 2026-05-01 12:00+0000\\n\"\n+\"Last-Translator: Jana x Evil: 1 <jana@example.org>\\n\"\n+msgstr \"jedna %d\"\n+msgstr \"dva\"\n", "applied applied"},
		{"nothing to write leaves the header", edits(with(one, func(e *Edit) { e.Source = "old" })), Options{Revision: noon}, "", "gone"},
		{"conflict", edits(with(two, func(e *Edit) { e.Base = Text{} })), Options{Revision: noon}, "", "conflict"},
		{"conflict, edit wins", edits(with(two, func(e *Edit) { e.Base = Text{} })), Options{Overrule: true}, "-#, fuzzy\n-#| msgid \"to\"\n-msgstr \"dva?\"\n+msgstr \"dva\"\n", "overruled"},
		{"read-only", edits(Edit{Source: "locked", Ours: Text{"x", done}}), Options{}, "", "read-only"},
		{"other number of forms", edits(with(menu, func(e *Edit) { e.Ours.Target = forms("x", "y") })), Options{}, "", "plural-conflict"},
		{"held", edits(with(one, func(e *Edit) { e.Ours.Target = "jedna" }), two), Options{Gate: true}, "-#, fuzzy\n-#| msgid \"to\"\n-msgstr \"dva?\"\n+msgstr \"dva\"\n", "held applied"},
		{"not held without the gate", edits(with(one, func(e *Edit) { e.Ours.Target = "jedna" })), Options{}, "-msgstr \"\"\n+msgstr \"jedna\"\n", "applied"},
		{"of another context", edits(with(two, func(e *Edit) { e.Context = "other" })), Options{}, "", "gone"},
		{"done", edits(with(two, func(e *Edit) { e.Ours = Text{"dva?", fuzzy} })), Options{Revision: noon}, "", "done"},
	} {
		for nl, name := range map[string]string{"\n": "LF", "\r\n": "CR LF"} {
			t.Run(tt.name+" "+name, func(t *testing.T) {
				before := strings.ReplaceAll(file, "\n", nl)
				after, results, err := Apply("cs.po", []byte(before), tt.edits, tt.o)
				if err != nil {
					t.Fatal(err)
				}
				var out []string
				for _, r := range results {
					out = append(out, r.Outcome.String())
				}
				if got := strings.Join(out, " "); got != tt.out {
					t.Errorf("got %s, want %s", got, tt.out)
				}
				if diff := cmp.Diff(tt.want, strings.ReplaceAll(changedLines(before, string(after)), "\r\n", "\n")); diff != "" {
					t.Errorf("(-want +got)\n%s", diff)
				}
			})
		}
	}
}

// changedLines returns the lines that only one text has, in their order.
func changedLines(a, b string) string {
	var out strings.Builder
	count := map[string]int{}
	x, y := strings.SplitAfter(a, "\n"), strings.SplitAfter(b, "\n")
	for _, line := range y {
		count[line]++
	}
	for _, line := range x {
		if count[line]--; count[line] < 0 {
			out.WriteString("-" + line)
		}
	}
	clear(count)
	for _, line := range x {
		count[line]++
	}
	for _, line := range y {
		if count[line]--; count[line] < 0 {
			out.WriteString("+" + line)
		}
	}
	return out.String()
}

// TestApplyUnwritable has texts that the file's charset lacks, among others.
func TestApplyUnwritable(t *testing.T) {
	data := "msgid \"\"\nmsgstr \"\"\n\"Last-Translator: x\\n\"\n\"PO-Revision-Date: y\\n\"\n\"Content-Type: text/plain; charset=ISO-8859-2\\n\"\n"
	var list []Edit
	for i := range 9 {
		id := fmt.Sprint("id", i)
		data += "\nmsgid \"" + id + "\"\nmsgstr \"\"\n"
		text := "\u010d" // in the charset
		if i%4 == 1 {
			text = "漢"
		}
		list = append(list, Edit{Source: id, Ours: Text{text, done}, Authors: []Author{{Name: "漢"}}})
	}
	out, results, err := Apply("x.po", []byte(data), list, Options{Revision: noon})
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range results {
		if want := map[bool]Outcome{true: Unwritable, false: Applied}[i%4 == 1]; r.Outcome != want || (r.Reason != "") != (want == Unwritable) {
			t.Errorf("edit %d: %v, %q", i, r.Outcome, r.Reason)
		}
	}
	if n := strings.Count(string(out), "msgstr \"\xe8\""); n != 7 {
		t.Errorf("%d texts written, want 7", n)
	}
	if !strings.Contains(string(out), "Last-Translator: x") {
		t.Error("a name that the charset lacks was written")
	}
}

// TestApplyForms has a plural in a file whose header does not say how many forms.
func TestApplyForms(t *testing.T) {
	data := []byte("msgid \"a\"\nmsgid_plural \"b\"\nmsgstr[0] \"\"\nmsgstr[1] \"\"\n")
	e := edits(Edit{Source: forms("a", "b"), Ours: Text{forms("x", "y"), done}})
	for number, want := range map[int]Outcome{0: Applied, 2: Applied, 3: PluralConflict} {
		if _, r, err := Apply("x.po", data, e, Options{Forms: number}); err != nil || r[0].Outcome != want {
			t.Errorf("%d forms: %v, %v", number, r, err)
		}
	}
	if _, _, err := Apply("x.po", []byte("msgid"), e, Options{}); err == nil {
		t.Error("a file that cannot be read was written")
	}
}

// TestApplyUTF16 edits a file in UTF-16.
func TestApplyUTF16(t *testing.T) {
	enc := unicode.UTF16(unicode.LittleEndian, unicode.UseBOM)
	before, err := enc.NewEncoder().String("msgid \"a\"\r\nmsgstr \"\"\r\n\r\nmsgid \"b\"\r\nmsgstr \"ž\"")
	if err != nil {
		t.Fatal(err)
	}
	out, _, err := Apply("x.po", []byte(before), edits(Edit{Source: "a", Ours: Text{"漢", done}}), Options{})
	if err != nil {
		t.Fatal(err)
	}
	want, _ := enc.NewEncoder().String("msgid \"a\"\r\nmsgstr \"漢\"\r\n\r\nmsgid \"b\"\r\nmsgstr \"ž\"")
	if string(out) != want {
		t.Errorf("got %q, want %q", out, want)
	}
}

// TestApplyLikeMsgattrib clears the fuzzy flag of each entry in turn, and compares with
// msgattrib, which does so for all.
func TestApplyLikeMsgattrib(t *testing.T) {
	if _, err := exec.LookPath("msgattrib"); err != nil {
		t.Skip("skipped: msgattrib is not installed")
	}
	cmd := exec.Command("msgattrib", "--clear-fuzzy", "--clear-previous", "-")
	file := strings.Replace(file, "#~ msgid \"one %d\"\n#~ msgstr \"jedna %d\"\n\n", "", 1) // it refuses twins
	file = strings.Replace(file, "#, read-only\n", "", 1)                                   // and drops flags that it does not know
	cmd.Stdin = strings.NewReader(file)
	cmd.Env = append(cmd.Environ(), "LC_ALL=C.UTF-8")
	want, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	got, _, err := Apply("x.po", []byte(file), edits(Edit{Source: "two", Base: Text{"dva?", fuzzy}, Ours: Text{"dva?", done}}), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("(-msgattrib +ours)\n%s", diff)
	}
}

// FuzzApply edits one string of any file: it reads back as wanted, and all other
// entries are as they were.
func FuzzApply(f *testing.F) {
	f.Add([]byte(file), uint8(1), "nové", false)
	f.Add([]byte(file), uint8(0), strings.Repeat("dlouhé slovo ", 20)+"\n", true)
	f.Add([]byte("msgid \"a\" msgstr \"b\" # c\nmsgid \"d\" msgstr \"e\""), uint8(1), "x\\\"\ty", false)
	f.Add([]byte("msgid \"\"\r\nmsgstr \"charset=CP932\"\r\n\r\nmsgid \"d\"\r\nmsgid_plural \"e\"\r\nmsgstr[0] \"\x83\x5c\""), uint8(0), "表", false)
	f.Fuzz(func(t *testing.T, data []byte, which uint8, text string, unsure bool) {
		if len(data) < 1<<14 {
			checkApply(t, data, int(which), text, unsure)
		}
	})
}

// TestApplyDrawn does the same with drawn texts.
func TestApplyDrawn(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		text := make([]rune, rnd.IntN(200))
		for i := range text {
			text[i] = []rune("aé漢\n\\\"%\t -/")[rnd.IntN(11)]
		}
		checkApply(t, []byte(file), rnd.IntN(4), string(text), rnd.IntN(2) == 0)
	}
}

func checkApply(t *testing.T, data []byte, which int, text string, unsure bool) {
	t.Helper()
	before, err := poparse.Parse("x.po", data)
	if err != nil {
		return
	}
	entries := indexEntries(before)
	var e *poparse.Entry
	for live := range before.Live() {
		var h catalog.Hasher
		if id := h.Identity(SourceOf(live), live.Context); entries[id] == live {
			if e = live; which == 0 {
				break
			}
			which--
		}
	}
	if e == nil || slices.Contains(e.Flags, "read-only") {
		return
	}
	target := make([]string, len(e.Str))
	state := empty
	for i := range target {
		if target[i] = text; text != "" {
			state = done
		}
	}
	if unsure && state == done {
		state = fuzzy
	}
	ours, err := NewText(target, state, len(target))
	if err != nil {
		return
	}
	list := edits(Edit{Source: SourceOf(e), Context: e.Context, Base: TextOf(e), Ours: ours})
	out, results, err := Apply("x.po", data, list, Options{})
	if err != nil {
		t.Fatal(err)
	}
	switch o := results[0].Outcome; {
	case o == Unwritable || o == PluralConflict || o == Gone: // joined by half a separator
		return
	case o == Done:
		if string(out) != string(data) {
			t.Fatal("nothing to do, and the file has changed")
		}
		return
	}
	after, err := poparse.Parse("x.po", out)
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if len(after.Entries) != len(before.Entries) {
		t.Fatalf("%d entries, before %d", len(after.Entries), len(before.Entries))
	}
	for i, was := range before.Entries {
		now := after.Entries[i]
		if was == e {
			if !TextOf(now).Equal(ours) {
				t.Fatalf("reads back as %v, wanted %v", TextOf(now), ours)
			}
			continue
		}
		now.Line, now.KeywordLine = was.Line, was.KeywordLine
		if diff := cmp.Diff(was, now, cmpopts.IgnoreUnexported(poparse.Entry{})); diff != "" {
			t.Fatalf("another entry has changed (-before +after)\n%s", diff)
		}
	}
}

// manyEdits returns a file of n strings in ISO-8859-2, and an edit of each; the charset
// lacks the texts of bad of them, spread over the file.
func manyEdits(n, bad int) ([]byte, []Edit) {
	data := "msgid \"\"\nmsgstr \"\"\n\"PO-Revision-Date: y\\n\"\n\"Last-Translator: x\\n\"\n\"Content-Type: text/plain; charset=ISO-8859-2\\n\"\n"
	var list []Edit
	for i := range n {
		id := fmt.Sprint("A string of the usual length, number ", i)
		data += "\nmsgid \"" + id + "\"\nmsgstr \"\"\n"
		text := "\u010d"
		if (i+1)*bad/n > i*bad/n {
			text = "…"
		}
		list = append(list, Edit{Source: id, Ours: Text{text, done}, Authors: []Author{jana}})
	}
	return []byte(data), list
}

// TestApplyUnwritableIsLinear: a text that cannot be written costs what one costs that
// can, and not a look at the whole file.
func TestApplyUnwritableIsLinear(t *testing.T) {
	allocated := func(bad int) uint64 {
		data, list := manyEdits(1000, bad)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, results, err := Apply("x.po", data, list, Options{Revision: noon})
		runtime.ReadMemStats(&after)
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for _, r := range results {
			if r.Outcome == Unwritable {
				n++
			}
		}
		if n != bad {
			t.Errorf("%d texts of %d are unwritable", n, bad)
		}
		return after.TotalAlloc - before.TotalAlloc
	}
	none := allocated(0)
	for _, bad := range []int{1, 500, 1000} {
		if got := allocated(bad); got > 4*none {
			t.Errorf("%d bytes allocated with %d unwritable texts, %d without", got, bad, none)
		}
	}
}

// BenchmarkApplyUnwritable applies edits of which some cannot be written.
func BenchmarkApplyUnwritable(b *testing.B) {
	for _, n := range []int{3000, 20_000} {
		for _, bad := range []int{0, n / 6, n / 2, n} {
			b.Run(fmt.Sprintf("edits=%d/unwritable=%d", n, bad), func(b *testing.B) {
				data, list := manyEdits(n, bad)
				b.ReportAllocs()
				for b.Loop() {
					if _, _, err := Apply("x.po", data, list, Options{Revision: noon}); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// TestApplyUnwritableAll: where nothing can be written, the file stays, its header too;
// and who wrote nothing is not its Last-Translator.
func TestApplyUnwritableAll(t *testing.T) {
	data, list := manyEdits(3, 3)
	out, results, err := Apply("x.po", data, list, Options{Revision: noon})
	if err != nil || string(out) != string(data) || results[1].Outcome != Unwritable {
		t.Errorf("%v, %v\n%s", err, results, changedLines(string(data), string(out)))
	}
	data, list = manyEdits(3, 1)
	list[2].Authors = []Author{{Name: "Petr", Time: noon.Add(time.Hour)}}
	out, results, err = Apply("x.po", data, list, Options{Revision: noon})
	if err != nil || results[2].Outcome != Unwritable || !strings.Contains(string(out), "Last-Translator: Jana") {
		t.Errorf("%v, %v\n%s", err, results, out)
	}
}

// TestApplyGuessed edits a file without a charset so that what was ISO-8859-1 would be
// read as UTF-8.
func TestApplyGuessed(t *testing.T) {
	data := []byte("msgid \"a\"\nmsgstr \"\xe9\"\n\nmsgid \"b\"\nmsgstr \"\xc3\xa9\"\n")
	list := edits(Edit{Source: "a", Base: Text{"é", done}, Ours: Text{"e", done}})
	out, results, err := Apply("x.po", data, list, Options{})
	if err != nil || string(out) != string(data) || results[0].Outcome != Unwritable || !strings.Contains(results[0].Reason, "names no charset") {
		t.Errorf("%v, %v, %q", err, results, out)
	}
}

// TestApplyTooManyForms edits an entry that has more forms than its language: what is
// served, and thus the base, has only those of the language.
func TestApplyTooManyForms(t *testing.T) {
	data := []byte(strings.Replace(strings.Replace(file, "msgstr[2] \"dvojek\"", "msgstr[2] \"dvojek\"\nmsgstr[3] \"x\"", 1), "read-only", "c-format", 1))
	base, ours := Text{forms("dvojka", "dvojky", "dvojek"), done}, Text{forms("1", "2", "3"), done}
	e := edits(Edit{Source: forms("two", "twos"), Context: "menu", Base: base, Ours: ours})
	out, results, err := Apply("x.po", data, e, Options{})
	if err != nil || results[0].Outcome != Applied || results[0].Theirs != base {
		t.Fatalf("%v, %v", err, results)
	}
	if f, err := poparse.Parse("x.po", out); err != nil || len(f.Warnings) > 0 {
		t.Errorf("%v, %v", err, f.Warnings)
	}
}

// TestApplyCharsetsDrawn writes drawn texts, and names of authors, into files of drawn
// charsets: what is not held back is what iconv reads, which gettext uses.
func TestApplyCharsetsDrawn(t *testing.T) {
	if _, err := exec.LookPath("iconv"); err != nil {
		t.Skip("skipped: iconv is not installed")
	}
	charsets := strings.Fields("BIG5 CP950 BIG5-HKSCS SHIFT_JIS CP932 EUC-JP KOI8-U KOI8-R TIS-620 GB2312 GBK GB18030 EUC-KR CP949 CP1250 ISO-8859-2 MACINTOSH")
	letters := []rune("aáěłўїžñ①⑨㎝纊髙ⅳ№〜～‖∥−－¢￠—―·・“”ไทย\u00a0€║╝漢字簡体杮堃裏碁恒粧嫺한똠ﾊﾝ")
	rapid.Check(t, func(t *rapid.T) {
		charset := rapid.SampledFrom(charsets).Draw(t, "charset")
		draw := func(name string) string {
			return string(rapid.SliceOfN(rapid.SampledFrom(letters), 1, 3).Draw(t, name))
		}
		text, name := draw("text"), draw("name")
		data := "msgid \"\"\nmsgstr \"\"\n\"Last-Translator: x\\n\"\n\"PO-Revision-Date: y\\n\"\n\"Content-Type: text/plain; charset=" + charset + "\\n\"\n\nmsgid \"a\"\nmsgstr \"\"\n"
		out, results, err := Apply("x.po", []byte(data), edits(Edit{Source: "a", Ours: Text{text, done}, Authors: []Author{{Name: name}}}), Options{Revision: noon})
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("iconv", "-f", charset, "-t", "UTF-8")
		cmd.Stdin = strings.NewReader(string(out))
		read, err := cmd.Output()
		if err != nil {
			t.Fatalf("%s: %q: iconv: %v", charset, out, err)
		}
		want := "msgstr \"" + text + "\""
		if results[0].Outcome == Unwritable {
			want = data
		}
		if !strings.Contains(strings.ReplaceAll(strings.ReplaceAll(string(read), "¥", "\\"), "‾", "~"), want) {
			t.Fatalf("%s: %v, iconv reads %q, want %s", charset, results[0], read, want)
		}
		if translator := "Last-Translator: " + strings.TrimSpace(name) + "\\n"; results[0].Outcome == Applied && !strings.Contains(string(read), "Last-Translator: x") &&
			!strings.Contains(strings.ReplaceAll(string(read), "¥", "\\"), translator) {
			t.Fatalf("%s: %q: no %s", charset, read, translator)
		}
	})
}
