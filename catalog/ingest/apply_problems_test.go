package ingest_test

import (
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/catalogtest"
	"github.com/repoglot/repoglot/catalog/ingest"
	"github.com/repoglot/repoglot/gitsource/gittest"
	"github.com/repoglot/repoglot/testrepos"
)

// TestNeverParsedIsNotThere: a file that could never be parsed does not take
// the place of another one (docs/compatibility.md#unreadable-files), and the
// component goes on with the next commit.
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
			before := servedUnits(w)
			if c.broken != nil {
				pullCommit(w, repo, testrepos.Change{Files: c.broken})
			}
			equal(t, c.want, servedFiles(w, "app"), "translations")
			equal(t, before, servedUnits(w), "units changed")
			_, last := w.ChangesAfter(0)
			repo.Commit(t, testrepos.Change{Files: map[string]string{"po/cs.po": po("One", "Jeden")}})
			if problems := w.Sync().Components[0].Problems; len(problems) == 0 {
				t.Error("the problem is forgotten")
			}
			wantEntries(w, last, "59 app/cs")
		})
	}
}

// TestReturningPOTBroken: a POT that comes back broken does not bring its old
// version back.
func TestReturningPOTBroken(t *testing.T) {
	w, repo := app(t, catalog.ComponentSettings{NewBase: "po/app.pot"},
		map[string]string{"po/app.pot": po("One", "", "Old", ""), "po/cs.po": po("One", "Jedna")})
	pullCommit(w, repo, testrepos.Change{Delete: []string{"po/app.pot"}})
	before := servedUnits(w)
	for n := range 2 {
		pullCommit(w, repo, testrepos.Change{Files: map[string]string{"po/app.pot": garbage, "po/de.po": po("One", fmt.Sprint(n))}})
		pullCommit(w, repo, testrepos.Change{Delete: []string{"po/de.po"}})
		equal(t, before, servedUnits(w), "units changed")
	}
}

// TestBrokenFilesKeepTheirState: a POT and a language file break and are
// repaired. Meanwhile their last good versions are served.
func TestBrokenFilesKeepTheirState(t *testing.T) {
	repo := repoWith(t, map[string]string{
		"po/app.pot": po("One", "", "Two", ""),
		"po/cs.po":   po("One", "Jedna", "Two", "Dvě"),
	})
	w := synced(t, repo.URL(), map[string]catalog.ComponentSettings{"app": {NewBase: "po/app.pot"}})
	before := servedUnits(w)
	report := pullCommit(w, repo, testrepos.Change{Files: map[string]string{
		"po/app.pot": "<<<<<<< HEAD\n" + po("One", ""),
		"po/cs.po":   po("One", "Jedna") + "msgid \"Two\nmsgstr \"\"\n",
		"po/de.po":   "garbage",
	}})
	equal(t, 3, len(report.Components[0].Problems), "problems %q", report.Components[0].Problems)
	equal(t, before, servedUnits(w), "broken files changed what is served")
	// Another file changes meanwhile: the last good POT still is the source.
	pullCommit(w, repo, testrepos.Change{Files: map[string]string{"po/de.po": po("Three", "Drei")}})
	equal(t, []string{"1 One", "2 Two", "3 Three"}, sourceStrings(w, "app"), "source units")
	repo.Commit(t, testrepos.Change{Files: map[string]string{
		"po/app.pot": po("One", "", "Two", ""),
		"po/cs.po":   po("One", "Jedna", "Two", "Dva"),
	}})
	if problems := w.Sync().Components[0].Problems; len(problems) != 0 {
		t.Errorf("problems stay: %q", problems)
	}
}

// TestUnsafeNamesAreReported: a file that is not read because of its name is a
// problem of the component, from the commit that adds it to the commit that
// removes it.
func TestUnsafeNamesAreReported(t *testing.T) {
	repo := repoWith(t, map[string]string{"po/cs.po": po("One", "Jedna"), "po/a\\b.po": po("One", "X"), "doc/c\\d.po": ""})
	w := catalogtest.NewPuller(t, repo.Path(), map[string]catalog.ComponentSettings{"app": {}})
	problems := func() string { return strings.Join(w.Sync().Components[0].Problems, "\n") }
	if got := problems(); strings.Count(got, "not served") != 1 || !strings.Contains(got, `po/a\x5cb.po: not served`) || !strings.Contains(got, "rename") {
		t.Errorf("after the import: %q", got)
	}
	repo.Commit(t, testrepos.Change{Message: "more", Files: map[string]string{"po/d\u0085e.po": po("One", "Y")}})
	if got := problems(); strings.Count(got, "not served") != 2 || !strings.Contains(got, `po/d\xc2\x85e.po: not served`) {
		t.Errorf("after a pull: %q", got)
	}
	repo.Commit(t, testrepos.Change{Message: "less", Delete: []string{"po/a\\b.po", "po/d\u0085e.po"}})
	equal(t, "", problems(), "after they are gone")
	if got := servedFiles(w, "app"); !cmp.Equal(got, []string{"en=po/cs.po", "cs=po/cs.po"}) {
		t.Errorf("languages %v", got)
	}
}

