package poparse

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// semantics names for each row of po-semantics.md the cases of TestGolden that
// show it, or "Test…" for a test that does. Codes and counts are in them.
func semantics() map[string]string {
	return map[string]string{
		"encoding": "decode-first-cp932 decode-first-big5 line-ends lone-cr no-line-ends no-line-ends-read",
		"BOM":      "bom bom-other-charset TestUTF16",
		"charset missing, `CHARSET`, `ASCII` or empty, with bytes above 0x7F": "charset-missing-utf8 charset-missing-latin1 charset-no-header charset-placeholder charset-ascii charset-ascii-clean charset-empty",
		"declared charset, invalid bytes":                                     "charset-invalid-utf8 charset-invalid-eucjp charset-invalid-gbk TestInvalidByteFar TestEndsInsideCharacter",
		"flags":                                                               "flags flags-merged flags-sticky",
		"fuzzy with empty msgstr":                                             "fuzzy-empty",
		"fuzzy header":                                                        "fuzzy-header",
		"plural entry":                                                        "plural-states",
		"`read-only` flag":                                                    "read-only",
		"previous msgid":                                                      "previous-not-fuzzy everyday",
		"entry without msgstr":                                                "no-msgstr no-msgstr-eof TestParseErrorIsSyntaxError",
		"comment between msgid and msgstr":                                    "comment-inside comment-glued",
		"live and obsolete lines mixed in one entry":                          "mixed-live mixed-obsolete mixed-index mixed-index-live mixed-index-lines mixed-continuation",
		"U+0004 in a string":                                                  "eot",
		"NUL, raw or by an escape":                                            "nul nul-behind nul-behind-string",
		"msgid begins or ends with a line feed and msgstr does not":                                   "line-feed-mismatch",
		"charset that x/text does not know (TSCII, …)":                                                "charset-unknown charset-shared-line-unknown",
		"`#~` entry that repeats a live one":                                                          "obsolete-duplicate",
		"two live entries with the same msgctxt+msgid":                                                "duplicate",
		"plural indices out of order, with gaps, or more or fewer than nplurals":                      "plural-order plural-gap plural-repeated plural-count",
		"keyword alone on its line, string on the next":                                               "keyword-alone",
		"text or comment behind a string on its line":                                                 "text-behind comment-behind backslash-behind keyword-behind",
		"unescaped `\"` inside a string, string not closed on its line, stray text, conflict markers": "inner-quote inner-quote-word unclosed unclosed-eof unclosed-escape stray conflict conflict-start conflict-in-strings",
		"`domain`": "domain domain-later domain-comment domain-inside domain-strings",
		"`#, fuzzy` text such as `exfuzzy (… fuzzy --x)`": "flags-fuzzy-text",
		"`msgctxt \"\"`":                         "empty-context duplicate",
		"msgid \"\" with msgctxt":                "empty-context",
		"header not the first entry":             "header-late header-obsolete header-empty",
		"two headers":                            "header-twice",
		"empty file, file of comments only":      "empty comments-only",
		"INI, HTML or binary under the name .po": "ini html binary json json-array rtf mail lfs TestLooksBinary",
	}
}

// TestSemanticsAreShown finds rows of po-semantics.md without a case, and cases
// of rows that are not there.
func TestSemanticsAreShown(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(sharedDir(t, "spec"), "po-semantics.md"))
	if err != nil {
		t.Fatal(err)
	}
	shown := semantics()
	for line := range strings.Lines(string(text)) {
		cell, rest, ok := strings.Cut(strings.TrimPrefix(line, "| "), " | ")
		if !ok || !strings.HasPrefix(line, "| ") || cell == "construct" || strings.HasPrefix(rest, "---") {
			continue
		}
		if shown[cell] == "" {
			t.Errorf("no test shows %q", cell)
		}
		delete(shown, cell)
	}
	for cell := range shown {
		t.Errorf("po-semantics.md has no row %q", cell)
	}
}

// TestSemanticsCases finds names of cases that are not there.
func TestSemanticsCases(t *testing.T) {
	tests := ""
	files, err := filepath.Glob("*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		tests += string(text)
	}
	for cell, names := range semantics() {
		for name := range strings.FieldsSeq(names) {
			if strings.HasPrefix(name, "Test") {
				if !strings.Contains(tests, "\nfunc "+name+"(") {
					t.Errorf("%q: no test %s", cell, name)
				}
			} else if _, err := os.Stat(filepath.Join("testdata", name+".txtar")); err != nil {
				t.Errorf("%q: %v", cell, err)
			}
		}
	}
}
