package merge

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/repoglot/repoglot/poparse"
)

func parse(t testing.TB, text string) *poparse.File {
	t.Helper()
	f, err := poparse.Parse("test.po", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// entry writes an entry in one line: comments and flags, msgid and texts.
func entry(lines ...string) string { return strings.Join(lines, "\n") + "\n" }

// msg is an entry with a text.
func msg(id, str string, comments ...string) string {
	return strings.Join(append(comments, `msgid "`+id+`"`, `msgstr "`+str+`"`), "\n") + "\n"
}

// plural is an entry with a text for each number.
func plural(id string, forms ...string) string {
	text := `msgid "` + id + `"` + "\n" + `msgid_plural "` + id + `s"` + "\n"
	for i, form := range forms {
		text += fmt.Sprintf("msgstr[%d] %q\n", i, form)
	}
	return text
}

// file joins entries.
func file(entries ...string) string { return strings.Join(entries, "\n") }

// head is a header with these lines.
func head(fields ...string) string {
	return "msgid \"\"\nmsgstr \"\"\n\"" + strings.Join(fields, "\\n\"\n\"") + "\\n\"\n"
}

const utf8 = "Content-Type: text/plain; charset=UTF-8"

type tableCase struct {
	name, base, ours, theirs, want string
	conflicts                      int
	asym                           bool // which side is ours decides something
}

var tableCases = []tableCase{
	{name: "changed by one side", base: msg("a", "x"), ours: msg("a", "y"), theirs: msg("a", "x"), want: msg("a", "y")},
	{name: "changed by one side, emptied", base: msg("a", "x"), ours: msg("a", ""), theirs: msg("a", "x", "# c"), want: msg("a", "", "# c")},
	{name: "changed by one side, marked", base: msg("a", "x", "#: r:1"), ours: msg("a", "x", "#: r:1", "#, fuzzy"), theirs: msg("a", "x", "#: r:2"), want: msg("a", "x", "#: r:2", "#, fuzzy")},
	{name: "changed by one side, flags", base: msg("a", "x", "#, fuzzy"), ours: msg("a", "x"), theirs: msg("a", "x", "#, fuzzy, c-format"), want: msg("a", "x", "#, c-format")},
	{
		name: "changed by one side, order", base: file(msg("a", ""), msg("b", ""), msg("c", "")),
		ours:   file(msg("a", "1"), msg("b", ""), msg("c", "")),
		theirs: file(msg("c", ""), msg("b", ""), msg("a", "")), want: file(msg("c", ""), msg("b", ""), msg("a", "1")),
	},
	{
		name: "changed by one side, order, of an older template", base: file(head("POT-Creation-Date: 2026-01-01 00:00+0000", utf8), msg("a", ""), msg("b", ""), msg("c", "")),
		ours:   file(head("POT-Creation-Date: 2026-01-02 00:00+0000", utf8), msg("c", ""), msg("a", ""), msg("b", "")),
		theirs: file(head("POT-Creation-Date: 2026-01-03 00:00+0000", utf8), msg("a", ""), msg("b", ""), msg("c", ""), msg("d", "")),
		want:   file(head("POT-Creation-Date: 2026-01-03 00:00+0000", utf8), msg("c", ""), msg("d", ""), msg("a", ""), msg("b", "")),
	},
	{
		name: "changed by one side, line ends", base: file(msg("a", ""), msg("b", "")),
		ours:   strings.ReplaceAll(file(msg("a", ""), msg("b", "")), "\n", "\r\n"),
		theirs: file(msg("a", "1"), msg("b", "")), want: strings.ReplaceAll(file(msg("a", "1"), msg("b", "")), "\n", "\r\n"),
	},
	{
		name: "changed by one side, an older template", base: file(head("POT-Creation-Date: 2026-02-01 00:00+0000", utf8), msg("a", "", "#: n:1")),
		ours:   file(head("POT-Creation-Date: 2026-01-01 00:00+0000", utf8), msg("a", "", "#: o:1")),
		theirs: file(head("POT-Creation-Date: 2026-02-01 00:00+0000", utf8), msg("a", "x", "#: n:1")),
		want:   file(head("POT-Creation-Date: 2026-01-01 00:00+0000", utf8), msg("a", "x", "#: o:1")),
	},
	{name: "changed by one side, added by each", base: file(msg("a", ""), msg("b", "")), ours: file(msg("a", ""), msg("c", "1"), msg("b", "")), theirs: file(msg("a", ""), msg("b", ""), msg("d", "2")), want: file(msg("a", ""), msg("c", "1"), msg("b", ""), msg("d", "2"))},
	{name: "both the same", base: msg("a", ""), ours: msg("a", "x", "# c"), theirs: msg("a", "x", "# c"), want: msg("a", "x", "# c")},
	{
		name: "both the same, wrapped by one side", base: msg("a", "one two"), ours: msg("a", "one two", "# c"),
		theirs: entry(`msgid "a"`, `msgstr ""`, `"one "`, `"two"`), want: msg("a", "one two", "# c"),
	},
	{
		name: "both the same, wrapped and commented", base: file(msg("a", "one two", "#: r"), msg("b", "x")), ours: file(msg("a", "one two", "#: s"), msg("b", "x")),
		theirs: file(entry("# c", "#: r", `msgid "a"`, `msgstr ""`, `"one "`, `"two"`), entry(`msgid "b"`, `msgstr ""`, `"x"`)),
		want:   file(entry("# c", "#: s", `msgid "a"`, `msgstr ""`, `"one "`, `"two"`), entry(`msgid "b"`, `msgstr ""`, `"x"`)),
	},

	{name: "confirmed and fuzzy", base: msg("a", ""), ours: msg("a", "x"), theirs: msg("a", "x", "#, fuzzy"), want: msg("a", "x")},
	{name: "translated and untranslated", base: msg("a", "x"), ours: msg("a", "y"), theirs: msg("a", ""), want: msg("a", "y")},
	{name: "translated and untranslated, added", ours: msg("a", "y", "#, fuzzy"), theirs: msg("a", ""), want: msg("a", "y", "#, fuzzy")},
	{name: "mark and new text", base: msg("a", "x"), ours: msg("a", "y"), theirs: msg("a", "x", "#, fuzzy"), want: msg("a", "y")},
	{name: "added translated and fuzzy", base: msg("z", ""), ours: file(msg("z", ""), msg("a", "y")), theirs: file(msg("z", ""), msg("a", "w", "#, fuzzy")), want: file(msg("z", ""), msg("a", "y", "# theirs:", `# msgstr "w"`)), asym: true},
	{name: "added with a guess", base: msg("z", "w"), ours: file(msg("z", "w"), msg("a", "y", "#, fuzzy")), theirs: file(msg("z", "w"), msg("a", "w", "#, fuzzy")), want: file(msg("z", "w"), msg("a", "y", "#, fuzzy"))},
	{name: "different texts", base: file(msg("a", "x"), msg("b", "")), ours: file(msg("a", "y", "#: r"), msg("b", "1")), theirs: file(msg("a", "z"), msg("b", "")), want: file(entry("#: r", `msgid "a"`, "<<<<<<< ours", `msgstr "y"`, "=======", `msgstr "z"`, ">>>>>>> theirs"), msg("b", "1")), conflicts: 1, asym: true},
	{name: "different texts, one confirmed the old one", base: msg("a", "x", "#, fuzzy"), ours: msg("a", "x"), theirs: msg("a", "z"), want: entry(`msgid "a"`, "<<<<<<< ours", `msgstr "x"`, "=======", `msgstr "z"`, ">>>>>>> theirs"), conflicts: 1, asym: true},
	{name: "different texts, one fuzzy", base: msg("a", ""), ours: msg("a", "x"), theirs: msg("a", "z", "#, fuzzy"), want: entry("#, fuzzy", `msgid "a"`, "<<<<<<< ours", `msgstr "x"`, "=======", `msgstr "z"`, ">>>>>>> theirs"), conflicts: 1, asym: true},

	{
		name: "reworded and new text", base: file(msg("Open the file", "x"), msg("b", "")), ours: file(msg("Open the file", "y", "# c"), msg("b", "")),
		theirs: file(msg("Open the files", "x", "#: r", "#, fuzzy"), msg("b", "")), want: file(msg("Open the files", "y", "# c", "#: r", "#, fuzzy", `#| msgid "Open the file"`), msg("b", "")),
	},
	{
		name: "reworded and new text, untranslated", base: msg("Open the file", "x"), ours: msg("Open the file", "y"),
		theirs: msg("Open the files", ""), want: msg("Open the files", "y", "#, fuzzy", `#| msgid "Open the file"`),
	},
	{
		name: "reworded and same text", base: msg("Open the file", "x"), ours: msg("Open the file", "x", "# c"),
		theirs: msg("Open the files", "x", "#, fuzzy", `#| msgid "Open the file"`), want: msg("Open the files", "x", "# c", "#, fuzzy", `#| msgid "Open the file"`),
	},
	{
		name: "reworded and same text, translated anew", base: msg("Open the file", "x"), ours: msg("Open the file", "x", "# c"),
		theirs: msg("Open the files", "z", "#: r"), want: msg("Open the files", "z", "# c", "#: r"),
	},
	{
		name: "reworded and same text, confirmed by the other", base: msg("Open the file", "x", "#, fuzzy"), ours: msg("Open the file", "x"),
		theirs: msg("Open the files", "x", "#, fuzzy"), want: msg("Open the files", "x", "#, fuzzy"),
	},
	{
		name: "reworded and new text, as #| says", base: msg("Open the file", "x"), ours: msg("Open the file", "y"),
		theirs: file(msg("Open the file?", "x", "#, fuzzy", `#| msgid "Open the file"`), msg("Open the file!", "")),
		want:   file(msg("Open the file?", "y", "#, fuzzy", `#| msgid "Open the file"`), msg("Open the file!", "")),
	},
	{
		name: "reworded and translated", base: msg("Open the file", "x"), ours: msg("Open the file", "y"),
		theirs: msg("Open the files", "z"), want: file(msg("Open the files", "z"), entry(`#~ msgid "Open the file"`, `#~ msgstr "y"`)),
	},
	{
		name: "ambiguous", base: msg("Open the file", "x"), ours: msg("Open the file", "y"), theirs: file(msg("Open the file?", ""), msg("Open the file!", "")),
		want: file(msg("Open the file?", ""), msg("Open the file!", ""), entry(`#~ msgid "Open the file"`, `#~ msgstr "y"`)),
	},
	{
		name: "plural and new text", base: msg("%d file", "x"), ours: msg("%d file", "y"),
		theirs: entry(`msgid "%d file"`, `msgid_plural "%d files"`, `msgstr[0] ""`, `msgstr[1] ""`),
		want:   entry("#, fuzzy", `#| msgid "%d file"`, `msgid "%d file"`, `msgid_plural "%d files"`, `msgstr[0] "y"`, `msgstr[1] "y"`),
	},

	{
		name: "other plural forms", base: file(head(utf8, "Plural-Forms: nplurals=2; plural=n!=1;"), plural("a", "x", "xs"), plural("b", "", "")),
		ours:   file(head(utf8, "Plural-Forms: nplurals=3; plural=n==1?0:n==2?1:2;"), plural("a", "x", "x2", "x5"), plural("b", "", "", "")),
		theirs: file(head(utf8, "Plural-Forms: nplurals=2; plural=n!=1;"), plural("a", "x", "xs"), plural("b", "y", "ys"), plural("c", "z", "zs"), plural("d", "", "")),
		want:   file(head(utf8, "Plural-Forms: nplurals=3; plural=n==1?0:n==2?1:2;"), plural("a", "x", "x2", "x5"), "#, fuzzy\n"+plural("b", "y", "ys"), "#, fuzzy\n"+plural("c", "z", "zs"), plural("d", "", "")),
	},

	{name: "removed and unchanged", base: file(msg("a", "x"), msg("b", "")), ours: file(msg("a", "x"), msg("b", "1")), theirs: msg("b", ""), want: msg("b", "1")},
	{name: "removed and changed", base: file(msg("a", "x", "#. e", "#: r"), msg("b", "")), ours: file(msg("a", "y", "# c", "#. e", "#: r"), msg("b", "")), theirs: msg("b", ""), want: file(msg("b", ""), entry("# c", `#~ msgid "a"`, `#~ msgstr "y"`))},
	{name: "obsolete and changed", base: file(msg("a", "x"), msg("b", "")), ours: file(msg("a", "y"), msg("b", "")), theirs: file(msg("b", ""), entry(`#~ msgid "a"`, `#~ msgstr "x"`)), want: file(msg("b", ""), entry(`#~ msgid "a"`, `#~ msgstr "y"`))},
	{name: "revived and unchanged", base: file(msg("b", ""), entry(`#~ msgid "a"`, `#~ msgstr "x"`)), ours: file(msg("b", "1"), entry(`#~ msgid "a"`, `#~ msgstr "x"`)), theirs: file(msg("a", "x", "#: r"), msg("b", "")), want: file(msg("a", "x", "#: r"), msg("b", "1"))},
	{name: "obsolete and removed", base: file(msg("a", "x"), msg("b", "")), ours: file(msg("b", "1"), entry(`#~ msgid "a"`, `#~ msgstr "x"`)), theirs: msg("b", ""), want: file(msg("b", "1"), entry(`#~ msgid "a"`, `#~ msgstr "x"`))},

	{name: "comments", base: msg("a", "", "# one", "# two"), ours: msg("a", "", "# one", "# two", "# three"), theirs: msg("a", "", "# two", "#four"), want: msg("a", "", "# two", "# three", "#four"), asym: true},
	{
		name: "newer template", base: file(head("POT-Creation-Date: 2026-01-01 00:00+0000", utf8), msg("a", "", "#. e", "#: r:1"), msg("b", "")),
		ours:   file(head("POT-Creation-Date: 2026-01-02 00:00+0000", utf8), msg("b", ""), msg("a", "x", "#. f", "#: r:2", "#, c-format")),
		theirs: file(head("POT-Creation-Date: 2026-01-01 23:00-0500", utf8), msg("b", ""), msg("a", "", "#. g", "#: r:3")),
		want:   file(head("POT-Creation-Date: 2026-01-01 23:00-0500", utf8), msg("b", ""), msg("a", "x", "#. g", "#: r:3", "#, c-format")),
	},
	{
		name: "newer template, order", base: file(head("POT-Creation-Date: 2026-01-01 00:00+0000", utf8), msg("a", ""), msg("b", ""), msg("c", "")),
		ours:   file(head("POT-Creation-Date: 2026-01-02 00:00+0000", utf8), msg("b", ""), msg("a", ""), msg("c", "")),
		theirs: file(head("POT-Creation-Date: 2026-01-03 00:00+0000", utf8), msg("c", ""), msg("a", "1"), msg("b", "")),
		want:   file(head("POT-Creation-Date: 2026-01-03 00:00+0000", utf8), msg("c", ""), msg("a", "1"), msg("b", "")),
	},
	{
		name: "newer template, of two without a date ours", base: msg("a", "", "#: r:1", "#. e"), ours: msg("a", "", "#: r:2", "#. f"), theirs: msg("a", "x", "#: r:3", "#. g"),
		want: msg("a", "x", "#: r:2", "#. f"), asym: true,
	},
	{
		name: "header dates, older by ours alone", base: head("PO-Revision-Date: 2026-01-03 00:00+0000", "Last-Translator: A", utf8),
		ours:   head("PO-Revision-Date: 2026-01-01 00:00+0000", "Last-Translator: B", utf8),
		theirs: head("PO-Revision-Date: 2026-01-03 00:00+0000", "Last-Translator: A", utf8, "X: 1"),
		want:   head("PO-Revision-Date: 2026-01-01 00:00+0000", "Last-Translator: B", utf8, "X: 1"),
	},
	{
		name: "header dates", base: head("PO-Revision-Date: 2026-01-01 00:00+0000", "Last-Translator: A <a@example.org>", utf8),
		ours:   "# A, 2025.\n# B, 2026.\n" + head("PO-Revision-Date: 2026-01-02 00:00+0000", "Last-Translator: B <b@example.org>", utf8),
		theirs: "# A, 2025.\n# C, 2026.\n" + head("PO-Revision-Date: 2026-01-03 00:00+0000", "Last-Translator: C <c@example.org>", utf8),
		want:   "# A, 2025.\n# B, 2026.\n# C, 2026.\n" + head("PO-Revision-Date: 2026-01-03 00:00+0000", "Last-Translator: C <c@example.org>", utf8), asym: true,
	},
	{
		name: "header fields", base: head("Project-Id-Version: 1", "Language-Team: x", "POT-Creation-Date: 2026-01-01 00:00+0000", "PO-Revision-Date: 2026-01-01 00:00+0000", utf8),
		ours:   head("Project-Id-Version: 2", "Language-Team: y", "POT-Creation-Date: 2026-01-03 00:00+0000", "PO-Revision-Date: 2026-01-01 00:00+0000", utf8, "X-Generator: G"),
		theirs: head("Project-Id-Version: 3", "Language-Team: z", "POT-Creation-Date: 2026-01-02 00:00+0000", "PO-Revision-Date: 2026-01-02 00:00+0000", utf8),
		want:   head("Project-Id-Version: 2", "Language-Team: z", "POT-Creation-Date: 2026-01-03 00:00+0000", "PO-Revision-Date: 2026-01-02 00:00+0000", utf8, "X-Generator: G"),
	},
	{
		name: "header plural forms", base: file(head(utf8, "Plural-Forms: nplurals=2; plural=n!=1;", "Language: xx"), msg("a", "")),
		ours:   file(head(utf8, "Plural-Forms: nplurals=1; plural=0;", "Language: xx"), msg("a", "")),
		theirs: file(head(utf8, "Plural-Forms: nplurals=2; plural=n>1;", "Language: xx"), msg("a", "1")),
		want:   file(strings.Replace(head(utf8, "P", "Language: xx"), "\"P\\n\"\n", "<<<<<<< ours\n\"Plural-Forms: nplurals=1; plural=0;\\n\"\n=======\n\"Plural-Forms: nplurals=2; plural=n>1;\\n\"\n>>>>>>> theirs\n", 1), msg("a", "1")), conflicts: 1, asym: true,
	},
}

// TestTable has a case for each row of the table of the package comment, both ways round.
func TestTable(t *testing.T) {
	t.Parallel()
	named := map[string]bool{}
	for _, tt := range tableCases {
		name, _, _ := strings.Cut(tt.name, ",")
		named[name] = true
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			sides := [2]string{tt.ours, tt.theirs}
			for i := range 2 {
				r, err := files([3][]byte{[]byte(tt.base), []byte(sides[i]), []byte(sides[1-i])}, Options{})
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(tt.want, string(r.Data)); diff != "" || r.Conflicts != tt.conflicts {
					t.Errorf("exchanged %d, %d conflicts (-want +got)\n%s", i, r.Conflicts, diff)
				}
				if tt.asym {
					break
				}
			}
		})
	}
	doc, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	rows := regexp.MustCompile(`(?m)^//\t  (\S.*?) {2,}\S`).FindAllStringSubmatch(string(doc), -1)
	if len(rows) != len(named) {
		t.Errorf("%d rows, %d names of cases", len(rows), len(named))
	}
	for _, row := range rows {
		if !named[row[1]] {
			t.Errorf("the row %q has no case", row[1])
		}
	}
}