// TestLongNames: names that are longer than a row of an index may be are reported, or
// left out, and the rest is served: PostgreSQL has 2,704 bytes for one.
func TestLongNames(t *testing.T) {
	random := rand.NewChaCha8([32]byte{1})
	long := func(n int) string { // an index compresses what repeats
		data := make([]byte, n)
		_, _ = random.Read(data)
		return hex.EncodeToString(data)[:n]
	}
	dirs := func(n int) string {
		var parts []string
		for range n / 200 {
			parts = append(parts, long(199))
		}
		return strings.Join(parts, "/")
	}
	deep := dirs(3000)
	repo := repoWith(t, map[string]string{
		"po/" + deep + "/cs.po": po("One", "Jedna"), "po/" + deep + "/de.po": "broken", "po/" + deep + "/" + long(900) + ".po": po("One", "X"), "po/" + deep + "/" + long(3500) + ".po": po("One", "X"),
	})
	repo.Commit(t, testrepos.Change{Branch: "l10n/" + dirs(3000), Parents: []string{"main"}, Files: map[string]string{"po/" + deep + "/cs.po": po("One", "Jeden")}})
	w := catalogtest.NewPuller(t, repo.Path(), map[string]catalog.ComponentSettings{"app": {
		Filemask: "po/" + deep + "/*.po", SuggestionBranches: "l10n/**", SuggestionLimit: 5,
	}})
	for n, state := range []string{"imported", "another commit"} {
		problems := strings.ReplaceAll(strings.Join(w.Sync().Components[0].Problems, "\n"), deep, "DEEP")
		if !strings.Contains(problems, "language code of more than 100 bytes") || !strings.Contains(problems, "/de.po") || !strings.Contains(problems, "longer than 4096 bytes") || strings.Count(problems, "\n") != 2 {
			t.Errorf("%s: %q", state, problems)
		}
		repo.Commit(t, testrepos.Change{Files: map[string]string{"po/" + deep + "/cs.po": po("One", fmt.Sprint(n))}})
	}
	if got := servedFiles(w, "app"); len(got) != 2 {
		t.Errorf("languages %v", got)
	}
}

// TestMissingTemplate: a new_base that does not exist is a problem of the component
// until it appears, and again when it goes; meanwhile the files are served.
func TestMissingTemplate(t *testing.T) {
	repo := repoWith(t, map[string]string{"po/cs.po": po("One", "Jedna")})
	w := catalogtest.NewPuller(t, repo.Path(), map[string]catalog.ComponentSettings{"app": {NewBase: "po/app.pot"}})
	check := func(when string, want int) {
		t.Helper()
		problems := w.Sync().Components[0].Problems
		if len(problems) != want || want > 0 && !strings.Contains(problems[0], "po/app.pot: new_base does not exist") {
			t.Errorf("%s: problems %q, want %d", when, problems, want)
		}
	}
	check("after the import", 1)
	repo.Commit(t, testrepos.Change{Message: "translate", Files: map[string]string{"po/cs.po": po("One", "Jeden")}})
	check("after a commit without it", 1)
	repo.Commit(t, testrepos.Change{Message: "template", Files: map[string]string{"po/app.pot": po("One", "")}})
	check("after it appeared", 0)
	repo.Commit(t, testrepos.Change{Message: "no template", Delete: []string{"po/app.pot"}})
	check("after it has gone", 1)
	if got := servedFiles(w, "app"); !cmp.Equal(got, []string{"en=po/cs.po", "cs=po/cs.po"}) {
		t.Errorf("languages %v", got)
	}
}

