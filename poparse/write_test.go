package poparse

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/unicode"

	"github.com/repoglot/repoglot/gitsource/gittest"
	"github.com/repoglot/repoglot/testrepos/testsize"
)

func written(t testing.TB, f *File) string {
	t.Helper()
	var b bytes.Buffer
	n, err := f.WriteTo(&b)
	must(t, err)
	if n != int64(b.Len()) {
		t.Errorf("WriteTo says %d bytes, wrote %d", n, b.Len())
	}
	return b.String()
}

// TestWriteUnchanged writes every file of testdata and every awkward file that parses:
// all bytes must be the same.
func TestWriteUnchanged(t *testing.T) {
	for file, ar := range archives(t) {
		checkWritten(t, file, input(t, ar))
	}
	awkward, err := filepath.Glob(filepath.Join("..", "..", "shared", "data", "repos", "awkward", "*.po"))
	must(t, err)
	for _, file := range awkward {
		data, err := os.ReadFile(file)
		must(t, err)
		checkWritten(t, file, data)
	}
}

// checkWritten checks a file: written unchanged it has the same bytes; with all entries
// written as new ones it has the same entries; and one changed entry changes no other
// line.
func checkWritten(t *testing.T, name string, data []byte) {
	t.Helper()
	f, err := Parse(name, data)
	if err != nil {
		return
	}
	if got := written(t, f); got != string(data) {
		t.Errorf("%s: written unchanged: %s", name, cmp.Diff(string(data), got))
	}
	fresh := renderAll(t, f)
	again, err := Parse(name, []byte(fresh))
	if err != nil {
		t.Errorf("%s: all entries written anew: %v\n%s", name, err, fresh)
		return
	}
	compareFiles(t, name, f, again)
	changeEach(t, name, data)
}

// renderAll writes all entries of a file as new ones of a file made by hand.
func renderAll(t testing.TB, f *File) string {
	t.Helper()
	byHand := &File{Name: f.Name, OtherHeaders: bytesOf(f.OtherHeaders), Entries: bytesOf(f.Entries)}
	if f.Header != nil {
		h := *f.Header
		// Text read from another charset is written in UTF-8 here.
		if len(h.Str) > 0 {
			if from, to := charsetIn(h.Str[0], strings.IndexByte); from > 0 {
				h.Str = append([]string{h.Str[0][:from] + "UTF-8" + h.Str[0][to:]}, h.Str[1:]...)
			}
		}
		h.KeywordLine = 0
		byHand.Header = &h
	}
	return written(t, byHand)
}

// bytesOf copies entries without their lines.
func bytesOf(entries []*Entry) []*Entry {
	out := make([]*Entry, len(entries))
	for i, e := range entries {
		fresh := *e
		fresh.KeywordLine = 0
		out[i] = &fresh
	}
	return out
}

func compareFiles(t *testing.T, name string, want, got *File) {
	t.Helper()
	if len(want.Entries) != len(got.Entries) {
		t.Errorf("%s: %d entries, want %d", name, len(got.Entries), len(want.Entries))
		return
	}
	for i := range want.Entries {
		if Alike(want.Entries[i], got.Entries[i]) != AllKinds || want.Entries[i].Obsolete != got.Entries[i].Obsolete || want.Entries[i].Domain != got.Entries[i].Domain {
			t.Errorf("%s: entry %d (-want +got):\n%s", name, i, cmp.Diff(want.Entries[i], got.Entries[i], cmp.AllowUnexported(Entry{})))
			return
		}
	}
}

