package ingest_test

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/catalogtest"
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
	text, _ := w.ChangesAfter(last)
	if n := strings.Count(text, "\n"); n != 1 || !strings.HasPrefix(text, "59 app/cs") {
		t.Errorf("entries, want one 59:\n%s", text)
	}
}

// TestFailureEntry: a repository that cannot be reached makes one entry 22,
// however often it is tried. The stored state stays.
func TestFailureEntry(t *testing.T) {
	repo := repoWith(t, map[string]string{"po/cs.po": po("One", "Jedna")})
	w := catalogtest.NewPuller(t, repo.Path(), map[string]catalog.ComponentSettings{"app": {}})
	w.Sync()
	before := w.ServedUnits()
	_, last := w.ChangesAfter(0)
	away := repo.Path() + ".away"
	for failure := range 2 {
		if err := os.Rename(repo.Path(), away); err != nil {
			t.Fatal(err)
		}
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
		if err := os.Rename(away, repo.Path()); err != nil {
			t.Fatal(err)
		}
		w.Sync()
	}
	if diff := cmp.Diff(before, w.ServedUnits()); diff != "" {
		t.Errorf("units changed: %s", diff)
	}
	if strings.Contains(w.Dump(), `problem "pull`) {
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
			if strings.Contains(w.Dump(), "hunter2") {
				t.Error("the password is in the store")
			}
		})
	}
}
