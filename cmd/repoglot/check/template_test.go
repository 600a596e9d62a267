package check_test

import (
	"errors"
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
		if _, err := check.ParseTemplate(name, []byte(data)); !errors.Is(err, check.ErrTemplate) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