// changeEach changes a few entries, one after the other.
func changeEach(t *testing.T, name string, data []byte) {
	t.Helper()
	f, err := Parse(name, data)
	must(t, err)
	step := max(1, len(f.Entries)/5)
	for i := 0; i < len(f.Entries); i += step {
		e := f.Entries[i]
		was := *e
		e.Str = append([]string{"changed\nanew"}, e.Str[1:]...)
		e.Fuzzy = !e.Fuzzy
		var b strings.Builder
		if _, err := f.WriteTo(&b); err != nil {
			// Escapes, and U+FFFD for NUL, may not be in the charset.
			escaped := hasNumbers(f.source.text) || strings.Contains(f.source.text, "\uFFFD")
			if !strings.Contains(err.Error(), "names no charset") && !(escaped && strings.Contains(err.Error(), "is not in the charset")) {
				t.Errorf("%s: entry %d changed: %v", name, i, err)
			}
			*e = was
			continue
		}
		got := b.String()
		again, err := Parse(name, []byte(got))
		if err != nil {
			t.Errorf("%s: entry %d changed: %v", name, i, err)
			return
		}
		compareFiles(t, name, f, again)
		head := commonLines(string(data), got)
		if lines := strings.Count(string(data[:head]), "\n") + 1; was.Line > lines {
			t.Errorf("%s: the change of entry %d on line %d shows on line %d", name, i, was.Line, lines)
		}
		if i+1 < len(f.Entries) && f.source.raw == "" && bytes.HasPrefix(data, []byte(f.source.text[:1])) {
			tail := linesFrom(f.source.text, f.Entries[i+1].Line)
			apart := strings.HasSuffix(strings.TrimSuffix(f.source.text, tail), "\n\n") && strings.IndexByte("#m", tail[0]) >= 0 // nothing of it on the lines before
			if apart && !strings.HasSuffix(got, tail) {
				t.Errorf("%s: the change of entry %d on line %d shows after line %d: %s", name, i, was.Line, f.Entries[i+1].Line, lineDiff(tail, got[max(0, len(got)-len(tail)):]))
			}
		}
		*e = was
	}
	if got := written(t, f); got != string(data) {
		t.Errorf("%s: changed back: %s", name, cmp.Diff(string(data), got))
	}
}

// linesFrom returns the text from a line on, whatever ends the lines.
func linesFrom(text string, line int) string {
	for ; line > 1; line-- {
		_, text, _ = strings.Cut(text, "\n")
	}
	return text
}

