package testrepos

import (
	"io/fs"
	"path/filepath"
	"testing"

	"github.com/repoglot/repoglot/testrepos/testsize"
)

// TestHostileCommitsAreSmall: what holds gigabytes of strings takes some hundred KB.
func TestHostileCommitsAreSmall(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: it makes gigabytes")
	}
	for _, h := range HostileCommits(testsize.Of(0, 200, 1000)) {
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
