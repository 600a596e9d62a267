package poparse

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/repoglot/repoglot/gitsource/gittest"
	"github.com/repoglot/repoglot/poparse/gettexttest"
)

// intended lists the files on which we differ from msgfmt 0.21 on purpose:
// our result, and the reason.
var intended = map[string]struct{ say, why string }{
	"mc__po-bg.d4970b39.po":                                   {"1496 translated, 0 fuzzy, 18 untranslated", "U+0004 in a string is accepted"},
	"mc__po-hu.1f96a353.po":                                   {"1375 translated, 0 fuzzy, 0 untranslated", "U+0004 in a string is accepted"},
	"mc__po-hu.ea634027.po":                                   {"1009 translated, 0 fuzzy, 0 untranslated", "U+0004 in a string is accepted"},
	"mc__po-pt_BR.94d319eb.po":                                {"1142 translated, 0 fuzzy, 47 untranslated", "a second header is a warning"},
	"dia__po-es.1ca550fb.po":                                  {"1865 translated, 0 fuzzy, 5 untranslated", "a byte order mark is accepted"},
	"sphinx__sphinx-locale-nl-LC_MESSAGES-sphinx.f2aefce5.po": {"122 translated, 0 fuzzy, 0 untranslated", "a byte order mark is accepted"},
	"gtranslator__po-zh_CN.GB2312.2403f79d.po":                {"1532:11", "declared charset, invalid byte (in a comment, where msgfmt does not look)"},
	"dia__po-ja.25629a02.po":                                  {"382:40", "declared charset, invalid byte (msgfmt does not know EUC-JAPAN and does not look)"},
	"mc__po-ta.9972601a.po":                                   {"14:36", "a charset that x/text does not know"},
	"babel__tests-messages-data-project-i18n-fi_BUGGY-LC_MESSAGES-messages.po": {"1 translated, 0 fuzzy, 0 untranslated", "a header is no entry, even an empty one"},
}

// where has the lines of our errors that differ from msgfmt 0.21, which names the line
// on which it gives up, or has an error about U+0004 before it.
var where = map[string]int{
	"translate__editor-example-webarchiver.7e6feb53.po":       7,
	"mc__po-ro.b664b6c5.po":                                   5644,
	"dia__po-tr.7ff18e56.po":                                  504,
	"sphinx__sphinx-locale-fi-LC_MESSAGES-sphinx.7bbe636e.po": 526,
}

// TestAwkward compares with msgfmt's verdicts on unusual real files.
func TestAwkward(t *testing.T) {
	dir := gittest.Shared(t, "data", "repos", "awkward")
	seen := 0
	for _, row := range gettexttest.Table(t, filepath.Join(dir, "INDEX.tsv")) {
		name := row["file"]
		if strings.HasPrefix(name, "(") {
			continue // in a bundle, or not kept
		}
		seen++
		t.Run(name, func(t *testing.T) {
			data, err := os.ReadFile(filepath.Join(dir, name))
			must(t, err)
			got, line := verdict(t, name, data)
			verdict := row["msgfmt_0.21"]
			if want, ok := intended[name]; ok {
				if got != want.say {
					t.Errorf("%s, want %s (%s)", got, want.say, want.why)
				}
				return
			}
			if strings.HasPrefix(verdict, "OK") {
				if want := gettexttest.ParseStatistics(t, verdict).String(); got != want {
					t.Errorf("%s, msgfmt says %s", got, want)
				}
				return
			}
			m := regexp.MustCompile(`\| (\d+):`).FindStringSubmatch(verdict)
			if m == nil {
				t.Fatalf("cannot read the verdict %q", verdict)
			}
			want, ok := where[name]
			if !ok {
				want = gettexttest.Number(t, m[1])
			}
			if line != want {
				t.Errorf("%s, want an error on line %d (msgfmt: %s)", got, want, verdict)
			}
		})
	}
	if seen < 60 {
		t.Errorf("only %d files in the index", seen)
	}
}

// verdict returns the counts, or the position of the error and its line.
func verdict(t *testing.T, name string, data []byte) (string, int) {
	t.Helper()
	f, err := Parse(name, data)
	if err == nil {
		return count(f).String(), 0
	}
	var se *SyntaxError
	if !errors.As(err, &se) {
		t.Fatalf("not a SyntaxError: %v", err)
	}
	return fmt.Sprintf("%d:%d", se.Line, se.Column), se.Line
}

// TestAwkwardSynthetic compares made files with docs/po.md.
func TestAwkwardSynthetic(t *testing.T) {
	dir := gittest.Shared(t, "data", "repos", "awkward", "synthetic")
	for name, want := range map[string]string{
		"comment-only.po":                     "0 translated, 0 fuzzy, 0 untranslated",
		"duplicate-live-and-empty-context.po": "2 translated, 0 fuzzy, 0 untranslated",
		"empty.po":                            "0 translated, 0 fuzzy, 0 untranslated",
		"hash-equals.po":                      "1 translated, 2 fuzzy, 0 untranslated",
		"hex-octal-unknown-escapes.po":        "6:23",
		"nul.po":                              "1 translated, 0 fuzzy, 0 untranslated",
		"obsolete-duplicates-live.po":         "1 translated, 0 fuzzy, 0 untranslated",
		"plural-gap.po":                       "1 translated, 0 fuzzy, 0 untranslated",
		"plural-out-of-order.po":              "1 translated, 0 fuzzy, 0 untranslated",
		"two-domains.po":                      "1 translated, 0 fuzzy, 0 untranslated",
		"two-flag-lines.po":                   "0 translated, 3 fuzzy, 0 untranslated",
		"u2028-no-final-newline.po":           "1 translated, 0 fuzzy, 0 untranslated",
	} {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Error(err)
			continue
		}
		if got, _ := verdict(t, name, data); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}

func TestParseErrorIsSyntaxError(t *testing.T) {
	f, err := Parse("x.po", []byte("msgid \"a\"\n\nmsgid \"b\"\nmsgstr \"\"\n"))
	var se *SyntaxError
	if f != nil || !errors.As(err, &se) {
		t.Fatalf("Parse = %v, %v; want nil, *SyntaxError", f, err)
	}
	if got, want := se.Error(), "x.po:1:1: the entry has no msgstr before msgid on line 3"; got != want {
		t.Errorf("Error() = %q, want %q", got, want)
	}
}

// TestTooMany reads more empty comments than a file of that size can have.
func TestTooMany(t *testing.T) {
	const bound = 1 << 16
	data := strings.Repeat("#\n", 2*bound) + "msgid \"a\"\nmsgstr \"b\"\n"
	f, err := Parse("x.po", []byte(data))
	must(t, err)
	if got, want := len(f.Entries[0].Comments), bound+len(data)/32; got != want {
		t.Errorf("%d comments kept, want %d", got, want)
	}
	if len(f.Warnings) != 1 || f.Warnings[0].Code != WarnTooMany {
		t.Errorf("warnings %v, want one %s", f.Warnings, WarnTooMany)
	}
}

func TestSniffBinary(t *testing.T) {
	for data, want := range map[string]string{
		"\xde\x12\x04\x95\x00\x00\x00\x00\x01\x00\x00\x00": "a compiled catalog",
		"\x7fELF\x02\x01\x01\x00":                          "a program",
		"\x1f\x8b\x08\x00":                                 "gzip",
		"\x89PNG\r\n\x1a\n\x00\x00":                        "PNG",
		"\x01\x02\x03\x04\x05":                             "a binary file",
	} {
		_, err := Parse("x.po", []byte(data))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q in it", data, err, want)
		}
	}
}