// commonLines returns the length of the common lines at the start of two texts.
func commonLines(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// msgcat returns the output of GNU msgcat for a file.
func msgcat(t *testing.T, data []byte) (string, bool) {
	t.Helper()
	cmd := exec.Command("msgcat", "-")
	cmd.Stdin = bytes.NewReader(data)
	cmd.Env = append(os.Environ(), "LC_ALL=C.UTF-8", "LANGUAGE=C")
	out, err := cmd.Output()
	return string(out), err == nil
}

// compareWithMsgcat compares the bytes of every entry with msgcat's and returns the
// number of entries.
func compareWithMsgcat(t *testing.T, name string, data []byte) int {
	t.Helper()
	want, ok := msgcat(t, data)
	if !ok || strings.Contains(want, "\r\n") { // it keeps CR in comments, but not elsewhere
		return 0
	}
	if want == "" {
		return 0 // it writes nothing of a file that has a header alone
	}
	f, err := Parse(name, []byte(want))
	if err != nil {
		if strings.HasSuffix(name, "src/po/zh_TW.po") {
			return 0 // msgcat cuts comments at a trail byte 0x5C
		}
		t.Errorf("%s: what msgcat wrote: %v", name, err)
		return 0
	}
	if ours, err := Parse(name, data); err == nil {
		sameStrings(t, ours, f)
	}
	if got := written(t, f); got != want {
		t.Errorf("%s: what msgcat wrote is not given back: %s", name, cmp.Diff(want, got))
	}
	rec := &record{all: true}
	if _, err := scan(name, f.source.decoded, rec, nil); err != nil {
		t.Fatal(err)
	}
	for i := range rec.entries {
		e := rec.entries[i]
		var b bytes.Buffer
		r := newRenderer(&b, "\n", isAsianCharset(f.Charset))
		r.style = gettextStyle
		r.entry(e)
		text := f.source.text[rec.spans[i].from[partComments]:rec.spans[i].to]
		if b.String() != text {
			t.Errorf("%s:%d (-msgcat +ours)\n%s", name, e.Line, cmp.Diff(text, b.String()))
		}
	}
	return len(rec.entries)
}

// TestWriteBundles writes files of the bundles and compares their form with msgcat's: a
// few files of each bundle, in long tests all.
func TestWriteBundles(t *testing.T) {
	_, err := exec.LookPath("msgcat")
	oracle := err == nil
	bundles, err := filepath.Glob(filepath.Join(gittest.Shared(t, "data", "repos"), "*.bundle"))
	must(t, err)
	for _, bundle := range bundles {
		t.Run(strings.TrimSuffix(filepath.Base(bundle), ".bundle"), func(t *testing.T) {
			path, err := filepath.Abs(bundle)
			must(t, err)
			files := headFiles(t, cloneBundle(t, path), ".po")
			step := 1 + len(files)/4
			if underRace {
				step = 1 + len(files)/2
			}
			if testsize.Nightly() {
				step = 1
			}
			n := 0
			for i := 0; i < len(files); i += step {
				checkWritten(t, files[i].path, files[i].data)
				if oracle {
					n += compareWithMsgcat(t, files[i].path, files[i].data)
				}
			}
			t.Logf("%d entries compared with msgcat", n)
		})
	}
	if !oracle {
		t.Log("msgcat is not installed: not compared with it")
	}
}

const editBase = `# Czech translation.
msgid ""
msgstr ""
"Language: cs\n"
"Content-Type: text/plain; charset=UTF-8\n"

#. from the source
#:  a.c:1   b.c:2
#,c-format
msgid  "one %d"
msgstr   "jedna %d"

# two lines
# of comment
#: c.c:3
#| msgid "too"
msgid "two"
msgid_plural "twos"
msgstr[0] "dvojka"
msgstr[1] "dvojky"

#~ msgid "gone"
#~ msgstr "pryč"

# behind the last entry
`

// TestWriteChanged makes one change in each case and compares the removed and the new
// lines ("-" and "+").
func TestWriteChanged(t *testing.T) {
	for name, tt := range map[string]struct {
		in     string
		change func(f *File)
		want   string
	}{
		"target": {
			editBase, func(f *File) { f.Entries[0].Str[0] = "první\tčíslo \"%d\"\\" },
			"-msgstr   \"jedna %d\"\n+msgstr \"první\\tčíslo \\\"%d\\\"\\\\\"\n",
		},
		"target with lines": {
			editBase, func(f *File) { f.Entries[0].Str[0] = "a\nb" },
			"-msgstr   \"jedna %d\"\n+msgstr \"\"\n+\"a\\n\"\n+\"b\"\n",
		},
		"target that wraps": {
			editBase, func(f *File) { f.Entries[0].Str[0] = strings.Repeat("dlouhá ", 12) + "slova" },
			"-msgstr   \"jedna %d\"\n+msgstr \"\"\n+\"" + strings.Repeat("dlouhá ", 11) + "\"\n+\"dlouhá slova\"\n",
		},
		"wide characters": {
			editBase, func(f *File) { f.Entries[0].Str[0] = strings.Repeat("漢", 40) },
			"-msgstr   \"jedna %d\"\n+msgstr \"\"\n+\"" + strings.Repeat("漢", 38) + "\"\n+\"漢漢\"\n",
		},
		"one form": {
			editBase, func(f *File) { f.Entries[1].Str[1] = "" },
			"-msgstr[1] \"dvojky\"\n+msgstr[1] \"\"\n",
		},
		"one more form": {
			editBase, func(f *File) { f.Entries[1].Str = append(f.Entries[1].Str, "dvojek") },
			"+msgstr[2] \"dvojek\"\n",
		},
		"fuzzy": {
			editBase, func(f *File) { f.Entries[0].Fuzzy = true },
			"-#,c-format\n+#, fuzzy, c-format\n",
		},
		"fuzzy where no flags are": {
			editBase, func(f *File) { f.Entries[1].Fuzzy = true },
			"+#, fuzzy\n",
		},
		"no flags": {
			editBase, func(f *File) { f.Entries[0].Flags = nil },
			"-#,c-format\n",
		},
		"an open quote in a flag": {
			editBase, func(f *File) { f.Entries[0].Flags = []string{"x", `a:"b`, "y", `z"`} },
			"-#,c-format\n+#, x, a:\"b\n+#, y, z\"\n",
		},
		"comments": {
			editBase, func(f *File) { f.Entries[1].Comments = []string{"one line"} },
			"-# two lines\n-# of comment\n+# one line\n",
		},
		"first comment": {
			editBase, func(f *File) { f.Entries[0].Comments = []string{"new", ""} },
			"+# new\n+#\n",
		},
		"references": {
			editBase, func(f *File) { f.Entries[0].References = []string{"my file.c:7", "x:1"} },
			"-#:  a.c:1   b.c:2\n+#: \u2068my file.c\u2069:7 x:1\n",
		},
		"previous gone": {
			editBase, func(f *File) { f.Entries[1].Previous = nil },
			"-#| msgid \"too\"\n",
		},
		"previous": {editBase, func(f *File) {
			e := f.Entries[0]
			e.Previous = &Previous{Context: "c", ID: "uno", IDPlural: "unos"}
		}, "+#| msgctxt \"c\"\n+#| msgid \"uno\"\n+#| msgid_plural \"unos\"\n"},
		"made obsolete": {
			editBase, func(f *File) { f.Entries[1].Obsolete = true },
			"-#| msgid \"too\"\n-msgid \"two\"\n-msgid_plural \"twos\"\n-msgstr[0] \"dvojka\"\n-msgstr[1] \"dvojky\"\n" +
				"+#~| msgid \"too\"\n+#~ msgid \"two\"\n+#~ msgid_plural \"twos\"\n+#~ msgstr[0] \"dvojka\"\n+#~ msgstr[1] \"dvojky\"\n",
		},
		"obsolete target": {
			editBase, func(f *File) { f.Entries[2].Str[0] = "pryč\ntam" },
			"-#~ msgstr \"pryč\"\n+#~ msgstr \"\"\n+#~ \"pryč\\n\"\n+#~ \"tam\"\n",
		},
		"removed": {
			editBase, func(f *File) { f.Entries = append(f.Entries[:1:1], f.Entries[2:]...) },
			"-# two lines\n-# of comment\n-#: c.c:3\n-#| msgid \"too\"\n-msgid \"two\"\n-msgid_plural \"twos\"\n-msgstr[0] \"dvojka\"\n-msgstr[1] \"dvojky\"\n-\n",
		},
		"added": {editBase, func(f *File) {
			f.Entries = append(f.Entries[:1:1], append([]*Entry{{ID: "new", HasContext: true, Context: "c"}}, f.Entries[1:]...)...)
		}, "+msgctxt \"c\"\n+msgid \"new\"\n+msgstr \"\"\n+\n"},
		"header": {
			editBase, func(f *File) { f.Header.Str[0] += "X-Note: a\n" },
			"+\"X-Note: a\\n\"\n",
		},
		"CR LF": {
			"msgid \"a\"\r\nmsgstr \"b\"\r\n", func(f *File) { f.Entries[0].Str[0] = "c\nd" },
			"-msgstr \"b\"\r\n+msgstr \"\"\r\n+\"c\\n\"\r\n+\"d\"\r\n",
		},
		"no line end": {
			"msgid \"a\"\nmsgstr \"b\"", func(f *File) { f.Entries = append(f.Entries, &Entry{ID: "c"}) },
			"-msgstr \"b\"+msgstr \"b\"\n+\n+msgid \"c\"\n+msgstr \"\"\n",
		},
		"one line": {
			"msgid \"a\" msgstr \"b\" # x\nmsgid \"c\" msgstr \"d\"\n", func(f *File) { f.Entries[0].Str[0] = "e" },
			"-msgid \"a\" msgstr \"b\" # x\n-msgid \"c\" msgstr \"d\"\n+msgid \"a\"\n+msgstr \"e\"\n+# x\n+msgid \"c\"\n+msgstr \"d\"\n",
		},
		"domain": {
			"msgid \"a\"\nmsgstr \"b\"\n", func(f *File) { f.Entries = append(f.Entries, &Entry{ID: "c", Domain: "d"}) },
			"+domain \"d\"\n+\n+msgid \"c\"\n+msgstr \"\"\n",
		},
		"to an empty file": {
			"", func(f *File) { f.Entries = []*Entry{{ID: "a", Str: []string{"b"}}} },
			"+msgid \"a\"\n+msgstr \"b\"\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			f, err := Parse("x.po", []byte(tt.in))
			must(t, err)
			tt.change(f)
			got := written(t, f)
			if diff := cmp.Diff(tt.want, lineDiff(tt.in, got)); diff != "" {
				t.Errorf("%s\n%s", diff, got)
			}
			again, err := Parse("x.po", []byte(got))
			must(t, err)
			compareFiles(t, name, f, again)
		})
	}
}

