package check_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/repoglot/repoglot/cmd/repoglot/check"
	"github.com/repoglot/repoglot/poparse"
)

// qualityCase is a file without a language, with failures of quality checks.
const qualityCase = `msgid ""
msgstr ""
"Project-Id-Version: app 1\n"
"PO-Revision-Date: 2026-01-02 03:04+0000\n"
"Last-Translator: A <a@example.com>\n"
"Language-Team: T <t@example.com>\n"
"MIME-Version: 1.0\n"
"Content-Type: text/plain; charset=UTF-8\n"
"Content-Transfer-Encoding: 8bit\n"
"Language: xx\n"
"Plural-Forms: nplurals=2; plural=(n != 1);\n"

msgid "It works."
msgstr "Es \"geht\""

#, c-format
msgid "file, %d of %d"
msgid_plural "files, %d of %d"
msgstr[0] "Datei, %d von %d"
msgstr[1] ""
"Dateien, %d von %d"
" auf  Platz"

#, ignore-end-colon
msgid "Size:"
msgstr "Größe"

msgid "Close(s)"
msgstr "Zu"

msgid "Shut"
msgstr "Zu"

#, ignore-reused
msgid "Shut it"
msgstr "Zu"

#, fuzzy
msgid "Off"
msgstr "Aus.."

#, read-only
msgid "Stop."
msgstr "Halt"

msgid "Open..."
msgstr ""

#~ msgid "Gone."
#~ msgstr "Weg"
`

func qualityResults(t testing.TB, files map[string]string, q check.Quality) []check.Result {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		writeFile(t, dir+"/"+name, []byte(text))
	}
	checker, err := check.NewChecker(q)
	must(t, err)
	list := results(t, check.Options{Paths: []string{dir}, Quality: checker})
	for i := range list {
		list[i].File = strings.TrimPrefix(list[i].File, dir+"/")
		for k := range list[i].Findings {
			if f := &list[i].Findings[k]; !strings.HasPrefix(f.File, dir) {
				t.Errorf("finding %+v", f)
			}
		}
	}
	return list
}

// quality returns the findings of quality checks as text.
func quality(list []check.Result) (got []string) {
	for _, r := range list {
		for _, f := range r.Findings {
			if name, ok := strings.CutPrefix(f.Code, "quality/"); ok && f.Severity == check.Warning {
				got = append(got, fmt.Sprintf("%s:%d:%d %s", r.File, f.Line, f.Column, name))
			} else {
				got = append(got, fmt.Sprintf("%s:%d:%d [%s]", r.File, f.Line, f.Column, f.Code))
			}
		}
	}
	return got
}

