package edit

import (
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/repoglot/repoglot/catalog"
)

// TestAppend: a string is written behind the last live entry, all else keeps its bytes, and
// what msgfmt would refuse is not written with commit_gate.
func TestAppend(t *testing.T) {
	const head = "msgid \"\"\nmsgstr \"\"\n\"Content-Type: text/plain; charset=UTF-8\\n\"\n\"PO-Revision-Date: 2020-01-01 00:00+0000\\n\"\n"
	const open, gone = "\n# c\nmsgid  \"Open\"\nmsgstr \"Otevřít\"\n", "\n#~ msgid \"Gone\"\n#~ msgstr \"Pryč\"\n"
	revised := strings.Replace(head, "2020-01-01 00", "2026-05-01 12", 1)
	at := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	translated := func(text string) Text { return Text{Target: text, State: catalog.StateTranslated} }
	for _, tt := range []struct {
		name, file string
		add        NewString
		options    Options
		want       string // "error: …" for one
	}{
		{"behind live entries", head + open + gone, NewString{Source: "Tag", Text: translated("Značka")}, Options{}, head + open + "\nmsgid \"Tag\"\nmsgstr \"Značka\"\n" + gone},
		{"context, revision", head, NewString{Context: "git", Source: "Tag", Text: Text{Target: "Značka", State: catalog.StateFuzzy}}, Options{Revision: at}, revised + "\n#, fuzzy\nmsgctxt \"git\"\nmsgid \"Tag\"\nmsgstr \"Značka\"\n"},
		{"untranslated, no header", "", NewString{Source: "Tag"}, Options{}, "msgid \"Tag\"\nmsgstr \"\"\n"},
		{"line ends", strings.ReplaceAll(head, "\n", "\r\n"), NewString{Source: "Tag", Text: translated("Značka")}, Options{}, strings.ReplaceAll(head+"\nmsgid \"Tag\"\nmsgstr \"Značka\"\n", "\n", "\r\n")},
		{"there", head + open, NewString{Source: "Open", Text: translated("Otvírat")}, Options{Revision: at}, head + open},
		{"obsolete", head + gone, NewString{Source: "Gone", Text: translated("Pryč")}, Options{}, head + "\nmsgid \"Gone\"\nmsgstr \"Pryč\"\n"},
		{"obsolete among others, of another context", head + strings.Replace(gone, "#~ msgid", "#~ msgctxt \"c\"\n#~ msgid", 1) + gone + open, NewString{Source: "Gone", Text: translated("Pryč")}, Options{}, head + strings.Replace(gone, "#~ msgid", "#~ msgctxt \"c\"\n#~ msgid", 1) + open + "\nmsgid \"Gone\"\nmsgstr \"Pryč\"\n"},
		{"a plural", head + "\nmsgid \"file\"\nmsgid_plural \"files\"\nmsgstr[0] \"\"\n", NewString{Source: "file"}, Options{}, "error: with a plural"},
		{"gate", head, NewString{Source: "Tag\n", Text: translated("Značka")}, Options{Gate: true}, "error: line feed"},
		{"charset", strings.Replace(head, "UTF-8", "ISO-8859-2", 1), NewString{Source: "Tag", Text: translated("国")}, Options{Revision: at}, "error: ISO-8859-2"},
		{"broken", "msgid \"", NewString{Source: "Tag"}, Options{}, "error: add a string"},
	} {
		out, err := tt.add.Append("cs.po", []byte(tt.file), tt.options)
		got := string(out)
		if err != nil {
			got = "error: " + err.Error()
		}
		if want, isError := strings.CutPrefix(tt.want, "error: "); isError && (err == nil || !strings.Contains(got, want)) || !isError && got != tt.want {
			t.Errorf("%s:\n%s\nwant\n%s", tt.name, got, tt.want)
		}
		if _, missing := exec.LookPath("msgfmt"); missing != nil || err != nil {
			continue
		}
		msgfmt := exec.Command("msgfmt", "-o", "/dev/null", "-")
		msgfmt.Stdin = strings.NewReader(got)
		if why, err := msgfmt.CombinedOutput(); err != nil {
			t.Errorf("%s: msgfmt: %v: %s", tt.name, err, why)
		}
	}
}
