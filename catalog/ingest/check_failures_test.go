package ingest_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/catalogtest"
	"github.com/repoglot/repoglot/catalog/ingest"
	"github.com/repoglot/repoglot/testrepos"
)

// TestNewFailures: a pull reports the checks that fail since it, up to a hundred,
// also of unchanged strings that are compared with changed ones. It reports no
// failures of a first import, and no earlier ones.
func TestNewFailures(t *testing.T) {
	file := func(entries ...string) string {
		text := "msgid \"\"\nmsgstr \"\"\n\"Content-Type: text/plain; charset=UTF-8\\n\"\n\"Plural-Forms: nplurals=2; plural=n != 1;\\n\"\n"
		for i := 0; i < len(entries); i += 2 {
			text += fmt.Sprintf("\nmsgid %q\nmsgstr %q\n", entries[i], entries[i+1])
		}
		return text
	}
	repo := testrepos.Empty(t)
	commit := func(files map[string]string) {
		repo.Commit(t, testrepos.Change{Branch: "main", Files: files})
	}
	w := catalogtest.NewPuller(t, repo.URL(), map[string]catalog.ComponentSettings{
		"app":  {Filemask: "po/*.po", LanguageRegex: "^[^.]+$", AllowTranslationPropagation: true},
		"docs": {Filemask: "docs/*.po", LanguageRegex: "^[^.]+$", AllowTranslationPropagation: true},
	})
	expect := func(when string, total int, want ...string) {
		t.Helper()
		report := w.Sync()
		names := map[int64]string{}
		for _, c := range report.Components {
			names[c.ID] = c.Slug
		}
		var got []string
		for _, f := range report.NewFailures.List {
			got = append(got, fmt.Sprintf("%s/%s %s %s", names[f.ComponentID], f.Language, f.Check, f.Source))
		}
		if diff := cmp.Diff(want, got[:min(len(got), max(len(want), 4))]); diff != "" || report.NewFailures.Total != total {
			t.Errorf("%s: %d of %d; -want +got:\n%s", when, len(got), report.NewFailures.Total, diff)
		}
	}
	commit(map[string]string{
		"po/de.po":   file("Open it.", "Öffne es", "Close it.", "Schließ es.", "Leave it.", "Lass es."),
		"docs/de.po": file("Open it.", "Öffne es"),
	})
	expect("first import", 0)
	commit(map[string]string{"po/de.po": file("Open it.", "Öffne es", "Close it.", "Schließ es", "Leave it.", "Lass  es")})
	expect("two more faults", 4, "app/en multiple_failures Leave it.", "app/de end_stop Close it.", "app/de double_space Leave it.", "app/de end_stop Leave it.")
	expect("nothing new", 0)
	commit(map[string]string{"docs/de.po": file("Open it.", "Mach es auf.")})
	expect("another translation", 3, "app/en multiple_failures Open it.", "app/de inconsistent Open it.", "docs/de inconsistent Open it.")
	long := strings.Repeat("ß", 100)
	commit(map[string]string{"docs/de.po": file("Open it.", "Öffne es", long+".", "kurz")})
	expect("a long string", 2, "docs/de end_stop Open it.", "docs/de end_stop "+strings.Repeat("ß", 79)+"…")
	var many []string
	for i := range 120 {
		many = append(many, fmt.Sprintf("Line %d.", i), fmt.Sprintf("Zeile %d", i))
	}
	commit(map[string]string{"docs/de.po": file(many...)})
	var report ingest.Report
	if report = w.Sync(); report.NewFailures.Total != 120 || len(report.NewFailures.List) != 100 {
		t.Errorf("%d of %d", len(report.NewFailures.List), report.NewFailures.Total)
	}
}
