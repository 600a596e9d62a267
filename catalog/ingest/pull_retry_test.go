package ingest_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/catalogtest"
	"github.com/repoglot/repoglot/testrepos"
)

// TestRaisedLimit: the remedy that a problem names helps without a new commit,
// and with a commit that changes another file.
func TestRaisedLimit(t *testing.T) {
	for _, further := range []bool{false, true} {
		t.Run(fmt.Sprintf("further=%v", further), func(t *testing.T) { raiseLimit(t, further) })
	}
}

func raiseLimit(t *testing.T, further bool) {
	w, repo := app(t, catalog.ComponentSettings{}, map[string]string{"po/cs.po": po("One", "Jedna")})
	reopen := func(limit int64) {
		w.DB.Close()
		w.MaxFileSize = limit
		w.Open()
	}
	reopen(120)
	repo.Commit(t, testrepos.Change{Files: map[string]string{"po/de.po": po("One", strings.Repeat("Eins", 30))}})
	report := w.Sync()
	if problems := report.Components[0].Problems; len(problems) != 1 || !strings.Contains(problems[0], "max_file_size") {
		t.Errorf("problems: %q", problems)
	}
	_, last := w.ChangesAfter(0)
	reopen(120)
	if report := w.Sync(); report.Changes != 0 {
		t.Errorf("a restart made %d entries", report.Changes)
	}
	reopen(0)
	if further {
		repo.Commit(t, testrepos.Change{Files: map[string]string{"po/cs.po": po("One", "Jeden")}})
	}
	w.Sync()
	if diff := cmp.Diff([]string{"en=po/cs.po", "cs=po/cs.po", "de=po/de.po"}, servedFiles(w, "app")); diff != "" {
		t.Errorf("translations: %s", diff)
	}
	text, _ := w.ChangesAfter(last)
	if !strings.Contains(text, "48 app") || strings.Count(text, "31 app/de") != 1 {
		t.Errorf("entries, want 48 and 31:\n%s", text)
	}
	if again := w.Sync(); again.Steps != 0 {
		t.Errorf("%d steps in a pull of nothing", again.Steps)
	}
}

// TestCommentsOfOlderDatabases: components that a version without translator
// comments stored are read once more, at their commit.
func TestCommentsOfOlderDatabases(t *testing.T) {
	repo := repoWith(t, map[string]string{"po/cs.po": commentHead + "# mine\nmsgid \"One\"\nmsgstr \"Jedna\"\n"})
	w := catalogtest.NewPuller(t, repo.Path(), map[string]catalog.ComponentSettings{"app": {}})
	w.Sync()
	want := servedComments(w)
	if want == "" {
		t.Fatal("there are no comments")
	}
	_, last := w.ChangesAfter(0)
	w.Execute(`UPDATE units SET remark = 0, meta_print = 1; UPDATE translations SET comments = 0; UPDATE components SET remarked = 0`)
	repo.Commit(t, testrepos.Change{Files: map[string]string{"other": "x"}})
	w.Open()
	w.Sync()
	if got := servedComments(w); got != want {
		t.Errorf("comments:\n%s\nwant\n%s", got, want)
	}
	if text, _ := w.ChangesAfter(last); text != "" {
		t.Errorf("entries:\n%s", text)
	}
	if report := w.Sync(); report.Steps != 0 {
		t.Errorf("read a second time: %+v", report)
	}
}
