package msgmerge

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/repoglot/repoglot/gitsource/gittest"
	"github.com/repoglot/repoglot/poparse"
	"github.com/repoglot/repoglot/testrepos/testsize"
)

// optionSets are the options that are compared with msgmerge's.
func optionSets() map[string]Options {
	return map[string]Options{
		"":                             {},
		"-N":                           {NoFuzzyMatching: true},
		"--previous":                   {Previous: true},
		"-N --no-location --no-wrap":   {NoFuzzyMatching: true, NoLocation: true, NoWrap: true},
		"--previous --no-wrap":         {Previous: true, NoWrap: true},
		"-N --previous --no-location ": {NoFuzzyMatching: true, Previous: true, NoLocation: true},
	}
}

// differences are files of the recorded repositories for which msgmerge 0.21 does
// something else on purpose or by mistake.
func differences() map[string]string {
	return map[string]string{
		"polib/tests/test_noencoding.po": "it names no charset, and is refused: msgmerge loses the letters that are not ASCII",
		"polib/tests/test_ufeff.po":      "msgmerge refuses a byte order mark",
		"polib/tests/test_utf8.po":       "an empty flag line makes msgmerge forget the flags before it",
		"vim-po/src/po/hy.po":            "a second line of flags makes msgmerge forget the first one",
		"vim-po/src/po/ja.sjis.po":       "msgmerge does not know CP932",
		"vim-po/src/po/zh_TW.po":         "its comments have characters that msgmerge's Big5 does not have",

		"awkward/dia__po-es.1ca550fb.po":                                  "msgmerge refuses a byte order mark",
		"awkward/sphinx__sphinx-locale-nl-LC_MESSAGES-sphinx.f2aefce5.po": "msgmerge refuses a byte order mark",
		"awkward/vim__runtime-syntax-testdir-input-po.po":                 "msgmerge 0.21 does not know flags in \"#=\"",
		"awkward/hash-equals.po":                                          "msgmerge 0.21 does not know flags in \"#=\"",
		"awkward/nul.po":                                                  "a NUL in a string is refused: msgmerge cuts the string there",
		"awkward/two-domains.po":                                          "several domains are refused",
		"awkward/two-flag-lines.po":                                       "a second line of flags makes msgmerge forget the first one",
	}
}

// compare compares a merge with msgmerge's, and says what differs; refused tells that
// msgmerge refuses it, and we do, too.
func compare(t *testing.T, file, template []byte, args string, o Options) (difference string, refused bool) {
	t.Helper()
	want, complaint := msgmerge(t, file, template, strings.Fields(args)...)
	got, _, err := merge(t, file, template, o)
	if err == nil && complaint == "" {
		return cmp.Diff(strings.Split(want, "\n"), strings.Split(got, "\n")), false
	}
	if err == nil || complaint == "" || !errors.Is(err, ErrRefused) {
		return fmt.Sprintf("%v, want %q", err, complaint), false
	}
	return "", true
}

// merge merges as the server does.
func merge(t *testing.T, file, template []byte, o Options) (text string, r *Result, err error) {
	t.Helper()
	f, err := poparse.Parse("a.po", file)
	if err != nil {
		return "", nil, errors.Join(ErrRefused, err)
	}
	p, err := poparse.Parse("b.pot", template)
	if err != nil {
		return "", nil, errors.Join(ErrRefused, err)
	}
	if r, err = Merge(f, p, o); err != nil {
		return "", nil, err
	}
	var out bytes.Buffer
	if _, err := r.File.WriteTo(&out); err != nil {
		t.Errorf("write: %v", err)
	}
	return out.String(), r, nil
}

