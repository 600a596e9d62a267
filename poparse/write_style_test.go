package poparse

import (
	"bytes"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/repoglot/repoglot/gitsource/gittest"
)

const longText = "Sed ut perspiciatis unde omnis iste natus error sit voluptatem accusantium doloremque laudantium, totam rem aperiam"

// TestWriteStyles edits a file in each style: the new text is in the style of the
// others, and no line of these changes.
func TestWriteStyles(t *testing.T) {
	for name, tt := range map[string]struct{ others, want string }{
		"nothing tells": {
			"msgid \"b\"\nmsgstr \"be\"\n",
			"msgstr \"\"\n\"Sed ut perspiciatis unde omnis iste natus error sit voluptatem accusantium \"\n\"doloremque laudantium, totam rem aperiam\\n\"\n\"dva\"\n",
		},
		"never wrapped": {
			"msgid \"b\"\nmsgstr \"" + longText + "\"\n",
			"msgstr \"\"\n\"" + longText + "\\n\"\n\"dva\"\n",
		},
		"line feeds on one line": {
			"msgid \"b\"\nmsgstr \"" + longText + "\\n\\n" + longText + "\"\n",
			"msgstr \"" + longText + "\\ndva\"\n",
		},
		"60 columns": {
			"msgid \"b\"\nmsgstr \"\"\n\"Sed ut perspiciatis unde omnis iste natus error sit et \"\n\"voluptatem accusantium doloremque laudantium, totam rem \"\n\"aperiam\"\n\n" +
				"msgid \"c\"\nmsgstr \"\"\n\"Totam rem aperiam, eaque ipsa quae ab illo inventore aab \"\n\"veritatis et quasi architecto\"\n",
			"msgstr \"\"\n\"Sed ut perspiciatis unde omnis iste natus error sit \"\n\"voluptatem accusantium doloremque laudantium, totam rem \"\n\"aperiam\\n\"\n\"dva\"\n",
		},
		"after blanks only": {
			"msgid \"b\"\nmsgstr \"\"\n\"Sed-ut-perspiciatis unde omnis iste natus error sit \"\n\"voluptatem-accusantium-doloremque-laudantium totam rem aperiam eaque ipsa \"\n\"quae\"\n\n" +
				"msgid \"c\"\nmsgstr \"\"\n\"Sed-ut-perspiciatis unde omnis iste natus error sit \"\n\"voluptatem-accusantium-doloremque-laudantium/totam rem aperiam eaque ipsa \"\n\"quae\"\n",
			"msgstr \"\"\n\"Sed ut perspiciatis unde omnis iste natus error sit voluptatem accusantium \"\n\"doloremque laudantium, totam rem aperiam\\n\"\n\"dva\"\n",
		},
		"sources tell where translations do not": {
			"msgid \"" + longText + "\"\nmsgstr \"be\"\n",
			"msgstr \"\"\n\"" + longText + "\\n\"\n\"dva\"\n",
		},
	} {
		for _, nl := range []string{"\n", "\r\n"} {
			t.Run(fmt.Sprintf("%s %q", name, nl), func(t *testing.T) {
				before := "msgid \"a\"\n"
				file := strings.ReplaceAll(before+"msgstr \"á\"\n\n"+tt.others, "\n", nl)
				f, err := Parse("x.po", []byte(file))
				must(t, err)
				f.Entries[0].Str[0] = longText + "\ndva"
				want := strings.ReplaceAll(before+tt.want+"\n"+tt.others, "\n", nl)
				if diff := cmp.Diff(want, written(t, f)); diff != "" {
					t.Errorf("(-want +got)\n%s", diff)
				}
			})
		}
	}
}