// lineDiff returns the lines of a and of b between their common start and end, without
// equal lines in between.
func lineDiff(a, b string) string {
	x, y := strings.SplitAfter(a, "\n"), strings.SplitAfter(b, "\n")
	for len(x) > 0 && len(y) > 0 && x[0] == y[0] {
		x, y = x[1:], y[1:]
	}
	for len(x) > 0 && len(y) > 0 && x[len(x)-1] == y[len(y)-1] {
		x, y = x[:len(x)-1], y[:len(y)-1]
	}
	var out strings.Builder
	for mark, lines := range []([]string){x, y} {
		for _, line := range lines {
			if line != "" {
				out.WriteString([]string{"-", "+"}[mark] + line)
			}
		}
	}
	return out.String()
}

// TestWriteCharsets changes an entry in files of other charsets: only its own
// bytes differ.
func TestWriteCharsets(t *testing.T) {
	for _, tt := range []struct{ charset, before, after, wrong string }{
		{"ISO-8859-2", "Příliš", "žluťoučký", "å (U+00E5)"},
		{"KOI8-R", "Привет", "мир", "ž (U+017E)"},
		{"CP1251", "Съешь", "ещё", "ž (U+017E)"},
		{"TIS-620", "ภาษา", "ไทย", "“ (U+201C)"},
		{"SHIFT_JIS", "表示ソ", "能表", "¥ (U+00A5)"},
		{"EUC-JP", "日本語", "表", "😀 (U+1F600)"},
		{"GB2312", "简体", "中文", "體 (U+9AD4)"},
		{"GBK", "繁體", "中文", "😀 (U+1F600)"},
		{"BIG5", "功許蓋", "繁體", "简 (U+7B80)"},
		{"EUC-KR", "한국", "어", "똠 (U+B620)"},
	} {
		t.Run(tt.charset, func(t *testing.T) {
			_, enc := lookupCharset(tt.charset)
			file := func(str string) []byte {
				text := "# " + tt.before + "\nmsgid \"\"\nmsgstr \"Content-Type: text/plain; charset=" + tt.charset + "\\n\"\n\n" +
					"#. " + tt.before + "\nmsgid \"a\"\nmsgstr \"" + str + "\"\n\nmsgid \"b\" msgstr \"" + tt.before + "\" # " + tt.before
				data, err := enc.NewEncoder().Bytes([]byte(text))
				must(t, err)
				return data
			}
			data := file(tt.before)
			f, err := Parse("x.po", data)
			must(t, err)
			f.Entries[0].Str[0] = tt.after
			if got := written(t, f); got != string(file(tt.after)) {
				t.Errorf("got  %q\nwant %q", got, file(tt.after))
			}
			letter, _, _ := strings.Cut(tt.wrong, " ")
			f.Entries[0].Str[0] = "a" + letter
			_, err = f.WriteTo(io.Discard)
			if err == nil || !strings.Contains(err.Error(), "'"+strings.Replace(tt.wrong, " ", "' ", 1)+" is not in the charset "+tt.charset) ||
				!strings.Contains(err.Error(), "line 6, msgid \"a\"") {
				t.Errorf("%s: %v", letter, err)
			}
			// A change of the header converts the file, and then it fits.
			f.Header.Str[0] = strings.Replace(f.Header.Str[0], tt.charset, "UTF-8", 1)
			if again, err := Parse("x.po", []byte(written(t, f))); err != nil || again.Entries[0].Str[0] != "a"+letter ||
				again.Entries[1].Str[0] != tt.before || again.Entries[0].Extracted[0] != tt.before {
				t.Errorf("converted to UTF-8: %v, %v", again, err)
			}
		})
	}
}

