package api

import (
	"fmt"
	"html"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/catalogtest"
	"github.com/repoglot/repoglot/testrepos"
)

// smallHistory has two components and five commits of 2024, which are few enough to
// count by hand:
//
//	12 Feb  Ada    app: three strings; German says the first and, badly, the second
//	14 Feb  Ada    app: Czech with one of three
//	19 Feb  Bob    app: German says the third; Czech changes the first
//	 4 Mar  Ada    app: German corrects the third
//	 4 Mar  Bob    docs: the first string of app, said otherwise in German
//
// The clock stands at 15 March 2024.
func smallHistory(t *testing.T) *Server {
	t.Helper()
	file := func(texts ...string) string {
		var b strings.Builder
		b.WriteString("msgid \"\"\nmsgstr \"Content-Type: text/plain; charset=UTF-8\\n\"\n")
		for i := 0; i+1 < len(texts); i += 2 {
			fmt.Fprintf(&b, "\nmsgid %q\nmsgstr %q\n", texts[i], texts[i+1])
		}
		return b.String()
	}
	const ada, bob = "Ada <ada@example.org>", "Bob <bob@example.org>"
	at := func(month time.Month, day int) time.Time { return time.Date(2024, month, day, 12, 0, 0, 0, time.UTC) }
	repo := testrepos.Empty(t)
	repo.Commit(t, testrepos.Change{Author: ada, When: at(2, 12), Files: map[string]string{
		"po/app.pot": file("Hello.", "", "Good bye.", "", "Open", ""), "po/de.po": file("Hello.", "Hallo.", "Good bye.", "Tschüs", "Open", ""),
	}})
	repo.Commit(t, testrepos.Change{Author: ada, When: at(2, 14), Files: map[string]string{"po/cs.po": file("Hello.", "Ahoj.", "Good bye.", "")}})
	repo.Commit(t, testrepos.Change{Author: bob, When: at(2, 19), Files: map[string]string{
		"po/de.po": file("Hello.", "Hallo.", "Good bye.", "Tschüs", "Open", "Offnen"), "po/cs.po": file("Hello.", "Nazdar.", "Good bye.", ""),
	}})
	repo.Commit(t, testrepos.Change{Author: ada, When: at(3, 4), Files: map[string]string{"po/de.po": file("Hello.", "Hallo.", "Good bye.", "Tschüs", "Open", "Öffnen")}})
	repo.Commit(t, testrepos.Change{Author: bob, When: at(3, 4), Files: map[string]string{"docs/de.po": file("Hello.", "Guten Tag.")}})
	p := catalogtest.NewPuller(t, repo.Path(), map[string]catalog.ComponentSettings{
		"app":  {NewBase: "po/app.pot", History: catalog.History{Full: true}},
		"docs": {Filemask: "docs/*.po", History: catalog.History{Full: true}},
	})
	p.Sync()
	p.Verify()
	return New(Options{DB: p.DB, Languages: p.Languages, Now: func() time.Time { return at(3, 15) }})
}