// TestWriteForms changes one of several translations, and lines of a translation of
// several: the others keep their bytes, in whatever form they are.
func TestWriteForms(t *testing.T) {
	const plural = "msgid \"a\"\nmsgid_plural \"b\"\nmsgstr[0]  \"by\" \nmsgstr[1] \"h\"\n\"and\"\nmsgstr[2] \"\"\n\"x\\n\"\n\"y \"\n\"z\\n\"\n\"end\"\n"
	const header = "msgid \"\"\nmsgstr \"Project: x\\n\"\n\"Date: old\\n\"\n  \"Team: a very \"\n\"long\\n\"\n\"Charset: text/plain; charset=UTF-8\\n\"\n"
	const obsolete = "#~ msgid \"\"\n#~ \"a\\n\"\n#~ \"b\"\n#~msgstr \"\"\n#~ \"a\\n\"\n#~ \"b\"\n"
	for name, tt := range map[string]struct {
		in     string
		change func(f *File)
		want   string
	}{
		"one form":    {plural, func(f *File) { f.Entries[0].Str[1] = "c" }, "-msgstr[1] \"h\"\n-\"and\"\n+msgstr[1] \"c\"\n"},
		"first line":  {plural, func(f *File) { f.Entries[0].Str[2] = "X\ny z\nend" }, "-\"x\\n\"\n+\"X\\n\"\n"},
		"middle line": {plural, func(f *File) { f.Entries[0].Str[2] = "x\nYZ\nend" }, "-\"y \"\n-\"z\\n\"\n+\"YZ\\n\"\n"},
		"last line":   {plural, func(f *File) { f.Entries[0].Str[2] = "x\ny z\nThe end" }, "-\"end\"\n+\"The end\"\n"},
		"line added":  {plural, func(f *File) { f.Entries[0].Str[2] = "x\ny z\n\nend" }, "+\"\\n\"\n"},
		"line gone":   {plural, func(f *File) { f.Entries[0].Str[2] = "x\nend" }, "-\"y \"\n-\"z\\n\"\n"},
		"one line left": {
			plural, func(f *File) { f.Entries[0].Str[2] = "end" },
			"-msgstr[2] \"\"\n-\"x\\n\"\n-\"y \"\n-\"z\\n\"\n-\"end\"\n+msgstr[2] \"end\"\n",
		},
		"fewer forms": {plural, func(f *File) { f.Entries[0].Str = f.Entries[0].Str[:2] }, "-msgstr[2] \"\"\n-\"x\\n\"\n-\"y \"\n-\"z\\n\"\n-\"end\"\n"},
		"more forms":  {plural, func(f *File) { f.Entries[0].Str = append(f.Entries[0].Str, "q") }, "+msgstr[3] \"q\"\n"},
		"header": {
			header, func(f *File) { f.Header.Str[0] = strings.Replace(f.Header.Str[0], "old", "new", 1) },
			"-\"Date: old\\n\"\n+\"Date: new\\n\"\n",
		},
		"header's first line": {
			header, func(f *File) { f.Header.Str[0] = "P" + f.Header.Str[0][len("Project"):] },
			"-msgstr \"Project: x\\n\"\n+msgstr \"P: x\\n\"\n",
		},
		"header's first and another line": {
			header, func(f *File) {
				f.Header.Str[0] = "P" + strings.Replace(f.Header.Str[0], "a very long", "\\\"b", 1)[len("Project"):]
			},
			"-msgstr \"Project: x\\n\"\n-\"Date: old\\n\"\n-  \"Team: a very \"\n-\"long\\n\"\n+msgstr \"P: x\\n\"\n+\"Date: old\\n\"\n+  \"Team: \\\\\\\"b\\n\"\n",
		},
		"header of one string": {
			"msgid \"\"\nmsgstr \"Project: x\\nDate: old\\nTeam: \\\\no\\nTranslator: y\"\n",
			func(f *File) { f.Header.Str[0] = strings.Replace(f.Header.Str[0], "old", "new", 1) + "z" },
			"-msgstr \"Project: x\\nDate: old\\nTeam: \\\\no\\nTranslator: y\"\n+msgstr \"Project: x\\nDate: new\\nTeam: \\\\no\\nTranslator: yz\"\n",
		},
		"header with two fields that are not beside each other": {
			header + "\"Translator: \"\n\"y\\n\"\n", func(f *File) {
				f.Header.Str[0] = strings.NewReplacer("old", "new", "Translator: y", "Translator: z").Replace(f.Header.Str[0])
			},
			"-\"Date: old\\n\"\n-  \"Team: a very \"\n-\"long\\n\"\n-\"Charset: text/plain; charset=UTF-8\\n\"\n-\"Translator: \"\n-\"y\\n\"\n+\"Date: new\\n\"\n+  \"Team: a very \"\n+\"long\\n\"\n+\"Charset: text/plain; charset=UTF-8\\n\"\n+\"Translator: z\\n\"\n",
		},
		"header with two line feeds on a line": {
			header + "\"Translator: y\\n\\n\"\n\"End: \\n\"\n", func(f *File) {
				f.Header.Str[0] = strings.NewReplacer("old", "new", "Translator: y", "Translator: z").Replace(f.Header.Str[0])
			},
			"-\"Date: old\\n\"\n-  \"Team: a very \"\n-\"long\\n\"\n-\"Charset: text/plain; charset=UTF-8\\n\"\n-\"Translator: y\\n\\n\"\n+\"Date: new\\n\"\n+  \"Team: a very \"\n+\"long\\n\"\n+\"Charset: text/plain; charset=UTF-8\\n\"\n+\"Translator: z\\n\\n\"\n",
		},
		"no longer fuzzy, with a prose that says so": {
			"#, c-format\n#, exfuzzy (was fuzzy --x)\n#,  range: 0..5 ,  fuzzy\n#, fuzzy\nmsgid \"a\"\nmsgstr \"b\"\n", func(f *File) { f.Entries[0].Fuzzy = false },
			"-#, exfuzzy (was fuzzy --x)\n-#,  range: 0..5 ,  fuzzy\n-#, fuzzy\n+#, exfuzzy (was --x)\n+#,  range: 0..5\n",
		},
		"fuzzy among several flag lines": {
			"#,c-format\n#, no-wrap\nmsgid \"a\"\nmsgstr \"b\"\n", func(f *File) { f.Entries[0].Fuzzy = true },
			"-#,c-format\n+#, fuzzy, c-format\n",
		},
		"fuzzy beside sticky flags": {
			"# mine\n#= c-format\n#= no-wrap\nmsgid \"a\"\nmsgstr \"b\"\n", func(f *File) { f.Entries[0].Fuzzy = true },
			"+#, fuzzy\n",
		},
		"no longer fuzzy beside sticky flags": {
			"#, fuzzy\n#= c-format\nmsgid \"a\"\nmsgstr \"b\"\n", func(f *File) { f.Entries[0].Fuzzy = false },
			"-#, fuzzy\n",
		},
		"no longer fuzzy where the other flags would be one": {
			"#, range: fuzzy 0..5\nmsgid \"a\"\nmsgstr \"b\"\n", func(f *File) { f.Entries[0].Fuzzy = false },
			"-#, range: fuzzy 0..5\n+#, range:, 0..5\n",
		},
		"CR LF in the comments": {
			"# a\r\n# b\r\n# c\r\n# d\r\n# e\r\n# f\r\n# g\r\n" + header, func(f *File) { f.Header.Str[0] = strings.Replace(f.Header.Str[0], "old", "new", 1) },
			"-\"Date: old\\n\"\n+\"Date: new\\n\"\n",
		},
		"CR LF in an entry, LF in others": {
			"msgid \"a\"\nmsgstr \"b\"\n\n#, c-format\r\nmsgid \"c\"\r\nmsgstr \"d\"\r\n\n" + obsolete, func(f *File) {
				f.Entries[0].Str[0], f.Entries[1].Str[0], f.Entries[1].Fuzzy = "B\nB", "D", true
			},
			"-msgstr \"b\"\n-\n-#, c-format\r\n-msgid \"c\"\r\n-msgstr \"d\"\r\n+msgstr \"\"\n+\"B\\n\"\n+\"B\"\n+\n+#, fuzzy, c-format\r\n+msgid \"c\"\r\n+msgstr \"D\"\r\n",
		},
		"obsolete": {obsolete, func(f *File) { f.Entries[0].Str[0] = "a\nc" }, "-#~ \"b\"\n+#~ \"c\"\n"},
		"no line end": {
			"msgid \"a\"\nmsgstr \"\"\n\"a\\n\"\n\"b\"", func(f *File) { f.Entries[0].Str[0] = "c\nb" },
			"-\"a\\n\"\n+\"c\\n\"\n",
		},
		"no line end, added at the end": {
			"msgid \"a\"\nmsgstr \"\"\n\"a\\n\"\n\"b\\n\"", func(f *File) { f.Entries[0].Str[0] = "a\nb\nc" },
			"-\"b\\n\"+\"b\\n\"\n+\"c\"\n",
		},
		"lines that are joined": {
			"msgid \"a\"\nmsgstr \"\"\n\"a\\nb\\n\"\n\"c\"\n", func(f *File) { f.Entries[0].Str[0] = "a\nb\nd" },
			"-\"a\\nb\\n\"\n-\"c\"\n+\"a\\n\"\n+\"b\\n\"\n+\"d\"\n",
		},
		"header of lines in a file that joins them": {
			header + "\nmsgid \"a\\nb\\n\"\nmsgstr \"c\\nd\\n\"\n",
			func(f *File) {
				f.Header.Str[0] = strings.Replace(f.Header.Str[0], "old\nTeam: a very long", "new\nTeam: b", 1)
			},
			"-\"Date: old\\n\"\n-  \"Team: a very \"\n-\"long\\n\"\n+\"Date: new\\n\"\n+  \"Team: b\\n\"\n",
		},
		"a number": {
			"msgid \"a\"\nmsgstr \"\"\n\"a\\012\"\n\"b\\n\"\n\"c\"\n", func(f *File) { f.Entries[0].Str[0] = "a\nb\nd" },
			"-\"a\\012\"\n-\"b\\n\"\n-\"c\"\n+\"a\\n\"\n+\"b\\n\"\n+\"d\"\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			f, err := Parse("x.po", []byte(tt.in))
			must(t, err)
			tt.change(f)
			got := written(t, f)
			if diff := cmp.Diff(tt.want, lineDiff(tt.in, got)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			again, err := Parse("x.po", []byte(got))
			must(t, err)
			compareFiles(t, name, f, again)
		})
	}
}