// TestQuality makes the checks of targets and of sources, with positions in the
// file, by the language of header, name and folder.
func TestQuality(t *testing.T) {
	want := []string{ // of one translation
		"14:18 end_stop",
		"22:6 double_space",
		"29:9 reused",
		"32:9 reused",
	}
	of := func(name string) (list []string) {
		for _, w := range want {
			list = append(list, name+":"+w)
		}
		return list
	}
	tests := []struct {
		name  string
		files map[string]string
		q     check.Quality
		want  []string
	}{
		{"by name", map[string]string{"de.po": qualityCase}, check.Quality{}, of("de.po")},
		{"by name, with a charset", map[string]string{"de.utf-8.po": qualityCase}, check.Quality{}, of("de.utf-8.po")},
		{"by folder", map[string]string{"pt_BR/LC_MESSAGES/the app.po": qualityCase}, check.Quality{}, of("pt_BR/LC_MESSAGES/the app.po")},
		{"by header", map[string]string{"th.po": strings.Replace(qualityCase, "Language: xx", "Language: de", 1)}, check.Quality{}, of("th.po")},
		{"not known", map[string]string{"the app.po": qualityCase}, check.Quality{}, []string{"the app.po:1:1 [no-language]"}},
		{"flags", map[string]string{"de.po": qualityCase}, check.Quality{Flags: "ignore-end-stop, ignore-reused"}, []string{"de.po:22:6 double_space"}},
		{"source", map[string]string{"en.po": qualityCase}, check.Quality{}, []string{
			"en.po:17:14 unnamed_format", "en.po:28:13 optional_plural", "en.po:46:12 ellipsis",
		}},
		{"source, of another language", map[string]string{"de.po": qualityCase, "en.po": qualityCase}, check.Quality{SourceLanguage: "de"}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := quality(qualityResults(t, tt.files, tt.q))
			if tt.want == nil {
				tt.want = append([]string{
					"de.po:17:14 unnamed_format", "de.po:28:13 optional_plural", "de.po:46:12 ellipsis",
				}, of("en.po")...)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// TestQualityMessages: a message quotes the words of source and translation that
// fail.
func TestQualityMessages(t *testing.T) {
	po := "msgid \"\"\nmsgstr \"Content-Type: text/plain; charset=UTF-8\\n\"\n" + `"Plural-Forms: nplurals=2; plural=(n != 1);\n"` + `

#, c-format
msgid "%s ärger %d %i %u of %x\n"
msgstr "%d Ärger %s\n"

#, max-length:3
msgid "Size"
msgstr "Größe der ganzen Sache, in Byte"

msgid "<b>Close</b> it"
msgstr "\u200e<i>Zu</i> machen"

msgid "<b>Shut</b> it"
msgstr "\u200e<i>Zu</i> machen"

msgid "One"
msgid_plural "Many"
msgstr[0] "Eins"
msgstr[1] ""
`
	po = strings.ReplaceAll(po, `\u200e`, "\u200e")
	var got []string
	for _, f := range qualityResults(t, map[string]string{"de.po": po}, check.Quality{})[0].Findings {
		if code, ok := strings.CutPrefix(f.Code, "quality/"); ok {
			_, here, _ := strings.Cut(f.Message, " Here: ")
			got = append(got, fmt.Sprintf("%d:%d %s %s", f.Line, f.Column, code, here))
		}
	}
	want := []string{
		`7:9 c_format source: "%i", "%u", "%x".`,
		`11:12 max-length translation: "ße der ganzen Sache, in "….`,
		`14:9 reused line 16 has it, too.`,
		`14:10 xml-tags source: "<b>"; translation: "<i>".`,
		`17:9 reused line 13 has it, too.`,
		`17:10 xml-tags source: "<b>"; translation: "<i>".`,
		`22:12 plurals `,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestQualityFlags: unknown flags are reported, those of an entry at its position.
func TestQualityFlags(t *testing.T) {
	po := "msgid \"\"\nmsgstr \"Content-Type: text/plain; charset=UTF-8\\n\"\n" + `
#: a.c:1
#, ignore-smae, csharp-format
#, regex:r"(", no-wrap
msgid "One"
msgstr "Eins"
`
	var got []string
	for _, f := range qualityResults(t, map[string]string{"de.po": po}, check.Quality{})[0].Findings {
		if f.Code == check.CodeCheckFlag {
			got = append(got, fmt.Sprintf("%d:%d %s", f.Line, f.Column, f.Message))
		}
	}
	want := []string{
		"7:1 ignore-smae: there is no check smae (docs/checks.md lists them)",
		"7:1 regex: \"(\" is no regular expression of RE2 and is left out: error parsing regexp: missing closing ): `(`",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if _, err := check.NewChecker(check.Quality{Flags: "c-format, ignore_same"}); err == nil || !strings.Contains(err.Error(), "check flags: ignore_same is no flag: write ignore-same") {
		t.Errorf("%v", err)
	}
}

// TestQualityOfTemplates makes the checks of source strings.
func TestQualityOfTemplates(t *testing.T) {
	pot := "msgid \"\"\nmsgstr \"Content-Type: text/plain; charset=UTF-8\\n\"\n\nmsgid \"one file\"\nmsgid_plural \"more...\"\nmsgstr[0] \"\"\nmsgstr[1] \"\"\n\nmsgid \"file(s)\"\nmsgstr \"\"\n"
	got := quality(qualityResults(t, map[string]string{"app.pot": pot}, check.Quality{}))
	if diff := cmp.Diff([]string{"app.pot:9:12 optional_plural"}, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestQualityIsBounded: at most 10,000 findings are listed.
func TestQualityIsBounded(t *testing.T) {
	var b strings.Builder
	b.WriteString(qualityCase)
	for i := range 10_100 {
		fmt.Fprintf(&b, "\nmsgid \"%d.\"\nmsgstr \"no. %d\"\n", i+1_000_000, i)
	}
	r := qualityResults(t, map[string]string{"de.po": b.String()}, check.Quality{})[0]
	if last := r.Findings[len(r.Findings)-1]; len(r.Findings) != 10_001 || last.Code != poparse.WarnMore {
		t.Errorf("%d findings, the last one %+v", len(r.Findings), last)
	}
}

// TestQualityOptions: an unknown language is an error.
func TestQualityOptions(t *testing.T) {
	if _, err := check.NewChecker(check.Quality{SourceLanguage: "no such"}); err == nil || !strings.Contains(err.Error(), `source language "no such" is not known`) {
		t.Errorf("%v", err)
	}
}

// TestQualityRules: SARIF has a rule for each code, and only with quality checks.
func TestQualityRules(t *testing.T) {
	t.Chdir(t.TempDir())
	writeFile(t, "de.po", []byte(qualityCase))
	for _, with := range []bool{true, false} {
		var log struct {
			Runs []struct {
				Tool struct {
					Driver struct {
						Rules []struct{ ID, HelpURI string }
					}
				}
				Results []struct {
					RuleID    string
					RuleIndex int
				}
			}
		}
		o := check.Options{}
		if with {
			var err error
			o.Quality, err = check.NewChecker(check.Quality{})
			must(t, err)
		}
		must(t, json.Unmarshal([]byte(report(t, check.ReportOptions{Format: check.FormatSARIF, Quality: with}, o)), &log))
		rules := log.Runs[0].Tool.Driver.Rules
		if want := len(check.Rules()); !with && len(rules) != want || with && len(rules) != want+len(check.QualityRules()) {
			t.Errorf("%v: %d rules", with, len(rules))
		}
		if n := len(log.Runs[0].Results); with != (n == 4) {
			t.Errorf("%v: %d results", with, n)
		}
		for _, r := range log.Runs[0].Results {
			if r.RuleIndex < 0 || rules[r.RuleIndex].ID != r.RuleID || !strings.HasSuffix(rules[r.RuleIndex].HelpURI, "docs/checks.md") {
				t.Errorf("result %+v", r)
			}
		}
	}
}
