package edit

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/repoglot/repoglot/poparse"
	"github.com/repoglot/repoglot/poparse/plural"
)

// TestCheckEntry lists an edit for each rule.
func TestCheckEntry(t *testing.T) {
	formula, err := plural.Compile("n==1 ? 0 : n>=2 && n<=4 ? 1 : 2")
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ flag, id, plural, str, want string }{
		{"", "a\n", "", "b", "msgstr: ends with a line feed and the msgid does not, or the other way round"},
		{"", "a", "", "\nb", "msgstr: begins with a line feed and the msgid does not, or the other way round"},
		{"", "a %d", "", "b", ""},
		{"c-format", "a %d", "", "b", "msgstr: uses 0 arguments, the msgid 1"},
		{"c-format", "a %d", "", "b %d %s", "msgstr: uses 2 arguments, the msgid 1"},
		{"c-format", "a %d", "", "b %s", "msgstr: uses argument 1 as another type than the msgid"},
		{"c-format", "a %d", "", "b %k", "msgstr: has an invalid format directive"},
		{"c-format", "%d %s", "", "%2$s %1$d", ""},
		{"c-format", "%d %s", "", "%2$s %d", "msgstr: mixes numbered or named arguments with others"},
		{"c-format", "100 %", "", "%d", ""}, // no format string
		{"c-format", "one", "%d all", "jeden|%d dva|%d pět", ""},
		{"c-format", "one", "%d all", "jeden|%d dva|pět", "msgstr[2]: uses 0 arguments, the msgid 1"},
		{"python-format", "%(a)s", "", "%(b)s", "msgstr: uses b, which the msgid does not"},
		{"python-format", "%(a)s", "", "x", "msgstr: does not use a"},
		{"python-format", "%(a)s", "", "%(a)d", "msgstr: uses a as another type than the msgid"},
		{"python-brace-format", "{a} {0}", "", "{0}", "msgstr: does not use {a}"},
		{"python-brace-format", "{a}", "", "{a", "msgstr: has an invalid format directive"},
		{"perl-brace-format", "{a}", "", "{a} {b}", ""},
		{"qt-format", "%1 of %2", "", "%2 z %1", ""},
		{"qt-format", "%1 of %2", "", "%3 z %1", "msgstr: uses %3, which the msgid does not"},
		{"qt-format", "%1", "", "%L1", "msgstr: uses the flag L or a number of two digits, which the msgid does not"},
	} {
		e := &poparse.Entry{ID: tt.id, IDPlural: tt.plural, HasPlural: tt.plural != "", Str: strings.Split(tt.str, "|")}
		if tt.flag != "" {
			e.Flags = []string{"other", tt.flag}
		}
		got := ""
		if err := CheckEntry(e, formula); err != nil {
			got = err.Error()
		}
		if got != tt.want {
			t.Errorf("%s %q %q: got %q, want %q", tt.flag, tt.id, tt.str, got, tt.want)
		}
		if e.Fuzzy = true; CheckEntry(e, formula) != nil {
			t.Errorf("%s %q: checked although it needs editing", tt.flag, tt.id)
		}
	}
}

