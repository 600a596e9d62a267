package main

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/repoglot/repoglot/testrepos/testsize"
)

// TestHostiles: kinds have different names, and the same kind is made of the same bytes.
func TestHostiles(t *testing.T) {
	outside := filepath.Join(t.TempDir(), "outside")
	names := map[string]bool{}
	for _, h := range append(hostiles(), hostileCommits(1000)...) {
		if names[h.Name] {
			t.Errorf("%s: two kinds have this name", h.Name)
		}
		names[h.Name] = true
		if !slices.Contains([]string{"odd-names", "symlinks", "odd-author", "delta-bomb", "broken-pack", "plural-deep", "check-icu", "commondir-many", "pipe-HEAD", "one-file", "long-strings"}, h.Name) {
			continue // the others take long, or are made in the same ways
		}
		var heads [2][]byte
		for i := range heads {
			dir, err := h.Create(t.TempDir(), outside)
			must(t, err)
			heads[i], err = os.ReadFile(filepath.Join(dir, "refs", "heads", "main"))
			must(t, err)
		}
		if len(heads[0]) == 0 || !bytes.Equal(heads[0], heads[1]) {
			t.Errorf("%s: heads %s and %s", h.Name, heads[0], heads[1])
		}
	}
	if len(names) < 80 {
		t.Errorf("%d kinds", len(names))
	}
}

// TestHostileCommitsAreSmall: what holds gigabytes of strings takes some hundred KB.
func TestHostileCommitsAreSmall(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: it makes gigabytes")
	}
	for _, h := range hostileCommits(testsize.Of(0, 200, 1000)) {
		parent := t.TempDir()
		dir, err := h.Create(parent, filepath.Join(parent, "outside"))
		must(t, err)
		var bytes int64
		must(t, filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
			if err == nil && d.Type().IsRegular() {
				var info fs.FileInfo
				if info, err = d.Info(); err == nil {
					bytes += info.Size()
				}
			}
			return err
		}))
		if bytes > 300<<10 {
			t.Errorf("%s takes %d KB", h.Name, bytes>>10)
		}
	}
}
