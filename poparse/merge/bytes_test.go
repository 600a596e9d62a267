package merge

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestBytes: what a merged file keeps of the bytes of its sides.
func TestBytes(t *testing.T) {
	t.Parallel()
	latin2, wide := head("Content-Type: text/plain; charset=ISO-8859-2"), head(utf8)
	dos := func(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") }
	open := func(s string) string { return strings.TrimSuffix(s, "\n") }
	odd := "#,fuzzy,  c-format\n#: a:1\n#. note\n\n  msgid   \"a\"\nmsgstr\t\"one \"\n\"two\"\n"
	for _, tt := range []struct{ name, base, ours, theirs, want string }{
		{"entries of nobody are copied", file(odd, msg("b", "")), file(odd, msg("b", "1")), file(odd, msg("b", ""), msg("c", "2")), file(odd, msg("b", "1"), msg("c", "2"))},
		{"an entry of one side is copied", file(msg("a", ""), msg("b", "")), file(odd, msg("b", "")), file(msg("a", ""), msg("b", "2")), file(odd, msg("b", "2"))},
		{"the base is missing", "", file(msg("a", "1"), msg("b", "")), file(msg("b", "2"), msg("c", "3")), file(msg("a", "1"), msg("b", "2"), msg("c", "3"))},
		{
			"repeated strings", file(msg("a", "x"), msg("a", "y"), msg("b", "")), file(msg("a", "1"), msg("a", "y"), msg("b", "")),
			file(msg("a", "x"), msg("a", "2"), msg("b", "")), file(msg("a", "1"), msg("a", "2"), msg("b", "")),
		},
		{
			"a string three times", file(msg("a", "x"), msg("a", "y"), msg("a", "z")), file(msg("a", "x"), msg("a", "1"), msg("a", "z")),
			file(msg("a", "x"), msg("a", "y"), msg("a", "2")), file(msg("a", "x"), msg("a", "1"), msg("a", "2")),
		},
		{"a byte order mark", file(wide, msg("a", ""), msg("b", "")), file(wide, msg("a", "1"), msg("b", "")), "\ufeff" + file(wide, msg("a", ""), msg("b", "2")), "\ufeff" + file(wide, msg("a", "1"), msg("b", "2"))},
		{
			"obsolete strings", file(msg("b", ""), "#~ msgid \"a\"\n#~ msgstr \"x\"\n"), file(msg("b", "1"), "#~ msgid \"a\"\n#~ msgstr \"x\"\n"),
			file(msg("b", ""), "#~ msgid \"a\"\n#~ msgstr \"y\"\n"), file(msg("b", "1"), "#~ msgid \"a\"\n#~ msgstr \"y\"\n"),
		},
		{"line ends of Windows", dos(file(msg("a", ""), msg("b", ""))), dos(file(msg("a", "1"), msg("b", ""))), dos(file(msg("a", ""), msg("b", "2"))), dos(file(msg("a", "1"), msg("b", "2")))},
		{"line ends of both kinds", dos(msg("a", "")) + "\n" + msg("b", ""), dos(msg("a", "1")) + "\n" + msg("b", ""), dos(msg("a", "")) + "\n" + msg("b", "2"), dos(msg("a", "1")) + "\n" + msg("b", "2")},
		{
			"a header without a last line end", "msgid \"\"\nmsgstr \"A: 1\\nB: 2\"\n", "msgid \"\"\nmsgstr \"A: 3\\nB: 2\"\n", "msgid \"\"\nmsgstr \"A: 1\\nB: 2\\nC: 4\"\n",
			"msgid \"\"\nmsgstr \"\"\n\"A: 3\\n\"\n\"B: 2\\n\"\n\"C: 4\"\n",
		},
		{"no last line end", open(file(msg("a", ""), msg("b", ""))), open(file(msg("a", "1"), msg("b", ""))), open(file(msg("a", ""), msg("b", "2"))), open(file(msg("a", "1"), msg("b", "2")))},
		{"one side adds the last line end", open(file(msg("a", ""), msg("b", ""))), file(msg("a", ""), msg("b", "")), open(file(msg("a", "1"), msg("b", ""))), file(msg("a", "1"), msg("b", ""))},
		{"the end of a conflict is a line", open(msg("a", "x")), open(msg("a", "y")), open(msg("a", "z")), entry(`msgid "a"`, "<<<<<<< ours", `msgstr "y"`, "=======", `msgstr "z"`, ">>>>>>> theirs")},
		{"a charset", file(latin2, msg("a", "\xb1"), msg("b", "")), file(latin2, msg("a", "\xb9"), msg("b", "")), file(latin2, msg("a", "\xb1"), msg("b", "\xbe")), file(latin2, msg("a", "\xb9"), msg("b", "\xbe"))},
		{"one side changes the charset", file(latin2, msg("a", "\xb1"), msg("b", "")), file(wide, msg("a", "ą"), msg("b", "")), file(latin2, msg("a", "\xb9"), msg("b", "")), file(wide, msg("a", "š"), msg("b", ""))},
		{"blank lines before the first string", msg("a", "x", "# c"), "\n" + msg("a", "x"), msg("a", "x", "# c"), "\n" + msg("a", "x")},
		{"carriage returns at the end", "# a", "# a\n\r\r", "# a", "# a\n\r\r"},
		{"a file of comments in another charset", msg("a", ""), "# \xee\n", msg("a", ""), "# \xee\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			for i, sides := range [][2]string{{tt.ours, tt.theirs}, {tt.theirs, tt.ours}} {
				r, err := files([3][]byte{[]byte(tt.base), []byte(sides[0]), []byte(sides[1])}, Options{})
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(tt.want, string(r.Data)); diff != "" && (i == 0 || r.Conflicts == 0) {
					t.Errorf("exchanged %d (-want +got)\n%s", i, diff)
				}
			}
		})
	}
}

// TestUnreadable: what is not merged by meaning, and the reason that is told.
func TestUnreadable(t *testing.T) {
	t.Parallel()
	fine := msg("a", "x")
	for name, tt := range map[string]struct{ theirs, want string }{
		"markers":                 {"<<<<<<< a\n" + fine + "=======\n" + msg("a", "y") + ">>>>>>> b\n", "theirs: line 1: this looks like a merge conflict"},
		"no PO file":              {"{}\n", "theirs: line 1: "},
		"another domain":          {"domain \"d\"\n" + msg("a", "y"), "theirs: line 2: it has domains"},
		"two entries on a line":   {`msgid "a" msgstr "y" msgid "b" msgstr ""` + "\n", "theirs: line 1: "},
		"too large":               {strings.Repeat("#", maxBytes) + "\n", "theirs: 67108865 bytes, more than 67108864"},
		"no charset of its bytes": {head(utf8) + msg("a", "\xb1"), "theirs: line "},
	} {
		_, err := Files([]byte(fine), []byte(msg("a", "z")), []byte(tt.theirs), Options{})
		if err == nil || !strings.HasPrefix(err.Error(), "not merged by meaning: "+tt.want) {
			t.Errorf("%s: %v, want %s", name, err, tt.want)
		}
	}
}
