package poparse

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// semantics names, for each row of docs/po.md, the cases of TestGolden that show
// it, or "Test…" for a test that does. Codes and counts are in the cases.
func semantics() map[string]string {
	return map[string]string{
		"encoding/second byte 0x5C":                                       "decode-first-cp932 decode-first-big5 guard-backslash",
		"encoding/byte order mark":                                        "bom bom-other-charset TestUTF16",
		"encoding/no charset, `CHARSET` or `ASCII`, and bytes above 0x7F": "charset-missing-utf8 charset-missing-latin1 charset-no-header charset-placeholder charset-ascii charset-ascii-clean charset-empty",
		"encoding/bytes that are not text in the declared charset":        "charset-invalid-utf8 charset-invalid-eucjp charset-invalid-gbk TestInvalidByteFar TestEndsInsideCharacter",
		"encoding/codes that files have and the declared charset does not, such as NEC's and IBM's rows in Shift_JIS and EUC-JP, Hong Kong's in Big5, GBK's in GB2312": "TestRepertoires TestLargerCharsets",
		"encoding/character that the charset does not have":                             "TestRepertoires TestWriteCharsets",
		"encoding/U+0080 to U+009F":                                                     "TestRepertoires",
		"encoding/characters for private use":                                           "TestRepertoires",
		"encoding/SHIFT_JIS, U+00A5 and U+203E":                                         "TestRepertoires",
		"encoding/CP1255 and CP1258, letters composed of two codes":                     "TestRepertoires",
		"encoding/EUC-JP, U+FF5E":                                                       "TestRepertoires",
		"encoding/EUC-KR, U+327E":                                                       "TestRepertoires",
		"encoding/MACINTOSH, U+0394; MAC-CYRILLIC, U+00A4":                              "TestRepertoires",
		"encoding/GB18030, U+1E3F, U+9FB4 to U+9FBB, U+FE10 to U+FE19":                  "TestRepertoires",
		"encoding/U+0004 in a string":                                                   "eot",
		"encoding/NUL, as a byte or an escape":                                          "nul nul-after nul-after-string",
		"encoding/charset that `golang.org/x/text` does not have, such as TSCII":        "charset-unknown charset-shared-line-unknown",
		"lines/keyword alone on its line, its string on the next":                       "keyword-alone",
		"lines/text after a string on its line":                                         "text-after comment-after keyword-after",
		"lines/line ends":                                                               "line-ends line-separators lone-cr no-line-ends no-line-ends-read",
		"lines/backslash at the end of a line":                                          "backslash-after unclosed-escape",
		"header/header with the flag `fuzzy`":                                           "fuzzy-header",
		"header/header that is not the first entry":                                     "header-late header-obsolete",
		"header/second header":                                                          "header-twice",
		"header/header with an empty `msgstr`":                                          "header-empty",
		"flags/several flag lines of one entry":                                         "flags flags-merged",
		"flags/prose with the word `fuzzy`, as in `#, exfuzzy (was fuzzy --x)`":         "flags-fuzzy-text",
		"flags/`#=` line":                                                               "flags-sticky",
		"flags/separators":                                                              "flags flags-sticky",
		"states/`fuzzy` with an empty `msgstr`":                                         "fuzzy-empty",
		"states/plural entry":                                                           "plural-states",
		"states/flag `read-only`":                                                       "read-only",
		"states/previous msgid":                                                         "previous-not-fuzzy everyday",
		"plural-forms/indices out of order, repeated or with gaps":                      "plural-order plural-gap plural-repeated",
		"plural-forms/more or fewer forms than `nplurals`":                              "plural-count",
		"plural-forms/index above 31":                                                   "plural-index-huge",
		"plural-forms/`Plural-Forms` that cannot be understood":                         "plural-forms-bad plural-forms-pot",
		"comments/comment between `msgid` and `msgstr`":                                 "comment-inside comment-glued",
		"comments/reference with blanks in the file name":                               "references",
		"comments/more comments, references and flags than a file of its size can have": "TestTooMany",
		"obsolete-entries/live and obsolete lines in one entry":                         "mixed-live mixed-obsolete mixed-index mixed-index-live mixed-index-lines mixed-continuation",
		"obsolete-entries/obsolete entry that repeats a live one":                       "obsolete-duplicate",
		"duplicates/two live entries with the same `msgctxt` and `msgid`":               "duplicate",
		"contexts/`msgctxt \"\"`":                                                       "empty-context duplicate",
		"contexts/`msgid \"\"` with a `msgctxt`":                                        "empty-context",
		"domains/`domain` directive":                                                    "domain domain-later domain-comment domain-inside domain-strings",
		"errors/entry without `msgstr`":                                                 "no-msgstr no-msgstr-eof TestParseErrorIsSyntaxError",
		"errors/quote without a backslash inside a string, string that is not closed on its line, text outside of strings, markers of a merge conflict": "inner-quote inner-quote-word unclosed unclosed-eof unclosed-escape stray conflict conflict-start conflict-in-strings",
		"errors/empty file, or one of comments only":                                                    "empty comments-only",
		"errors/something else named `.po`: HTML, JSON, an INI file, a mail, a binary":                  "ini html binary json json-array rtf mail lfs TestSniffBinary",
		"differences-from-gettext/`msgid` that begins or ends with a line feed, `msgstr` that does not": "line-feed-mismatch",
	}
}

// semanticRows returns the rows of the tables of docs/po.md, from its section
// "Encoding" on, as "section/construct".
func semanticRows(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "docs", "po.md"))
	must(t, err)
	var rows []string
	section := ""
	for line := range strings.Lines(string(text)) {
		if heading, ok := strings.CutPrefix(line, "## "); ok {
			section = strings.ReplaceAll(strings.ToLower(strings.TrimSpace(heading)), " ", "-")
		}
		cell, rest, ok := strings.Cut(strings.TrimPrefix(line, "| "), " | ")
		if ok && strings.HasPrefix(line, "| ") && cell != "construct" && !strings.HasPrefix(rest, "---") && section != "versions-and-sources" {
			rows = append(rows, section+"/"+cell)
		}
	}
	return rows
}

// TestSemanticsAreShown finds rows of docs/po.md without a case, and cases of
// rows that are not there.
func TestSemanticsAreShown(t *testing.T) {
	shown := semantics()
	for _, row := range semanticRows(t) {
		if shown[row] == "" {
			t.Errorf("no test shows %q", row)
		}
		delete(shown, row)
	}
	for row := range shown {
		t.Errorf("docs/po.md has no row %q", row)
	}
}

// TestSemanticsCases finds names of cases that do not exist.
func TestSemanticsCases(t *testing.T) {
	tests := ""
	files, err := filepath.Glob("*_test.go")
	must(t, err)
	for _, file := range files {
		text, err := os.ReadFile(file)
		must(t, err)
		tests += string(text)
	}
	for row, names := range semantics() {
		for name := range strings.FieldsSeq(names) {
			if strings.HasPrefix(name, "Test") {
				if !strings.Contains(tests, "\nfunc "+name+"(") {
					t.Errorf("%q: no test %s", row, name)
				}
			} else if _, err := os.Stat(filepath.Join("testdata", name+".txtar")); err != nil {
				t.Errorf("%q: %v", row, err)
			}
		}
	}
}