// TestDiscoveredTemplates: the template of a component in a folder is found by its last
// part, and one that lacks it is a problem as one of the configuration is.
func TestDiscoveredTemplates(t *testing.T) {
	repo := repoWith(t, map[string]string{
		"apps/clock@x/po/de.po": po("One", "Eins", "Old", "Alt"), "apps/clock@x/po/clock@x.pot": po("One", "", "Two", ""), "clock@x/po/clock@x.pot": po("No", ""),
		"plain/po/de.po": po("One", "Eins"),
	})
	w := catalogtest.NewPuller(t, repo.Path(), map[string]catalog.ComponentSettings{"{component}": {Filemask: "{component}/po/*.po", NewBase: "{component}/po/{component_name}.pot"}})
	problems := map[string]string{}
	for _, c := range w.Sync().Components {
		problems[c.Slug] = strings.Join(c.Problems, "\n")
	}
	want := map[string]string{"apps-clock-x": "", "plain": "plain/po/plain.pot: new_base does not exist: the source strings are taken from the translations; correct new_base, or leave it empty"}
	equal(t, want, problems, "problems")
	equal(t, []string{"en=apps/clock@x/po/clock@x.pot", "de=apps/clock@x/po/de.po"}, servedFiles(w, "apps-clock-x"), "files")
}

// TestNotReadEntries: Git LFS pointers are reported as such, and the last good
// version stays. Symlinks and submodules below the mask are not read.
func TestNotReadEntries(t *testing.T) {
	const pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393\nsize 12345\n"
	repo := repoWith(t, map[string]string{"po/cs.po": po("One", "Jedna"), "po/de.po": pointer})
	w := catalogtest.NewPuller(t, repo.Path(), map[string]catalog.ComponentSettings{"app": {}})
	check := func(when string, files ...string) {
		t.Helper()
		problems := w.Sync().Components[0].Problems
		if len(problems) != len(files) {
			t.Errorf("%s: problems %q, want one of each of %q", when, problems, files)
			return
		}
		for i, file := range files {
			if !strings.Contains(problems[i], file) || !strings.Contains(problems[i], "Git LFS") || !strings.Contains(problems[i], "store PO files in git itself") {
				t.Errorf("%s: %q, want that %s is a pointer of Git LFS, and the remedy", when, problems[i], file)
			}
		}
	}
	check("import", "po/de.po")
	before := servedUnits(w)
	repo.Commit(t, testrepos.Change{Message: "lfs", Files: map[string]string{"po/cs.po": pointer}})
	check("pull", "po/cs.po", "po/de.po")
	equal(t, before, servedUnits(w), "units changed")
	// A symlink out of the repository, and a submodule, with names that match.
	repo.Commit(t, testrepos.Change{Message: "link", Files: map[string]string{"po/cs.po": po("One", "Jedna"), "po/de.po": po("One", "Eins")}})
	gittest.RunGit(t, repo.Path(), "read-tree", "HEAD")
	target := string(gittest.PipeGit(t, repo.Path(), strings.NewReader("/etc/passwd"), "hash-object", "-w", "--stdin"))
	gittest.RunGit(t, repo.Path(), "update-index", "--add", "--cacheinfo", "120000,"+strings.TrimSpace(target)+",po/fr.po", "--cacheinfo", "160000,"+repo.Head()+",po/es.po")
	commit := gittest.RunGit(t, repo.Path(), "-c", "user.name=A", "-c", "user.email=a@example.org", "commit-tree", "-p", "HEAD", "-m", "submodule", gittest.RunGit(t, repo.Path(), "write-tree"))
	gittest.RunGit(t, repo.Path(), "update-ref", "refs/heads/"+testrepos.DefaultBranch, commit)
	if report := w.Sync(); report.Head != commit {
		t.Errorf("pulled to %s, want %s", report.Head, commit)
	}
	if got := servedFiles(w, "app"); !cmp.Equal(got, []string{"en=po/cs.po", "cs=po/cs.po", "de=po/de.po"}) {
		t.Errorf("languages %v", got)
	}
}

// TestUnsafeNameOnEveryWay: a file whose name is unsafe is reported by an import, by
// pulls and by a replay.
func TestUnsafeNameOnEveryWay(t *testing.T) {
	for _, full := range []bool{false, true} {
		repo := repoWith(t, map[string]string{"po/cs.po": po("One", "Jedna")})
		s := map[string]catalog.ComponentSettings{"app": {LanguageRegex: "^[^.]+$", History: catalog.History{Full: full}}}
		pulled := synced(t, repo.URL(), s)
		bad := testrepos.Change{Files: map[string]string{"po/d\x01e.po": po("One", "Eins")}}
		want := "not served: its name is unsafe"
		for _, report := range []ingest.Report{pullCommit(pulled, repo, bad), catalogtest.NewPuller(t, repo.URL(), s).Sync()} {
			problems := report.Components[0].Problems
			if len(problems) != 1 || !strings.Contains(problems[0], want) {
				t.Errorf("history %v: problems %q, want %q", full, problems, want)
			}
		}
		repo.Commit(t, testrepos.Change{Delete: []string{"po/d\x01e.po"}})
		if problems := pulled.Sync().Components[0].Problems; len(problems) != 0 {
			t.Errorf("problems %q stay", problems)
		}
	}
}