// TestValues compares what is counted over a small history with what was counted by
// hand.
func TestValues(t *testing.T) {
	t.Parallel()
	s := smallHistory(t)
	const author = "username updated added removed first last"
	for _, test := range []struct{ target, fields, want string }{
		{"/api/components/demo/app/contributors/", author, `ada 1 8 0 2024-02-12T12:00:00.000000Z 2024-03-04T12:00:00.000000Z, bob 2 0 0 2024-02-19T12:00:00.000000Z 2024-02-19T12:00:00.000000Z`},
		{"/api/projects/demo/contributors/", "username updated added", `ada 1 8, bob 2 2`},
		{"/api/projects/demo/contributors/?by_language=1", "username language updated added", `ada de 1 3, ada en 0 3, ada cs 0 2, bob de 1 0, bob cs 1 0, bob en 0 1, bob de 0 1`},
		{"/api/translations/demo/app/de/contributors/?timestamp_after=2024-02-19T00:00:00Z", "username updated added", `ada 1 0, bob 1 0`},
		{"/api/translations/demo/app/de/contributors/?timestamp_before=2024-02-12T12:00:00Z", "username updated added", `ada 0 3`},
		{"/api/checks/", "check units", `end_stop 1, `},
		{"/api/projects/demo/matrix/", "component language total translated fuzzy failing missing translated_percent translated_percent_30_days_ago", "app de 3 3 0 1 0 100 66.6, app cs 3 1 0 0 1 33.3 33.3, docs de 1 1 0 0 0 100 <nil>"},
		{"/api/projects/demo/changes/?action=59", "old target", "Ahoj. Nazdar.,  Offnen, Offnen Öffnen"},
	} {
		if got := fieldsOf(getList(t, s, test.target), test.fields); !strings.HasPrefix(got, test.want) {
			t.Errorf("%s:\n%s, want\n%s", test.target, got, test.want)
		}
	}
	for target, want := range map[string]string{
		"/api/components/demo/app/credits/":                                   `[{"Czech":[{"email":"","full_name":"Ada","change_count":2},{"email":"","full_name":"Bob","change_count":1}]},{"German":[{"email":"","full_name":"Ada","change_count":4},{"email":"","full_name":"Bob","change_count":1}]},{"English":[{"email":"","full_name":"Ada","change_count":3}]}]`,
		"/api/projects/demo/credits/?lang=de&start=2024-02-13&end=2024-02-19": `[{"German":[{"email":"","full_name":"Bob","change_count":1}]}]`,
		"/api/projects/demo/credits/?lang=cs&end=2024-02-14T12:00:00Z":        `[{"Czech":[{"email":"","full_name":"Ada","change_count":2}]}]`,
		"/api/projects/demo/credits/?lang=cs&start=2024-02-20":                `[]`,
	} {
		wantAnswer(t, s, http.StatusOK, want, target)
	}
	for _, target := range []string{"/api/projects/demo/statistics/", "/api/languages/cs/statistics/", "/api/statistics/"} {
		if got := decode[struct{ Missing int64 }](t, get(t, s, target)).Missing; got != 1 {
			t.Errorf("%s: %d strings are missing, want one", target, got)
		}
	}
	wantStatus(t, s, http.StatusBadRequest, "/api/projects/demo/credits/?start=yesterday")
}

// TestMissingList: the strings of the template that a file lacks, by source unit, in the forms
// of a list; nothing of a source translation, of a file without a template, or of a complete one.
func TestMissingList(t *testing.T) {
	t.Parallel()
	s := smallHistory(t)
	const missing = "/api/translations/demo/app/cs/missing/"
	source := getList(t, s, "/api/translations/demo/app/en/units/?q=source:=Open").Results[0]
	id := fmt.Sprintf("%.0f", source["id"])
	one := `{"id":` + id + `,"source_unit":"http://l10n.example.org/api/units/` + id + `/?format=api","source":["Open"],"context":"","location":"","note":"","flags":""}`
	for target, want := range map[string]string{
		missing: `{"count":1,"next":null,"previous":null,"results":[` + one + `]}`, missing + "?q=open": `{"count":1,"next":null,"previous":null,"results":[` + one + `]}`,
		missing + "?q=hello": `{"count":0,"next":null,"previous":null,"results":[]}`, missing + "?format=csv": "id,source_unit,source.0,context,location,note,flags\n" + id + ",http://l10n.example.org/api/units/" + id + "/?format=api,Open,,,,\n",
		missing + "?format=ndjson":               one + "\n",
		"/api/translations/demo/app/en/missing/": `{"count":0,"next":null,"previous":null,"results":[]}`, "/api/translations/demo/docs/de/missing/": `{"count":0,"next":null,"previous":null,"results":[]}`,
		"/api/translations/demo/app/de/missing/": `{"count":0,"next":null,"previous":null,"results":[]}`,
	} {
		wantAnswer(t, s, http.StatusOK, want, target)
	}
	wantStatus(t, s, http.StatusBadRequest, missing+"?q=((")
	wantStatus(t, s, http.StatusNotFound, missing+"?page=2")
	wantStatus(t, s, http.StatusNotFound, "/api/translations/demo/app/xx/missing/")
}