// TestWriteLikeMsgcat edits files of the bundles that msgcat has written at several
// widths: the result is what msgcat writes of it at that width.
func TestWriteLikeMsgcat(t *testing.T) {
	if _, err := exec.LookPath("msgcat"); err != nil {
		t.Skip("skipped: msgcat is not installed")
	}
	bundles, err := filepath.Glob(filepath.Join(gittest.Shared(t, "data", "repos"), "*.bundle"))
	must(t, err)
	edits := 0
	for _, bundle := range bundles {
		path, err := filepath.Abs(bundle)
		must(t, err)
		files := headFiles(t, cloneBundle(t, path), ".po")
		var file blob // the largest: in small ones nothing may tell
		for _, f := range files {
			if len(f.data) > len(file.data) && len(f.data) < 300<<10 {
				file = f
			}
		}
		if len(file.data) < 10<<10 {
			continue
		}
		for _, option := range []string{"--no-wrap", "--width=79", "--width=77", "--width=100", "--width=61"} {
			edits += editLikeMsgcat(t, file, option)
		}
	}
	if edits < 50 {
		t.Errorf("only %d edits compared", edits)
	}
}

// editLikeMsgcat makes some edits of a file in one style and returns their number.
func editLikeMsgcat(t *testing.T, file blob, option string) int {
	t.Helper()
	data, ok := runMsgcat(file.data, option)
	f, err := Parse(file.path, data)
	if !ok || err != nil || len(f.Entries) == 0 || bytes.Contains(data, []byte("\r\n")) {
		return 0
	}
	n := 0
	for i := 1; i < len(f.Entries); i += 1 + len(f.Entries)/3 {
		e := f.Entries[i]
		if e.Obsolete {
			continue
		}
		e.Str = append([]string{longText + "\n" + e.Str[0]}, e.Str[1:]...)
		e.Fuzzy, e.Previous = !e.Fuzzy, nil
		n++
	}
	got := written(t, f)
	want, ok := runMsgcat([]byte(got), option)
	if !ok {
		t.Errorf("%s %s: msgcat cannot read what was written", file.path, option)
	} else if got != string(want) {
		t.Errorf("%s %s (-msgcat +ours)\n%s", file.path, option, lineDiff(string(want), got))
	}
	return n
}

func runMsgcat(data []byte, option string) ([]byte, bool) {
	cmd := exec.Command("msgcat", option, "-")
	cmd.Stdin = bytes.NewReader(data)
	cmd.Env = append(cmd.Environ(), "LC_ALL=C.UTF-8", "LANGUAGE=C")
	out, err := cmd.Output()
	return out, err == nil
}