// TestCheckEntryOracle compares drawn strings of each format with msgfmt -c.
func TestCheckEntryOracle(t *testing.T) {
	if _, err := exec.LookPath("msgfmt"); err != nil {
		t.Skip("skipped: msgfmt is not installed")
	}
	words := map[string][]string{
		"c-format": {
			"%d", "%s", "%1$d", "%2$s", "%5.2f", "%*d", "%-.*s", "%ld", "%lld", "%%", "%c", "%", "%m", "%zu", "%2$*1$d", "%x", "%i", "%u", "%S", "%ls", "%hhd", "%Lf", "%lf",
			"%'d", "%Id", "%p", "%n", "%k", "a", " ", "\n", "%1$s", "%3$s", "%<PRId64>",
		},
		"objc-format":         {"%@", "%d", "%1$@", "%s", "a", "%"},
		"python-format":       {"%d", "%s", "%(a)s", "%(a)d", "%(b)s", "%%", "%(a)", "%r", "%i", "%5.2f", "%*d", "%.*f", "a", "%", "%c", "%(a)%", "%ld", "%(a(b))s", "%y", "%e"},
		"python-brace-format": {"{a}", "{0}", "{b.c}", "{b[0]}", "{b[c]}", "{a!r}", "{a:>{b}}", "{{", "}}", "{", "}", "a", "{}", "{a:d}", "{1}", "{a.}", "{a[}", "{a!x}", "{a :}", "{a b}", "{a[b]c}", "{0x}", "{a:{}}", "{a:{b.c}}", "{a:>10}", "{a:x>+#010.5f}", "{a:10s}", "{a:}", "{01}", "{a[}"},
		"perl-brace-format":   {"{a}", "{b}", "{", "}", "{a b}", "a", "{a1}", "{1}", "{}"},
		"qt-format":           {"%1", "%2", "%L1", "%99", "%100", "%", "%n", "%0", "a", "%%1", "%L"},
	}
	formula, err := plural.Compile("n==1 ? 0 : n>=2 && n<=4 ? 1 : 2")
	if err != nil {
		t.Fatal(err)
	}
	for flag, words := range words {
		t.Run(flag, func(t *testing.T) {
			rnd := rand.New(rand.NewPCG(1, uint64(len(flag))))
			draw := func() string {
				var s strings.Builder
				for range 1 + rnd.IntN(3) {
					s.WriteString(words[rnd.IntN(len(words))])
				}
				return s.String()
			}
			f := &poparse.File{Header: &poparse.Entry{Str: []string{
				"Content-Type: text/plain; charset=UTF-8\nPlural-Forms: nplurals=3; plural=n==1 ? 0 : n>=2 && n<=4 ? 1 : 2;\n",
			}}}
			for i := range 3000 {
				e := &poparse.Entry{ID: draw(), Context: strconv.Itoa(i), HasContext: true, Flags: []string{flag}, Str: []string{draw()}}
				if i%3 == 0 {
					e.HasPlural, e.IDPlural = true, e.ID
					e.Str = append(e.Str, draw(), draw())
				}
				if rnd.IntN(2) == 0 {
					e.Str[0] = e.ID
				}
				f.Entries = append(f.Entries, e)
			}
			refused := refusedByMsgfmt(t, f)
			bad := 0
			for i, e := range f.Entries {
				err := CheckEntry(e, formula)
				if (err != nil) != refused[i] {
					if bad++; bad < 15 {
						t.Errorf("%q %q: %v, msgfmt refuses it: %v", e.ID, e.Str, err, refused[i])
					}
				}
			}
			t.Logf("%d of %d refused, %d differ", len(refused), len(f.Entries), bad)
		})
	}
}

// refusedByMsgfmt returns the indexes of the entries that msgfmt -c names.
func refusedByMsgfmt(t *testing.T, f *poparse.File) map[int]bool {
	t.Helper()
	var text strings.Builder
	if _, err := f.WriteTo(&text); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "x.po")
	if err := os.WriteFile(name, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	read, err := poparse.Parse("x.po", []byte(text.String()))
	if err != nil || len(read.Entries) != len(f.Entries) {
		t.Fatal(err, len(read.Entries))
	}
	cmd := exec.Command("msgfmt", "-c", "-o", os.DevNull, name)
	cmd.Env = append(os.Environ(), "LC_ALL=C.UTF-8", "LANGUAGE=C")
	out, _ := cmd.CombinedOutput()
	refused := map[int]bool{}
	for _, m := range regexp.MustCompile(`(?m)^.*x\.po:(\d+): .*$`).FindAllStringSubmatch(string(out), -1) {
		line, _ := strconv.Atoi(m[1])
		if strings.Contains(m[0], "warning:") || line < read.Entries[0].Line {
			continue
		}
		for i, e := range read.Entries {
			end := 1 << 30
			if i+1 < len(read.Entries) {
				end = read.Entries[i+1].Line
			}
			if e.Line <= line && line < end {
				refused[i] = true
			}
		}
	}
	if len(refused) == 0 {
		t.Fatalf("msgfmt refuses nothing: %s", out[:min(len(out), 500)])
	}
	return refused
}
