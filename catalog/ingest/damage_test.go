package ingest_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/google/go-cmp/cmp"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/catalogtest"
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

// damages are what disks and people do to mirrors.
var damages = map[string]func(t *testing.T, name string){
	"bits flipped": func(t *testing.T, name string) {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for i := len(data) / 3; i < len(data); i += 17 {
			data[i] ^= 0x10
		}
		overwrite(t, name, data)
	},
	"cut": func(t *testing.T, name string) {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		overwrite(t, name, data[:len(data)/2])
	},
	"zeros, as after a power failure": func(t *testing.T, name string) {
		info, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		overwrite(t, name, make([]byte, info.Size()))
	},
	"empty": func(t *testing.T, name string) { overwrite(t, name, nil) },
	"gone": func(t *testing.T, name string) {
		if err := os.Remove(name); err != nil {
			t.Fatal(err)
		}
	},
}

func overwrite(t *testing.T, name string, data []byte) {
	t.Helper()
	if err := errors.Join(os.Chmod(name, 0o600), os.WriteFile(name, data, 0o600)); err != nil {
		t.Fatal(err)
	}
}

// TestDamagedMirrorHeals: whatever object of a mirror is damaged, the next pull
// that needs it clones again and ends as if nothing had been; ids stay, and no
// entry tells of it (decision 21).
func TestDamagedMirrorHeals(t *testing.T) {
	for name, harm := range damages {
		for _, restart := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				repo := repoWith(t, map[string]string{"po/cs.po": po("One", "Jedna", "Two", "Dvě"), "po/de.po": po("One", "Eins")})
				w := catalogtest.NewPuller(t, repo.Path(), map[string]catalog.ComponentSettings{"app": {}})
				w.Sync()
				sound := catalogtest.NewPuller(t, repo.Path(), map[string]catalog.ComponentSettings{"app": {}})
				sound.Sync()
				eachObject(t, filepath.Join(w.Dir, "mirrors"), func(name string) { harm(t, name) })
				if restart {
					w.DB.Close()
					w.Open()
				}
				repo.Commit(t, testrepos.Change{Message: "more", Files: map[string]string{"po/cs.po": po("One", "Jeden", "Two", "Dvě", "Three", "Tři")}})
				report := w.Sync()
				sound.Sync()
				if report.Head != repo.Head() {
					t.Errorf("pulled to %s, head is %s", report.Head, repo.Head())
				}
				if diff := cmp.Diff(sound.Dump(), w.Dump()); diff != "" {
					t.Errorf("differs from a sound one (-sound +healed):\n%s", diff)
				}
			})
		}
	}
}

// TestDamagedRemote: what cannot be read even when cloned anew is an error, and
// it is not cloned again in every round.
func TestDamagedRemote(t *testing.T) {
	repo := repoWith(t, map[string]string{"po/cs.po": po("One", "Jedna")})
	w := catalogtest.NewPuller(t, repo.Path(), map[string]catalog.ComponentSettings{"app": {}})
	w.Sync()
	before := w.ServedUnits()
	repo.Commit(t, testrepos.Change{Message: "more", Files: map[string]string{"po/de.po": po("One", "Eins")}})
	blob := plumbing.ComputeHash(plumbing.BlobObject, []byte(po("One", "Eins"))).String()
	if err := os.Remove(filepath.Join(repo.Path(), "objects", blob[:2], blob[2:])); err != nil {
		t.Fatal(err)
	}
	var clones []string
	for range 3 {
		_, err := w.Syncer.Sync(t.Context(), w.Branch)
		if !errors.Is(err, object.ErrUnknownObject) || !strings.Contains(err.Error(), "git fsck") {
			t.Fatalf("error %v, want ErrUnknownObject and what to do", err)
		}
		found, _ := filepath.Glob(filepath.Join(w.Dir, "mirrors", "*", "git-*"))
		clones = append(clones, found...)
	}
	if len(clones) != 3 || clones[0] != clones[2] {
		t.Errorf("cloned again and again: %v", clones)
	}
	if diff := cmp.Diff(before, w.ServedUnits()); diff != "" {
		t.Errorf("units changed: %s", diff)
	}
}

// TestUnsafeNamesAreReported: a file that is not read for its name is a problem
// of the component, from the commit that brings it to the one that takes it.
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
	if got := problems(); got != "" {
		t.Errorf("after they are gone: %q", got)
	}
	if got := servedFiles(w, "app"); !cmp.Equal(got, []string{"en=po/cs.po", "cs=po/cs.po"}) {
		t.Errorf("languages %v", got)
	}
}

// TestNotReadEntries: pointers of Git LFS are named as such and keep what was
// there before; symlinks and submodules below the mask are not read.
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
	before := w.ServedUnits()
	repo.Commit(t, testrepos.Change{Message: "lfs", Files: map[string]string{"po/cs.po": pointer}})
	check("pull", "po/cs.po", "po/de.po")
	if diff := cmp.Diff(before, w.ServedUnits()); diff != "" {
		t.Errorf("units changed: %s", diff)
	}
	// A symlink out of the repository, and a submodule, with names that match.
	repo.Commit(t, testrepos.Change{Message: "link", Files: map[string]string{"po/cs.po": po("One", "Jedna"), "po/de.po": po("One", "Eins")}, Symlinks: map[string]string{"po/fr.po": "/etc/passwd"}})
	catalogtest.Git(t, repo.Path(), "read-tree", "HEAD")
	catalogtest.Git(t, repo.Path(), "update-index", "--add", "--cacheinfo", "160000,"+repo.Head()+",po/es.po")
	commit := catalogtest.Git(t, repo.Path(), "-c", "user.name=A", "-c", "user.email=a@example.org", "commit-tree", "-p", "HEAD", "-m", "submodule", catalogtest.Git(t, repo.Path(), "write-tree"))
	catalogtest.Git(t, repo.Path(), "update-ref", "refs/heads/"+testrepos.DefaultBranch, commit)
	if report := w.Sync(); report.Head != commit {
		t.Errorf("pulled to %s, want %s", report.Head, commit)
	}
	if got := servedFiles(w, "app"); !cmp.Equal(got, []string{"en=po/cs.po", "cs=po/cs.po", "de=po/de.po"}) {
		t.Errorf("languages %v", got)
	}
}
