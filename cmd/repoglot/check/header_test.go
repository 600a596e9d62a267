package check_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/repoglot/repoglot/cmd/repoglot/check"
	"github.com/repoglot/repoglot/gitsource/gittest"
)

// header is a header that msgfmt -c accepts, except that it lacks Plural-Forms.
const header = `msgid ""
msgstr ""
"Project-Id-Version: demo\n"
"PO-Revision-Date: 2026-01-02 03:04+0000\n"
"Last-Translator: Jana <jana@example.org>\n"
"Language-Team: Czech\n"
"Language: cs\n"
"MIME-Version: 1.0\n"
"Content-Type: text/plain; charset=UTF-8\n"
"Content-Transfer-Encoding: 8bit\n"
`

const (
	singular = "\nmsgid \"a\"\nmsgstr \"b\"\n"
	plural   = "\nmsgid \"a\"\nmsgid_plural \"as\"\nmsgstr[0] \"b\"\nmsgstr[1] \"c\"\n"
)

func pluralForms(s string) string { return header + `"Plural-Forms: ` + s + `\n"` + "\n" }

// headerCases are the checks that this package makes, as "line code".
func headerCases() []struct{ name, text, want string } {
	return []struct{ name, text, want string }{
		{"empty.po", "", ""},
		{"comments.po", "# nothing\n", ""},
		{"header alone.po", "msgid \"\"\nmsgstr \"Language: cs\\n\"\n", ""},
		{"fine.po", pluralForms("nplurals=2; plural=n != 1;") + plural, ""},
		{"no plurals.po", header + singular, ""},
		{"no header.po", singular, "2 no-header"},
		{"no header.pot", singular, ""},
		{"no header, plural.po", plural, "2 no-header"},
		{"obsolete.po", "#~ msgid \"a\"\n#~ msgstr \"b\"\n", ""},
		{"field.po", strings.Replace(header, `"Language: cs\n"`+"\n", "", 1) + singular, "1 header-field"},
		{"field.pot", strings.Replace(header, `"Language: cs\n"`+"\n", "", 1) + singular, ""},
		{"field in another case.po", strings.Replace(header, "Language: cs", "LANGUAGE: cs", 1) + singular, ""},
		{"initial.po", strings.Replace(header, "Language: cs", "Language: ", 1) + singular, "1 header-default"},
		{"initial team.po", strings.Replace(header, "Team: Czech", "Team: LANGUAGE <LL@li.org>", 1) + singular, "1 header-default"},
		{"late header.po", singular + "\n" + strings.Replace(header, "Language: cs", "Language: ", 1), "5 header-default"},
		{"no rule.po", header + plural, "1 no-plural-forms"},
		{"no rule.pot", header + plural, ""},
		{"no rule, fuzzy.po", header + strings.Replace(plural, "\nmsgid", "\n#, fuzzy\nmsgid", 1), ""},
		{"no rule, untranslated.po", header + "\nmsgid \"a\"\nmsgid_plural \"as\"\nmsgstr[0] \"\"\nmsgstr[1] \"\"\n", ""},
		{"template's rule.po", pluralForms("nplurals=INTEGER; plural=EXPRESSION;") + plural, "1 header-default, 1 no-plural-forms"},
		{"template's rule unused.po", pluralForms("nplurals=INTEGER; plural=EXPRESSION;") + singular, "1 header-default"},
		{"template's rule.pot", pluralForms("nplurals=INTEGER; plural=EXPRESSION;") + plural, ""},
		{"broken rule.po", pluralForms("nplurals=2; plural=n!=;") + plural, "1 plural-forms"},
		{"too high.po", pluralForms("nplurals=2; plural=n>999 ? 2 : 1;") + plural, "1 plural-range"},
		{"too high but late.po", pluralForms("nplurals=2; plural=n>1000 ? 2 : 1;") + plural, ""},
		{"division.po", pluralForms("nplurals=2; plural=n%(n-7) ? 1 : 0;") + plural, "1 plural-range"},
		{"no division.po", pluralForms("nplurals=2; plural=n && 7/n ? 1 : 0;") + plural, ""},
		{"forms.po", pluralForms("nplurals=3; plural=n%3;") + plural, "13 plural-count"},
	}
}

func TestHeader(t *testing.T) {
	for _, tt := range headerCases() {
		if diff := cmp.Diff(tt.want, codes(check.File(tt.name, []byte(tt.text)))); diff != "" {
			t.Errorf("%s: -want +got:\n%s", tt.name, diff)
		}
	}
}

// codes returns a verdict as "line code", separated by commas.
func codes(r check.Result) string {
	var list []string
	for _, f := range r.Findings {
		list = append(list, fmt.Sprintf("%d %s", f.Line, f.Code))
	}
	return strings.Join(list, ", ")
}

// TestHeaderOracle: this package and msgfmt -c name the same missing and initial
// fields and accept the same headers.
func TestHeaderOracle(t *testing.T) {
	msgfmt := needMsgfmt(t)
	dir := t.TempDir()
	for _, tt := range headerCases() {
		if strings.HasSuffix(tt.name, ".pot") || tt.name == "empty.po" || tt.name == "comments.po" || tt.name == "obsolete.po" || // msgfmt -c wants a header everywhere
			tt.name == "header alone.po" || tt.name == "late header.po" || tt.name == "field in another case.po" {
			continue
		}
		file := filepath.Join(dir, tt.name)
		writeFile(t, file, []byte(tt.text))
		stderr, content := msgfmt(t, "-c", "-o", os.DevNull, file)
		if got := tt.want == ""; got != (content && !strings.Contains(stderr, "header field")) {
			t.Errorf("%s: %q, msgfmt -c says:\n%s", tt.name, tt.want, stderr)
		}
	}
	all := regexp.MustCompile(`"(Language|Project|PO-|Last|MIME|Content)[^"]*"\n`).ReplaceAllString(header, "") + "\"X-Generator: none\\n\"\n" + singular
	file := filepath.Join(dir, "all.po")
	writeFile(t, file, []byte(all))
	stderr, _ := msgfmt(t, "-c", "-o", os.DevNull, file)
	got := check.File(file, []byte(all))
	fields := regexp.MustCompile(`header field '([^']+)' missing`).FindAllStringSubmatch(stderr, -1)
	if len(fields) != 8 || len(got.Findings) != 1 {
		t.Fatalf("msgfmt -c misses %d fields; we say %+v", len(fields), got.Findings)
	}
	for _, f := range fields {
		if !strings.Contains(got.Findings[0].Message, f[1]) {
			t.Errorf("%s is missing for msgfmt -c, not in %q", f[1], got.Findings[0].Message)
		}
	}
}

// needMsgfmt returns a function that runs msgfmt and returns its messages and
// whether it accepted the file.
func needMsgfmt(t *testing.T) func(t *testing.T, args ...string) (string, bool) {
	t.Helper()
	gittest.Need(t, "msgfmt")
	return func(t *testing.T, args ...string) (string, bool) {
		t.Helper()
		cmd := exec.Command("msgfmt", args...)
		cmd.Env = append(os.Environ(), "LC_ALL=C.UTF-8", "LANGUAGE=")
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		err := cmd.Run()
		if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
			t.Fatal(err)
		}
		return stderr.String(), err == nil
	}
}