// msgmerge runs GNU msgmerge; the complaint is not "" if it refuses a file.
func msgmerge(t *testing.T, file, template []byte, args ...string) (out, complaint string) {
	t.Helper()
	dir, err := os.MkdirTemp("", "msgmerge")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	a, b := filepath.Join(dir, "a.po"), filepath.Join(dir, "b.pot")
	for name, data := range map[string][]byte{a: file, b: template} {
		if err := os.WriteFile(name, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("msgmerge", append([]string{"--quiet", "--force-po", a, b}, args...)...)
	cmd.Env = append(os.Environ(), "LC_ALL=C.UTF-8", "LANGUAGE=C")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	data, err := cmd.Output()
	if err != nil {
		return "", stderr.String()
	}
	return string(data), ""
}

// needMsgmerge skips a test if there is no msgmerge, or another than 0.21, whose bytes
// may differ.
func needMsgmerge(t *testing.T) {
	t.Helper()
	gittest.Need(t, "msgfmt")
	out, err := exec.Command("msgmerge", "--version").Output()
	if err != nil || !strings.Contains(string(out), " 0.21\n") {
		t.Skip("skipped: msgmerge 0.21 is not installed")
	}
}

func read(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestResult counts what became of strings.
func TestResult(t *testing.T) {
	const file = `msgid ""
msgstr "Content-Type: text/plain; charset=UTF-8\nPlural-Forms: nplurals=3; plural=0;\n"

msgid "kept"
msgstr "bleibt"

msgid "Open the file now"
msgstr "Datei jetzt öffnen"

msgid "went"
msgstr "weg"

#~ msgid "is back"
#~ msgstr "wieder da"
`
	const template = `msgid ""
msgstr "POT-Creation-Date: 2026-01-02 03:04+0000\n"

msgid "is back"
msgstr ""

msgid "Open the files now"
msgstr ""

msgid "new"
msgid_plural "news"
msgstr[0] ""
msgstr[1] ""

msgid "kept"
msgid_plural "kept ones"
msgstr[0] ""
msgstr[1] ""
`
	f, err := poparse.Parse("de.po", []byte(file))
	if err != nil {
		t.Fatal(err)
	}
	p, err := poparse.Parse("b.pot", []byte(template))
	if err != nil {
		t.Fatal(err)
	}
	r, err := Merge(f, p, Options{Previous: true})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := counts(r), [4]int{1, 1, 2, 1}; got != want {
		t.Errorf("got %v, want %v", got, want)
	}
	for _, e := range r.File.Entries {
		if e.ID == "new" && len(e.Str) != 3 {
			t.Errorf("a new plural has %d forms, want those of the file, 3", len(e.Str))
		}
	}
	r, err = Merge(f, p, Options{Comparisons: -1})
	if err != nil || !r.Stopped || len(r.Reworded) != 0 {
		t.Errorf("without comparisons: %+v, %v", r, err)
	}
	if r, err = Merge(r.File, p, Options{}); err != nil || counts(r) != [4]int{} {
		t.Errorf("merged again: %+v, %v", r, err)
	}
}

// TestLanguages asks msgmerge for the code of each language that a header without one may get.
func TestLanguages(t *testing.T) {
	needMsgmerge(t)
	lines := strings.Split(strings.TrimSpace(languages), "\n")
	for i := 0; i < len(lines); i += testsize.Of(20, 4, 1) {
		code, name, _ := strings.Cut(lines[i], " ")
		file := fmt.Sprintf("msgid \"\"\nmsgstr \"Language-Team: %s <a@b>\\nContent-Type: text/plain; charset=UTF-8\\n\"\n", name)
		if out, _ := msgmerge(t, []byte(file), []byte("msgid \"\"\nmsgstr \"\"\n")); !strings.Contains(out, "\"Language: "+code+"\\n\"") {
			t.Errorf("%s is not %s: %s", name, code, out)
		}
	}
}

// counts are the numbers of strings that were added, reworded, gone and made fuzzy.
func counts(r *Result) [4]int {
	return [4]int{len(r.Added), len(r.Reworded), len(r.Gone), len(r.Fuzzied)}
}

// TestStopped asks that no more strings are compared than the bound allows, and that the
// rest is merged without.
func TestStopped(t *testing.T) {
	file, template, cost := &poparse.File{}, &poparse.File{}, 0
	for i := range 200 {
		id := strings.Repeat("a sentence that is rather long ", 3) + strings.Repeat("x", i)
		file.Entries = append(file.Entries, &poparse.Entry{ID: id, Str: []string{"text"}})
		template.Entries = append(template.Entries, &poparse.Entry{ID: id + "!"})
		cost += blocks(id)
	}
	together, err := NewTemplate(template)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // what is remembered is counted, too
		r, err := together.Merge(file, Options{Comparisons: cost*(2*35+3*15) + 10})
		if err != nil || !r.Stopped || counts(r) != [4]int{150, 50, 200, 0} {
			t.Errorf("got %v, stopped %t, %v", counts(r), r.Stopped, err)
		}
	}
}