// TestWriteUTF16 changes an entry of a UTF-16 file.
func TestWriteUTF16(t *testing.T) {
	for _, endian := range []unicode.Endianness{unicode.LittleEndian, unicode.BigEndian} {
		for _, bom := range []unicode.BOMPolicy{unicode.UseBOM, unicode.IgnoreBOM} {
			enc := unicode.UTF16(endian, bom)
			file := func(str string) string {
				text, err := enc.NewEncoder().String("msgid \"a\" msgstr \"😀\" # ž\r\nmsgid \"b\"\r\nmsgstr \"" + str + "\"\r\n")
				must(t, err)
				return text
			}
			f, err := Parse("x.po", []byte(file("x")))
			must(t, err)
			f.Entries[1].Str[0] = "ž😀"
			// The comment after the string makes the second entry begin inside a line.
			want := strings.Replace(file("ž😀"), mustEncode(t, enc, " # ž\r\nmsgid"), mustEncode(t, enc, "\r\n# ž\r\nmsgid"), 1)
			if got := written(t, f); got != want {
				t.Errorf("endian %v, BOM %v:\ngot  %q\nwant %q", endian, bom, got, want)
			}
		}
	}
}

func mustEncode(t *testing.T, enc encoding.Encoding, s string) string {
	t.Helper()
	out, err := enc.NewEncoder().String(s)
	must(t, err)
	return strings.TrimPrefix(strings.TrimPrefix(out, "\xff\xfe"), "\xfe\xff")
}