// TestOccurrences: the same string in the same language of all components, and each
// text that it had.
func TestOccurrences(t *testing.T) {
	t.Parallel()
	s := smallHistory(t)
	units := getList(t, s, "/api/translations/demo/app/de/units/").Results
	id := func(n int) string { return fmt.Sprintf("/api/units/%.0f/", units[n]["id"]) }
	if got := fieldsOf(getList(t, s, id(0)+"occurrences/"), "translation target"); got != "http://l10n.example.org/api/translations/demo/app/de/?format=api [Hallo.], http://l10n.example.org/api/translations/demo/docs/de/?format=api [Guten Tag.]" {
		t.Error(got)
	}
	if got := fieldsOf(getList(t, s, id(2)+"occurrences/"), "target"); got != "[Öffnen]" {
		t.Error(got)
	}
	if got := fieldsOf(getList(t, s, id(2)+"changes/"), "action old target timestamp"); got != "31   2024-02-12T12:00:00.000000Z, 59  Offnen 2024-02-19T12:00:00.000000Z, 59 Offnen Öffnen 2024-03-04T12:00:00.000000Z" {
		t.Error(got)
	}
}

// TestPageFigures: the figures beside the charts of a page are those of the history.
func TestPageFigures(t *testing.T) {
	t.Parallel()
	s := smallHistory(t)
	for target, want := range map[string][]string{
		"/projects/demo/app/": {
			"4 March 2024 1, 19 February 2024 2", // changed strings by week
			"Day Czech German, 15 March 2024 1 3", "20 February 2024 1 3", "18 February 2024 1 2", "14 February 2024 1 2", "12 February 2024 0 2",
			"Ada 1 8 0 4 March 2024, Bob 2 0 0 19 February 2024",
		},
		"/projects/demo/app/de/": {
			"4 March 2024 1, 19 February 2024 1", "15 March 2024 3 3", "12 February 2024 2 3",
			"Ada 1 3 0 4 March 2024, Bob 1 0 0 19 February 2024",
		},
		"/projects/demo/app/?since=30": {"Ada 1 2 0 4 March 2024, Bob 2 0 0 19 February 2024"},
		"/languages/de/":               {},
		"/user/bob/":                   {"19 February 2024 2", "Czech 1 0 0, German 1 1 0"},
	} {
		_, rec := send(s, http.MethodGet, target, "Accept", browser)
		got := tablesOf(rec.Body.String())
		for _, w := range want {
			if !strings.Contains(got, w) {
				t.Errorf("%s: no %q in %q", target, w, got)
			}
		}
	}
}

// tablesOf are the tables of a page: cells with blanks between, rows with commas.
func tablesOf(body string) string {
	var rows []string
	for _, row := range regexp.MustCompile(`(?s)<tr>(.*?)</tr>`).FindAllStringSubmatch(body, -1) {
		text := regexp.MustCompile(`(?s)<svg.*?</svg>|<[^>]*>`).ReplaceAllString(strings.ReplaceAll(row[1], "</td>", " "), " ")
		rows = append(rows, strings.Join(strings.Fields(html.UnescapeString(text)), " "))
	}
	return strings.Join(rows, ", ")
}

// fieldsOf are fields of all results of a list.
func fieldsOf(list envelope, names string) string {
	var rows []string
	for _, r := range list.Results {
		var row []string
		for name := range strings.FieldsSeq(names) {
			row = append(row, fmt.Sprint(r[name]))
		}
		rows = append(rows, strings.Join(row, " "))
	}
	return strings.Join(rows, ", ")
}
