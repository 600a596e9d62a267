package ingest_test

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/catalogtest"
	"github.com/repoglot/repoglot/catalog/ingest"
	"github.com/repoglot/repoglot/catalog/store"
	"github.com/repoglot/repoglot/gitsource/gittest"
	"github.com/repoglot/repoglot/testrepos"
)

// verifyMirrors returns the lines of a verification.
func verifyMirrors(w *catalogtest.Puller) (seen ingest.VerifiedMirrors, lines []string) {
	w.TB.Helper()
	w.Read(func(ctx context.Context, s *store.Snapshot) (err error) {
		seen, err = ingest.VerifyMirrors(ctx, s, w.Mirrors(), func(line string) { lines = append(lines, line) })
		return err
	})
	return seen, lines
}

// TestVerifyMirrorsRenamed: a language whose file got another name, and cannot be read, keeps
// what the old one had.
func TestVerifyMirrorsRenamed(t *testing.T) {
	repo := repoWith(t, map[string]string{"po/pt-br.po": po("One", "Um"), "po/de.po": po("One", "Eins")})
	w := synced(t, repo.Path(), map[string]catalog.ComponentSettings{"app": {}})
	pullCommit(w, repo, testrepos.Change{Delete: []string{"po/pt-br.po"}, Files: map[string]string{"po/pt_BR.po": "<html>"}})
	if _, lines := verifyMirrors(w); lines != nil {
		t.Errorf("%q", lines)
	}
	execute(w.Store, `UPDATE translations SET filename = 'po/nl.po' WHERE language = 'de'`)
	if _, lines := verifyMirrors(w); len(lines) != 1 || !strings.Contains(lines[0], "po/nl.po is stored, commit ") {
		t.Errorf("of another language: %q", lines)
	}
}

// TestVerifyMirrors: stored files are compared with the commit, but for a version that
// cannot be read; every damaged byte of a mirror is found; a missing mirror is none.
func TestVerifyMirrors(t *testing.T) {
	repo := repoWith(t, map[string]string{"po/cs.po": po("One", "Jedna"), "po/de.po": po("One", "Eins"), "po/app.pot": po("One", "")})
	w := synced(t, repo.Path(), map[string]catalog.ComponentSettings{"app": {NewBase: "po/app.pot"}})
	repo.Commit(t, testrepos.Change{Files: map[string]string{"po/de.po": "<html>", "po/cs.po": po("One", "Jeden")}})
	w.Sync()
	seen, lines := verifyMirrors(w)
	if seen != (ingest.VerifiedMirrors{Mirrors: 1, Files: 2}) || lines != nil {
		t.Errorf("%+v %q", seen, lines)
	}
	execute(w.Store, `UPDATE files SET blob = '0123456789012345678901234567890123456789' WHERE translation_id IN (SELECT id FROM translations WHERE language = 'cs')`)
	if _, lines := verifyMirrors(w); len(lines) != 1 || !strings.Contains(lines[0], "demo/app: po/cs.po: blob 0123456789012345678901234567890123456789 is stored, commit ") {
		t.Errorf("another blob: %q", lines)
	}
	damaged := 0
	must(t, filepath.WalkDir(w.Mirrors(), func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || !strings.Contains(path, "/objects/") {
			return err
		}
		data, err := os.ReadFile(path)
		must(t, err)
		must(t, os.Chmod(path, 0o600))
		for _, at := range []int{len(data) / 2, len(data) - 1} {
			bad := append([]byte{}, data...)
			bad[at] ^= 0x40
			must(t, os.WriteFile(path, bad, 0o600))
			if _, lines := verifyMirrors(w); len(lines) == 0 || !strings.Contains(strings.Join(lines, ""), "the mirror is damaged; remove ") {
				t.Errorf("%s, byte %d: %q", filepath.Base(path), at, lines)
			}
			damaged++
		}
		return os.WriteFile(path, data, 0o600)
	}))
	for _, lost := range []string{"HEAD", "HEAD:", "HEAD:po/cs.po"} {
		git, err := filepath.Glob(filepath.Join(w.Mirrors(), "*", "git-*"))
		must(t, err)
		id := gittest.RunGit(t, git[0], "rev-parse", lost)
		path := filepath.Join(git[0], "objects", id[:2], id[2:])
		must(t, os.Rename(path, path+".lost"))
		if _, lines := verifyMirrors(w); len(lines) != 1 || !strings.Contains(lines[0], "the mirror is damaged; remove ") {
			t.Errorf("without %s: %q", lost, lines)
		}
		must(t, os.Rename(path+".lost", path))
	}
	if damaged == 0 {
		t.Error("the mirror has no objects")
	}
	must(t, os.RemoveAll(w.Mirrors()))
	if seen, lines := verifyMirrors(w); seen.Mirrors != 0 || lines != nil {
		t.Errorf("without a mirror: %+v %q", seen, lines)
	}
}