// TestWriteRefuses writes entries that would not read back as they are.
func TestWriteRefuses(t *testing.T) {
	for name, change := range map[string]func(f *File){
		"line feed in a flag":      func(f *File) { f.Entries[0].Flags = []string{"c-format\nmsgid"} },
		"comma in a flag":          func(f *File) { f.Entries[0].Flags = []string{"a,b"} },
		"fuzzy as a flag":          func(f *File) { f.Entries[0].Flags = []string{"fuzzy"} },
		"line feed in a reference": func(f *File) { f.Entries[0].References = []string{"a\n\"b\""} },
		"empty reference":          func(f *File) { f.Entries[0].References = []string{""} },
		"empty msgid":              func(f *File) { f.Entries[0].ID = "" },
		"header with a msgid":      func(f *File) { f.Header.ID = "a" },
		"NUL":                      func(f *File) { f.Entries[0].Str[0] = "a\x00" },
		"not UTF-8":                func(f *File) { f.Entries[0].Str[0] = "a\xff" },
		"two forms of a singular":  func(f *File) { f.Entries[0].Str = []string{"a", "b"} },
		"too many forms":           func(f *File) { f.Entries[1].Str = make([]string, maxPlurals+1) },
		"carriage return at the end of a comment": func(f *File) { f.Entries[0].Comments = []string{"a\r"} },
		"an entry twice":               func(f *File) { f.Entries = append(f.Entries, f.Entries[0]) },
		"the header among the entries": func(f *File) { f.Entries = append(f.Entries, f.Header) },
		"nil":                          func(f *File) { f.Entries[0] = nil },
		"unknown charset":              func(f *File) { f.Header.Str[0] = "charset=nonsense" },
	} {
		f, err := Parse("x.po", []byte(editBase))
		must(t, err)
		change(f)
		var b bytes.Buffer
		if n, err := f.WriteTo(&b); err == nil || n != 0 || b.Len() != 0 || !strings.HasPrefix(err.Error(), "write x.po: ") {
			t.Errorf("%s: %d, %v\n%s", name, n, err, &b)
		}
	}
	f, err := Parse("x.po", []byte("msgid \"a\"\nmsgstr \"b\"\n"))
	must(t, err)
	f.Entries[0].Str[0] = "ž"
	if _, err := f.WriteTo(io.Discard); err == nil || !strings.Contains(err.Error(), "'ž' (U+017E) is not in the charset ASCII") {
		t.Errorf("a letter in a file of ASCII: %v", err)
	}
	if f, err = Parse("x.po", []byte("msgid \"a\"\nmsgstr \"\xbf\"\n\nmsgid \"b\"\nmsgstr \"\xc5\xa5\"\n")); err != nil {
		t.Fatal(err)
	}
	f.Entries[0].Str[0] = "x"
	if _, err := f.WriteTo(io.Discard); err == nil || !strings.Contains(err.Error(), "name the charset") {
		t.Errorf("a guessed charset that would be another one: %v", err)
	}
	f.Entries[0].Str[0] = "\u00bf"
	failing := errors.New("disk full")
	if _, err := f.WriteTo(iotestWriter{failing}); err == nil {
		t.Error("no error of the writer")
	}
}

