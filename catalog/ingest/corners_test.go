package ingest_test

import (
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/catalogtest"
	"github.com/repoglot/repoglot/testrepos"
)

// garbage is no PO file.
const garbage = "garbage\n"

// app is a world with one component "app" over a repository of files.
func app(t *testing.T, s catalog.ComponentSettings, files map[string]string) (*catalogtest.Puller, *testrepos.Repo) {
	t.Helper()
	if s.LanguageRegex == "" {
		s.LanguageRegex = "^[^.]+$"
	}
	repo := repoWith(t, files)
	w := catalogtest.NewPuller(t, repo.URL(), map[string]catalog.ComponentSettings{"app": s})
	w.Sync()
	return w, repo
}

// TestNeverParsedIsNotThere: a file that cannot be parsed and never could be
// displaces none (decision 22), and the component goes on with the next commit.
func TestNeverParsedIsNotThere(t *testing.T) {
	cs := po("One", "Jedna")
	for name, c := range map[string]struct {
		before, broken map[string]string
		want           []string
	}{
		"a POT from the beginning": {
			before: map[string]string{"po/app.pot": garbage, "po/cs.po": cs},
			want:   []string{"en=po/cs.po", "cs=po/cs.po"},
		},
		"a POT beside a file of the source language": {
			before: map[string]string{"po/en.po": po("One", "One", "Two", "Two"), "po/cs.po": cs},
			broken: map[string]string{"po/app.pot": garbage},
			want:   []string{"en=po/en.po", "cs=po/cs.po"},
		},
		"a file of the source language": {
			before: map[string]string{"po/cs.po": cs},
			broken: map[string]string{"po/en.po": garbage},
			want:   []string{"en=po/cs.po", "cs=po/cs.po"},
		},
		"a better name of a language": {
			before: map[string]string{"po/pt-br.po": po("One", "Um"), "po/cs.po": cs},
			broken: map[string]string{"po/pt_BR.po": garbage},
			want:   []string{"en=po/cs.po", "cs=po/cs.po", "pt_BR=po/pt-br.po"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			w, repo := app(t, catalog.ComponentSettings{NewBase: "po/app.pot"}, c.before)
			before := w.ServedUnits()
			if c.broken != nil {
				repo.Commit(t, testrepos.Change{Files: c.broken})
				w.Sync()
			}
			if diff := cmp.Diff(c.want, servedFiles(w, "app")); diff != "" {
				t.Errorf("translations (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(before, w.ServedUnits()); diff != "" {
				t.Errorf("units changed:\n%s", diff)
			}
			_, last := w.ChangesAfter(0)
			repo.Commit(t, testrepos.Change{Files: map[string]string{"po/cs.po": po("One", "Jeden")}})
			if problems := w.Sync().Components[0].Problems; len(problems) == 0 {
				t.Error("the problem is forgotten")
			}
			text, _ := w.ChangesAfter(last)
			if n := strings.Count(text, "\n"); n != 1 || !strings.HasPrefix(text, "59 app/cs") {
				t.Errorf("entries, want one 59:\n%s", text)
			}
		})
	}
}

// TestReturningPOTBroken: a POT that comes back broken does not bring its old
// version back.
func TestReturningPOTBroken(t *testing.T) {
	w, repo := app(t, catalog.ComponentSettings{NewBase: "po/app.pot"},
		map[string]string{"po/app.pot": po("One", "", "Old", ""), "po/cs.po": po("One", "Jedna")})
	repo.Commit(t, testrepos.Change{Delete: []string{"po/app.pot"}})
	w.Sync()
	before := w.ServedUnits()
	for n := range 2 {
		repo.Commit(t, testrepos.Change{Files: map[string]string{"po/app.pot": garbage, "po/de.po": po("One", fmt.Sprint(n))}})
		w.Sync()
		repo.Commit(t, testrepos.Change{Delete: []string{"po/de.po"}})
		w.Sync()
		if diff := cmp.Diff(before, w.ServedUnits()); diff != "" {
			t.Errorf("units changed:\n%s", diff)
		}
	}
}

// TestBrokenFirstFile: a source translation without own file has filename and
// revision of the version that is served, not of the broken one.
func TestBrokenFirstFile(t *testing.T) {
	w, repo := app(t, catalog.ComponentSettings{}, map[string]string{"po/cs.po": po("One", "Jedna"), "po/de.po": po("Two", "Zwei")})
	before := w.ServedUnits()
	repo.Commit(t, testrepos.Change{Files: map[string]string{"po/cs.po": garbage, "po/de.po": po("Three", "Drei")}})
	w.Sync()
	repo.Commit(t, testrepos.Change{Files: map[string]string{"po/de.po": po("Two", "Zwei")}})
	w.Sync()
	if diff := cmp.Diff(before, w.ServedUnits()); diff != "" {
		t.Errorf("units changed:\n%s", diff)
	}
}

// TestRepeatedEntryShiftsPlaces: a repeated entry is not served, but those
// behind it move.
func TestRepeatedEntryShiftsPlaces(t *testing.T) {
	w, repo := app(t, catalog.ComponentSettings{}, map[string]string{"po/cs.po": po("One", "Jedna", "Two", "Dvě")})
	repo.Commit(t, testrepos.Change{Files: map[string]string{"po/cs.po": po("One", "Jedna", "One", "Jeden", "Two", "Dvě")}})
	if n := w.Sync().Changes; n != 0 {
		t.Errorf("%d entries", n)
	}
	fresh := catalogtest.NewPuller(t, repo.URL(), map[string]catalog.ComponentSettings{"app": {LanguageRegex: "^[^.]+$"}})
	fresh.Sync()
	if diff := cmp.Diff(fresh.ServedUnits(), w.ServedUnits()); diff != "" {
		t.Errorf("pulling and importing differ (-import +pull):\n%s", diff)
	}
}

// TestSourceLanguageFiles: beside a POT no file of the source language is
// served, whatever its name; without one each has its code.
func TestSourceLanguageFiles(t *testing.T) {
	files := map[string]string{"po/en.po": po("One", "One"), "po/en_en.po": po("One", "One"), "po/cs.po": po("One", "Jedna")}
	w, repo := app(t, catalog.ComponentSettings{NewBase: "po/app.pot"}, files)
	if diff := cmp.Diff([]string{"en=po/en.po", "cs=po/cs.po", "en_en=po/en_en.po"}, servedFiles(w, "app")); diff != "" {
		t.Errorf("without a POT: %s", diff)
	}
	repo.Commit(t, testrepos.Change{Files: map[string]string{"po/app.pot": po("One", "")}})
	report := w.Sync()
	if diff := cmp.Diff([]string{"en=po/app.pot", "cs=po/cs.po"}, servedFiles(w, "app")); diff != "" {
		t.Errorf("with a POT: %s", diff)
	}
	if n := len(report.Components[0].Problems); n != 2 {
		t.Errorf("problems: %q", report.Components[0].Problems)
	}
	w, _ = app(t, catalog.ComponentSettings{Filemask: "*/*/x.po"}, map[string]string{"a/en/x.po": po("One", ""), "b/en/x.po": po("One", "")})
	if text := w.Sync(); text.Steps != 0 {
		t.Error("not up to date")
	}
}

// TestWhoIntroducesASourceString: a side branch adds a string, translates it,
// breaks the file and repairs it; the merge credits who added and who
// translated it.
func TestWhoIntroducesASourceString(t *testing.T) {
	w, repo := app(t, catalog.ComponentSettings{}, map[string]string{"po/cs.po": po("One", "Jedna")})
	_, last := w.ChangesAfter(0)
	commit := func(author, text string, parents ...string) {
		repo.Commit(t, testrepos.Change{Branch: "side", Parents: parents, Author: author + " <" + author + "@example.org>", Files: map[string]string{"po/cs.po": text}})
	}
	commit("Adder", po("One", "Jedna", "Two", ""), repo.Head())
	commit("Translator", po("One", "Jedna", "Two", "Dvě"))
	commit("Breaker", "<<<<<<<\n"+po("One", "Jedna", "Two", "Dvě"))
	commit("Repairer", po("One", "Jedna", "Two", "Dvě", "Three", ""))
	repo.Commit(t, testrepos.Change{Files: map[string]string{"README": "mainline"}})
	repo.Merge(t, testrepos.Change{Author: "Merger <m@example.org>"}, "side")
	w.Sync()
	var got []string
	w.EachChange(last, func(c *catalog.Change) {
		got = append(got, fmt.Sprintf("%d %s %s %s", c.Action, c.Language, c.Source, c.AuthorName))
	})
	want := []string{"31 en Two Adder", "31 en Three Repairer", "31 cs Two Translator", "31 cs Three Repairer"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("entries (-want +got):\n%s", diff)
	}
}

// TestDiscoverySettings: a changed setting of a discovery reaches the components
// that it made before, without a new commit; they keep their slugs.
func TestDiscoverySettings(t *testing.T) {
	repo := repoWith(t, map[string]string{"cs/a b.po": po("One", "Jedna"), "cs/a+b.po": po("One", "Jedna")})
	settings := catalog.ComponentSettings{Name: "Docs: {component}", Filemask: "*/{component}.po"}
	w := catalogtest.NewPuller(t, repo.URL(), map[string]catalog.ComponentSettings{"docs-{component}": settings})
	w.Sync()
	settings.Name, settings.CheckFlags = "Manual: {component}", "read-only"
	w.Configure(repo.URL(), "", map[string]catalog.ComponentSettings{"docs-{component}": settings})
	w.Sync()
	if diff := cmp.Diff([]string{"docs-a-b|Manual: a b", "docs-a-b-2|Manual: a+b"}, componentNames(w)); diff != "" {
		t.Errorf("components: %s", diff)
	}
	w.EachUnit(func(c *catalog.Component, _ *catalog.Translation, u *catalog.Unit) {
		if u.State != catalog.StateReadOnly {
			t.Errorf("%s: %q has state %d", c.Slug, u.Source, u.State)
		}
	})
	// Away and back: the discovery is made again though neither it nor the head
	// changed.
	w.Configure(repo.URL(), "", map[string]catalog.ComponentSettings{"other": {Filemask: "*/a b.po"}})
	w.Sync()
	w.Configure(repo.URL(), "", map[string]catalog.ComponentSettings{"docs-{component}": settings})
	w.Sync()
	if n := len(componentNames(w)); n != 2 {
		t.Errorf("components after all: %q", componentNames(w))
	}
}

// TestConflictIsNoFailure: a configuration that changes while a pull runs stops
// the pull, but is no spell of failure (decision 21).
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

// TestBarren tells of a mask without files in the pull that finds it so and in
// the first of each process, for components and for discoveries.
func TestBarren(t *testing.T) {
	repo := repoWith(t, map[string]string{
		"po/cs.po": po("One", "Jedna"), "po/app.pot": po("One", ""), "a/x/cs.po": po("One", "Jedna"),
	})
	w := catalogtest.NewPuller(t, repo.URL(), map[string]catalog.ComponentSettings{
		"app":               {NewBase: "po/app.pot", LanguageRegex: "^[^.]+$"},
		"own":               {Filemask: "po/app*.pot", LanguageRegex: ".*", NewBase: "po/app.pot"},
		"found-{component}": {Filemask: "a/{component}/*.po"},
		"none-{component}":  {Filemask: "b/{component}/*.po"},
	})
	problems := func() map[string][]string {
		told := make(map[string][]string)
		for _, c := range w.Sync().Components {
			if len(c.Problems) > 0 {
				told[c.Slug] = c.Problems
			}
		}
		return told
	}
	none := map[string][]string{
		"own":              {"the filemask po/app*.pot matches no file of branch main: correct filemask or branch"},
		"none-{component}": {"the filemask b/{component}/*.po matches no file of branch main: correct filemask or branch"},
	}
	all := map[string][]string{
		"own": none["own"], "none-{component}": none["none-{component}"],
		"app": {"the filemask po/*.po matches no file of branch main: correct filemask or branch"},
	}
	restart := func() {
		w.DB.Close()
		w.Open()
	}
	check := func(when string, want map[string][]string) {
		t.Helper()
		if diff := cmp.Diff(want, problems()); diff != "" {
			t.Errorf("%s: problems (-want +got):\n%s", when, diff)
		}
	}
	check("first pull", none)
	restart()
	check("restart", none)
	repo.Commit(t, testrepos.Change{Delete: []string{"po/cs.po"}})
	w.Sync()
	restart()
	check("restart without files", all)
	repo.Commit(t, testrepos.Change{Delete: []string{"a"}})
	w.Sync()
	restart()
	all["found-{component}"] = []string{"the filemask a/{component}/*.po matches no file of branch main: correct filemask or branch"}
	check("restart without what was discovered", all) // found-x itself is not told of again
	repo.Commit(t, testrepos.Change{Files: map[string]string{"po/cs.po": po("One", "Jedna"), "b/y/cs.po": po("One", "Jedna")}})
	w.Sync()
	restart()
	check("mended", map[string][]string{"own": none["own"], "found-{component}": all["found-{component}"]})
}

// TestRaisedLimit: the remedy that a problem names helps without a new commit,
// and with one that changes another file.
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

// TestOneComponentFails: a component whose stored data is damaged stays behind,
// the others of its convoy go on.
func TestOneComponentFails(t *testing.T) {
	repo := repoWith(t, map[string]string{"a/cs.po": po("One", "Jedna"), "b/cs.po": po("One", "Jedna"), "c/cs.po": po("One", "Jedna")})
	w := catalogtest.NewPuller(t, repo.URL(), map[string]catalog.ComponentSettings{"a": {Filemask: "a/*.po"}, "b": {Filemask: "b/*.po"}, "c": {Filemask: "c/*.po"}})
	w.Sync()
	repo.Commit(t, testrepos.Change{Files: map[string]string{"b/cs.po": garbage}})
	w.Sync()
	w.DB.Close()
	db, err := sql.Open("sqlite", filepath.Join(w.Dir, "repoglot.db"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec("DELETE FROM files"); err != nil {
		t.Fatal(err)
	}
	db.Close()
	w.Open()
	_, last := w.ChangesAfter(0)
	for n, want := range []int{2, 2} {
		files := map[string]string{}
		for _, name := range []string{"a/de.po", "b/de.po", "c/de.po"} {
			files[name] = po("New"+fmt.Sprint(n), "Neu")
		}
		repo.Commit(t, testrepos.Change{Files: files})
		report, err := w.Syncer.Sync(t.Context(), w.Branch)
		if err == nil || !strings.Contains(err.Error(), "component demo/b: last good version of b/cs.po") || strings.Contains(err.Error(), "component demo/a") {
			t.Errorf("pull %d: error %v", n, err)
		}
		moved := 0
		for _, c := range report.Components {
			if c.Head == repo.Head() && c.Err == nil {
				moved++
			}
		}
		if moved != want {
			t.Errorf("pull %d: %d components moved, want %d", n, moved, want)
		}
	}
	text, _ := w.ChangesAfter(last)
	if n := strings.Count(text, "22 b "); n != 1 {
		t.Errorf("%d entries 22 of b:\n%s", n, text)
	}
	for _, want := range []string{"31 a/de", "31 c/de"} {
		if n := strings.Count(text, want); n != 2 {
			t.Errorf("%d entries %q:\n%s", n, want, text)
		}
	}
}

// TestSourceFileReturnsAsItWas: all files of a component go, and the source
// language's comes back with the bytes that it had, as after a revert.
func TestSourceFileReturnsAsItWas(t *testing.T) {
	english := po("One", "One", "Two", "Two")
	repo := repoWith(t, map[string]string{"po/en.po": english, "po/cs.po": po("One", "Jedna")})
	w := catalogtest.NewPuller(t, repo.Path(), map[string]catalog.ComponentSettings{"app": {}})
	w.Sync()
	before := w.ServedUnits()
	repo.Commit(t, testrepos.Change{Message: "none", Delete: []string{"po/en.po", "po/cs.po"}, Files: map[string]string{"README": ""}})
	w.Sync()
	repo.Commit(t, testrepos.Change{Message: "back", Files: map[string]string{"po/en.po": english, "po/cs.po": po("One", "Jedna")}})
	w.Sync()
	if diff := cmp.Diff(before, w.ServedUnits()); diff != "" {
		t.Errorf("(-before +after):\n%s", diff)
	}
	repo.Commit(t, testrepos.Change{Message: "none", Delete: []string{"po/en.po", "po/cs.po"}})
	w.Sync()
	repo.Commit(t, testrepos.Change{Message: "one", Files: map[string]string{"po/en.po": english}})
	w.Sync()
	if got := w.ServedUnits(); strings.Count(got, "app/en") != 2 {
		t.Errorf("the source file alone gives\n%s", got)
	}
}
