package ingest_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/catalogtest"
	"github.com/repoglot/repoglot/catalog/ingest"
	"github.com/repoglot/repoglot/catalog/store/cluster"
	"github.com/repoglot/repoglot/catalog/store/pgtest"
	"github.com/repoglot/repoglot/gitsource/object"
	"github.com/repoglot/repoglot/testrepos"
)

// eachObject calls fn for each file with objects below a folder.
func eachObject(t *testing.T, dir string, fn func(name string)) {
	t.Helper()
	n := 0
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && strings.Contains(name, "/objects/") {
			n++
			fn(name)
		}
		return err
	})
	if err != nil || n == 0 {
		t.Fatalf("%d objects below %s, %v", n, dir, err)
	}
}

// damages are ways in which disks and people damage mirrors.
var damages = map[string]func(t *testing.T, name string){
	"bits flipped": func(t *testing.T, name string) {
		data, err := os.ReadFile(name)
		must(t, err)
		for i := len(data) / 3; i < len(data); i += 17 {
			data[i] ^= 0x10
		}
		overwrite(t, name, data)
	},
	"cut": func(t *testing.T, name string) {
		data, err := os.ReadFile(name)
		must(t, err)
		overwrite(t, name, data[:len(data)/2])
	},
	"zeros, as after a power failure": func(t *testing.T, name string) {
		info, err := os.Stat(name)
		must(t, err)
		overwrite(t, name, make([]byte, info.Size()))
	},
	"empty": func(t *testing.T, name string) { overwrite(t, name, nil) },
	"gone": func(t *testing.T, name string) {
		must(t, os.Remove(name))
	},
}

func overwrite(t *testing.T, name string, data []byte) {
	t.Helper()
	must(t, errors.Join(os.Chmod(name, 0o600), os.WriteFile(name, data, 0o600)))
}

// TestDamagedMirrorHeals: whatever object of a mirror is damaged, the next pull
// that needs it clones again and ends as without the damage: ids stay, and no
// entry mentions it.
func TestDamagedMirrorHeals(t *testing.T) {
	for name, harm := range damages {
		for _, restart := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				repo := repoWith(t, map[string]string{"po/cs.po": po("One", "Jedna", "Two", "Dvě"), "po/de.po": po("One", "Eins")})
				w := synced(t, repo.Path(), map[string]catalog.ComponentSettings{"app": {}})
				sound := synced(t, repo.Path(), map[string]catalog.ComponentSettings{"app": {}})
				eachObject(t, filepath.Join(w.Dir, "mirrors"), func(name string) { harm(t, name) })
				if restart {
					w.DB.Close()
					w.Open()
				}
				report := pullCommit(w, repo, testrepos.Change{Message: "more", Files: map[string]string{"po/cs.po": po("One", "Jeden", "Two", "Dvě", "Three", "Tři")}})
				sound.Sync()
				if report.Head != repo.Head() {
					t.Errorf("pulled to %s, head is %s", report.Head, repo.Head())
				}
				equal(t, dump(sound), dump(w), "differs from a sound one (-sound +healed)")
			})
		}
	}
}

// TestDamagedRemote: an object that cannot be read even from a new clone is an
// error, and not every pull clones again.
func TestDamagedRemote(t *testing.T) {
	repo := repoWith(t, map[string]string{"po/cs.po": po("One", "Jedna")})
	w := synced(t, repo.Path(), map[string]catalog.ComponentSettings{"app": {}})
	before := servedUnits(w)
	repo.Commit(t, testrepos.Change{Message: "more", Files: map[string]string{"po/de.po": po("One", "Eins")}})
	blob := plumbing.ComputeHash(plumbing.BlobObject, []byte(po("One", "Eins"))).String()
	must(t, os.Remove(filepath.Join(repo.Path(), "objects", blob[:2], blob[2:])))
	var clones []string
	for range 3 {
		_, err := w.Syncer.Sync(t.Context(), w.Branch)
		if !errors.Is(err, object.ErrUnknownObject) || !strings.Contains(err.Error(), "git fsck") {
			t.Fatalf("error %v, want ErrUnknownObject and the remedy", err)
		}
		found, _ := filepath.Glob(filepath.Join(w.Dir, "mirrors", "*", "git-*"))
		clones = append(clones, found...)
	}
	if len(clones) != 3 || clones[0] != clones[2] {
		t.Errorf("cloned again and again: %v", clones)
	}
	equal(t, before, servedUnits(w), "units changed")
}

// TestLostMirror: the mirror is a cache. Without it, and with a head that the
// remote no longer has, one step leads to the new head and ids stay.
func TestLostMirror(t *testing.T) {
	repo := repoWith(t, map[string]string{"po/cs.po": po("One", "Jedna", "Two", "Dvě")})
	w := synced(t, repo.Path(), map[string]catalog.ComponentSettings{"app": {}})
	before := w.Targets()
	_, last := w.ChangesAfter(0)
	must(t, os.RemoveAll(repo.Path()))
	must(t, os.RemoveAll(filepath.Join(w.Dir, "mirrors")))
	other := repoWith(t, map[string]string{"po/cs.po": po("One", "Jeden", "Two", "Dvě")})
	must(t, os.Rename(other.Path(), repo.Path()))
	w.DB.Close()
	w.Open() // as after a restart
	report := w.Sync()
	if report.Steps != 1 {
		t.Errorf("%d steps, want 1", report.Steps)
	}
	equal(t, len(before), len(w.Targets()), "units")
	sameIDs(w, before)
	wantEntries(w, last, "59 app/cs")
}

// TestAnotherProcessPulled: a process that pulls after another one relies on nothing
// that it remembers of what it stored.
func TestAnotherProcessPulled(t *testing.T) {
	pgtest.SQLiteOnly(t, "these leases are in no table")
	repo := repoWith(t, map[string]string{"po/cs.po": po("One", "Jedna")})
	main := repo.Head()
	repo.Commit(t, testrepos.Change{Branch: "l10n/x", Parents: []string{main}, Files: map[string]string{"po/cs.po": po("One", "Jeden")}})
	components := map[string]catalog.ComponentSettings{"app": {SuggestionBranches: "l10n/*", SuggestionLimit: 3}}
	w := catalogtest.NewPuller(t, repo.Path(), components)
	branch, _, _ := catalogtest.BranchOf(repo.Path(), "", components)
	first := w.NewSyncer(catalogtest.FirstClock)
	w.Dir = t.TempDir()
	second := w.NewSyncer(catalogtest.FirstClock)
	pull := func(s *ingest.Syncer, token int64, suggestions int) {
		t.Helper()
		if _, err := s.Sync(cluster.WithFence(t.Context(), cluster.Fence{Token: token}), branch); err != nil {
			t.Fatal(err)
		}
		if got := servedSuggestions(w); strings.Count(got, "on l10n/x") != suggestions {
			t.Errorf("suggestions after lease %d, want %d:\n%s", token, suggestions, got)
		}
	}
	pull(first, 1, 1)
	tip := repo.Tip("l10n/x")
	repo.Branch(t, "l10n/x", "")
	pull(second, 2, 0)
	repo.Branch(t, "l10n/x", tip)
	pull(first, 3, 1)
}
