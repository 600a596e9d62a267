package testrepos

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestHostiles: kinds have different names, and the same kind is made of the same bytes.
func TestHostiles(t *testing.T) {
	outside := filepath.Join(t.TempDir(), "outside")
	names := map[string]bool{}
	for _, h := range append(Hostiles(), HostileCommits(1000)...) {
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