type iotestWriter struct{ err error }

func (w iotestWriter) Write([]byte) (int, error) { return 0, w.err }

// TestWriteOneLine writes a file with all entries on one line, in a charset that must be
// decoded to find their bytes. The time must not grow with the square of their number.
func TestWriteOneLine(t *testing.T) {
	n := 5_000
	if underRace {
		n = 500
	}
	data := []byte(`msgid "" msgstr "charset=CP932" ` + strings.Repeat("msgid \"a\" msgstr \"\x83\x5c\" ", n))
	f, err := Parse("x.po", data)
	must(t, err)
	if got := written(t, f); got != string(data) {
		t.Error("not written as it was read")
	}
	f.Entries[n/2].Str[0] = "表"
	if again, err := Parse("x.po", []byte(written(t, f))); err != nil || len(again.Entries) != n || again.Entries[n/2].Str[0] != "表" {
		t.Errorf("changed: %v", err)
	}
}

// TestWriteDomains writes a file made by hand and checks its Domain: other headers must
// not come before the entries without a domain.
func TestWriteDomains(t *testing.T) {
	header := func(domain string) *Entry {
		return &Entry{Domain: domain, Str: []string{"Language: " + domain + "x\n"}}
	}
	entry := func(domain, id string) *Entry { return &Entry{Domain: domain, ID: id, Str: []string{id}} }
	f := &File{
		Header:       header(""),
		OtherHeaders: []*Entry{header("fr"), header("de"), header("none")},
		Entries:      []*Entry{entry("", "a"), entry("de", "b"), entry("fr", "c"), entry("", "d")},
	}
	again, err := Parse("x.po", []byte(written(t, f)))
	must(t, err)
	if again.Domain != "" || again.Field("Language") != "x" || len(again.OtherHeaders) != 3 {
		t.Errorf("domain %q, language %q, %d other headers", again.Domain, again.Field("Language"), len(again.OtherHeaders))
	}
	live := ""
	for e := range again.Live() {
		live += e.ID
	}
	if live != "ad" {
		t.Errorf("live entries %q, want those without a domain", live)
	}
}

var must = gittest.Must
