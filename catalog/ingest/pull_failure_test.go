package ingest_test

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/catalogtest"
	"github.com/repoglot/repoglot/catalog/store"
	"github.com/repoglot/repoglot/gitsource/filemask"
	"github.com/repoglot/repoglot/gitsource/remote"
	"github.com/repoglot/repoglot/testrepos"
)

// TestConflictIsNoFailure: a configuration that changes during a pull stops the
// pull, and no failure is recorded (docs/compatibility.md#component-events).
func TestConflictIsNoFailure(t *testing.T) {
	w, repo := app(t, catalog.ComponentSettings{}, map[string]string{"po/cs.po": po("One", "Jedna"), "b/cs.po": po("One", "Jeden")})
	_, last := w.ChangesAfter(0)
	w.Configure(repo.URL(), "", map[string]catalog.ComponentSettings{"app": {Filemask: "a/*.po"}})
	w.Progress = func() {
		w.Progress = nil
		w.Configure(repo.URL(), "", map[string]catalog.ComponentSettings{"app": {Filemask: "b/*.po"}})
	}
	if _, err := w.Syncer.Sync(t.Context(), w.Branch); !errors.Is(err, catalog.ErrConflict) {
		t.Fatalf("error %v, want ErrConflict", err)
	}
	w.Sync()
	wantEntries(w, last, "59 app/cs")
}

// TestFailureOfTheDatabase: a pull that fails since the database takes nothing, such as for
// want of room, makes no entry: the repository is not the cause.
func TestFailureOfTheDatabase(t *testing.T) {
	w, _ := app(t, catalog.ComponentSettings{}, map[string]string{"po/cs.po": po("One", "Jedna")})
	_, last := w.ChangesAfter(0)
	for want, cause := range map[string]error{"": fmt.Errorf("full: %w", store.ErrUnavailable), "22": errors.New("no route")} {
		if err := w.Syncer.Failed(t.Context(), w.Branch, cause); !errors.Is(err, cause) {
			t.Fatal(err)
		}
		if problem := problemOf(w, "app"); problem != cause.Error() {
			t.Errorf("the problem is %q", problem)
		}
		wantEntries(w, last, strings.Fields(want)...)
		w.Sync()
		_, last = w.ChangesAfter(0)
	}
}

// TestFailureEntry: a repository that cannot be reached makes one entry 22,
// however often it is tried. The stored state stays.
func TestFailureEntry(t *testing.T) {
	repo := repoWith(t, map[string]string{"po/cs.po": po("One", "Jedna")})
	w := synced(t, repo.Path(), map[string]catalog.ComponentSettings{"app": {}})
	before := servedUnits(w)
	_, last := w.ChangesAfter(0)
	away := repo.Path() + ".away"
	for failure := range 2 {
		must(t, os.Rename(repo.Path(), away))
		for range 3 {
			if _, err := w.Syncer.Sync(t.Context(), w.Branch); !errors.Is(err, remote.ErrUnreachable) {
				t.Fatalf("error %v, want ErrUnreachable", err)
			}
		}
		text, now := w.ChangesAfter(last)
		if n := strings.Count(text, "\n"); n != 1 || !strings.HasPrefix(text, "22 app") {
			t.Errorf("failure %d: %d entries, want one 22:\n%s", failure, n, text)
		}
		last = now
		must(t, os.Rename(away, repo.Path()))
		w.Sync()
	}
	equal(t, before, servedUnits(w), "units changed")
	if strings.Contains(dump(w), `problem "pull`) {
		t.Error("the problem stays after recovery")
	}
}

// TestErrorsNameTheRemedy: a mistake in the configuration is reported in one
// line that names the component or the repository.
func TestErrorsNameTheRemedy(t *testing.T) {
	empty := testrepos.Empty(t)
	full := repoWith(t, map[string]string{"po/cs.po": po("One", "Jedna")})
	for name, c := range map[string]struct {
		repo, branch string
		settings     catalog.ComponentSettings
		want         error
		say          string
	}{
		"no repository":     {repo: "/nonexistent/x.git", want: remote.ErrUnreachable, say: "/nonexistent/x.git"},
		"no branch":         {repo: full.Path(), branch: "nope", want: remote.ErrBranchMissing, say: "nope"},
		"empty repository":  {repo: empty.Path(), want: remote.ErrEmptyRepository, say: empty.Path()},
		"secret in address": {repo: "https://user:hunter2@127.0.0.1:1/x.git", want: remote.ErrUnreachable, say: "127.0.0.1:1/x.git"},
		"bad mask":          {repo: full.Path(), settings: catalog.ComponentSettings{Filemask: "po/../*.po"}, want: filemask.ErrInvalid, say: "demo/app"},
		"bad regex":         {repo: full.Path(), settings: catalog.ComponentSettings{LanguageRegex: "("}, say: "demo/app"},
	} {
		t.Run(name, func(t *testing.T) {
			w := catalogtest.NewPuller(t, full.Path(), map[string]catalog.ComponentSettings{"app": {}})
			w.Configure(c.repo, c.branch, map[string]catalog.ComponentSettings{"app": c.settings})
			_, err := w.Syncer.Sync(t.Context(), w.Branch)
			if err == nil || c.want != nil && !errors.Is(err, c.want) {
				t.Fatalf("error %v, want %v", err, c.want)
			}
			text := err.Error()
			if !strings.Contains(text, c.say) || strings.Contains(text, "hunter2") || strings.Contains(text, "\n") {
				t.Errorf("message: %s", text)
			}
			if strings.Contains(dump(w), "hunter2") {
				t.Error("the password is in the store")
			}
		})
	}
}

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
	report := pullCommit(w, repo, testrepos.Change{Files: map[string]string{"po/de.po": po("One", strings.Repeat("Eins", 30))}})
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
	equal(t, []string{"en=po/cs.po", "cs=po/cs.po", "de=po/de.po"}, servedFiles(w, "app"), "translations")
	text, _ := w.ChangesAfter(last)
	if !strings.Contains(text, "48 app") || strings.Count(text, "31 app/de") != 1 {
		t.Errorf("entries, want 48 and 31:\n%s", text)
	}
	if again := w.Sync(); again.Steps != 0 {
		t.Errorf("%d steps in a pull of nothing", again.Steps)
	}
}