// TestFavor: each way to decide conflicts.
func TestFavor(t *testing.T) {
	t.Parallel()
	base := file(head(utf8, "Plural-Forms: nplurals=2; plural=n!=1;"), msg("a", "x"))
	ours := file(head(utf8, "Plural-Forms: nplurals=1; plural=0;"), msg("a", "y", "# c", "#: r"))
	theirs := file(head(utf8, "Plural-Forms: nplurals=2; plural=n>1;"), msg("a", "z"))
	for favor, want := range map[Favor]string{
		FavorOurs:   ours,
		FavorTheirs: file(head(utf8, "Plural-Forms: nplurals=2; plural=n>1;"), msg("a", "z", "# c", "#: r")),
		FavorFuzzy: file("# theirs:\n# \"Plural-Forms: nplurals=2; plural=n>1;\\n\"\n"+head(utf8, "Plural-Forms: nplurals=1; plural=0;"),
			msg("a", "y", "# c", "# theirs:", `# msgstr "z"`, "#: r", "#, fuzzy")),
	} {
		r, err := Files([]byte(base), []byte(ours), []byte(theirs), Options{Favor: favor})
		if diff := cmp.Diff(want, string(r.Data)); err != nil || diff != "" || r.Conflicts != 0 {
			t.Errorf("%s: %v, %d conflicts (-want +got)\n%s", favor, err, r.Conflicts, diff)
		}
	}
	r, err := Files([]byte(base), []byte(ours), []byte(theirs), Options{MarkerSize: 9})
	if err != nil || r.Conflicts != 2 || strings.Count(string(r.Data), "\n<<<<<<<<< ours\n") != 2 {
		t.Errorf("%v, %d conflicts:\n%s", err, r.Conflicts, r.Data)
	}
}

// TestDifference: the difference of two files is the table with the old one twice.
func TestDifference(t *testing.T) {
	t.Parallel()
	old := parse(t, file(msg("Open the file", "Öffnen"), msg("Close", ""), msg("Gone", "Weg")))
	now := parse(t, file(msg("Open the files", "Öffnen", "#, fuzzy"), msg("Close", "Zu", "#: a.c"), msg("New", "")))
	table := NewTable(old, old, now, Options{})
	if len(table.Rows) != 4 {
		t.Fatalf("%d rows", len(table.Rows))
	}
	for i, want := range []struct {
		changed  Fields
		outcome  Outcome
		reworded Side
	}{
		{FieldSource | FieldState, FromTheirs, Theirs},
		{FieldForms | FieldReferences, FromTheirs, Base},
		{allFields, FromTheirs, Base},
		{allFields, FromTheirs, Base},
	} {
		if r := table.Rows[i]; r.Changed[Ours] != 0 || r.Changed[Theirs] != want.changed || r.Outcome != want.outcome || r.Reworded != want.reworded {
			t.Errorf("row %d: changed %b, %v, reworded by %v, want %+v", i, r.Changed[Theirs], r.Outcome, r.Reworded, want)
		}
	}
}
