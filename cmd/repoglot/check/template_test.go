package check_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/repoglot/repoglot/cmd/repoglot/check"
)

// templateFindings are the findings about files that are compared with a template.
func templateFindings(t *testing.T) (list []check.Finding) {
	t.Helper()
	t.Chdir(t.TempDir())
	const header = "msgid \"\"\nmsgstr \"Project-Id-Version: x\\nPO-Revision-Date: x\\nLast-Translator: x\\nLanguage-Team: x\\nLanguage: de\\nMIME-Version: 1.0\\nContent-Type: text/plain; charset=UTF-8\\nContent-Transfer-Encoding: 8bit\\n\"\n\n"
	template := header + "msgid \"Open the files\"\nmsgstr \"\"\n\nmsgid \"new\"\nmsgstr \"\"\n\nmsgid \"kept\"\nmsgstr \"\"\n"
	writeFile(t, "a.pot", []byte(template))
	writeFile(t, "b.pot", []byte("msgid \"another template\"\nmsgstr \"\"\n"))
	writeFile(t, "de.po", []byte(header+"msgid \"Open the file\"\nmsgstr \"Datei öffnen\"\n\nmsgid \"kept\"\nmsgstr \"bleibt\"\n"))
	writeFile(t, "equal.po", []byte(template))
	writeFile(t, "twice.po", []byte(header+"msgid \"kept\"\nmsgstr \"\"\n\n#~ msgid \"kept\"\n#~ msgstr \"bleibt\"\n"))
	parsed, err := check.ParseTemplate("a.pot", []byte(template))
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range results(t, check.Options{Template: parsed}) {
		list = append(list, r.Findings...)
	}
	return list
}

// TestTemplate compares files with a template.
func TestTemplate(t *testing.T) {
	var got []string
	for _, f := range templateFindings(t) {
		got = append(got, f.File+" "+f.Code+" "+f.Message)
	}
	want := []string{
		`de.po template-missing 2 strings of a.pot that the file lacks: "new" (line 7), "Open the files" (line 4); for 1 of them it has the text of a similar string`,
		`de.po template-gone 1 string of the file that a.pot does not have: "Open the file" (line 4)`,
		`twice.po template-refused twice.po:7: cannot be merged: the string of line 4 is here again: remove one`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	for name, data := range map[string]string{"broken": "msgid", "empty": "msgid \"\"\nmsgstr \"x: y\\n\"\n"} {
		if _, err := check.ParseTemplate(name, []byte(data)); err == nil || !strings.Contains(err.Error(), "no template") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestTemplateCounts: a file that is translated completely and lacks strings of the template says
// both, and is not listed as a language that is done.
func TestTemplateCounts(t *testing.T) {
	t.Chdir(t.TempDir())
	template, file := "msgid \"\"\nmsgstr \"x: y\\n\"\n\nmsgid \"a\"\nmsgstr \"\"\n", "msgid \"a\"\nmsgstr \"A\"\n"
	for i := range 4 {
		template += fmt.Sprintf("\nmsgid \"new %d\"\nmsgstr \"\"\n", i)
	}
	writeFile(t, "cs.po", []byte(file))
	writeFile(t, "de.po", []byte(template))
	parsed, err := check.ParseTemplate("a.pot", []byte(template))
	if err != nil {
		t.Fatal(err)
	}
	run := func(report check.Report, err error, out *bytes.Buffer) string {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range results(t, check.Options{Template: parsed}) {
			r.Findings = nil
			if err := report.File(r); err != nil {
				t.Fatal(err)
			}
		}
		if err := report.Close(); err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
	var text, data, all, done bytes.Buffer
	report, err := check.NewReport(&text, check.ReportOptions{Format: check.FormatText, Stats: true})
	want := "cs.po: 1 translated message, 4 missing messages.\nde.po: 0 translated messages, 5 untranslated messages.\n\n" +
		"  files  translated  fuzzy  untranslated  missing  done  directory\n      2           1      0             5        4   10%  .\n      2           1      0             5        4   10%  total\n"
	if got := run(report, err, &text); got != want {
		t.Errorf("text:\n%s, want\n%s", got, want)
	}
	report, err = check.NewReport(&data, check.ReportOptions{Format: check.FormatJSON, Stats: true})
	if got := run(report, err, &data); !strings.Contains(got, `"translated":1,"fuzzy":0,"untranslated":0,"missing":4`) {
		t.Errorf("JSON: %s", got)
	}
	report, err = check.NewLanguagesReport(&all, check.FormatJSON, 0)
	if got := run(report, err, &all); !strings.Contains(got, `"language":"cs","percent":20,"files":1,"translated":1,"fuzzy":0,"untranslated":0,"missing":4`) {
		t.Errorf("languages: %s", got)
	}
	report, err = check.NewLanguagesReport(&done, check.FormatText, 90)
	if got := run(report, err, &done); got != "" {
		t.Errorf("languages that are done: %s", got)
	}
}
