package remote

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/repoglot/repoglot/gitsource/gittest"
	"github.com/repoglot/repoglot/gitsource/object"
)

// TestPipesBeforeGit: a repository on this machine that has a pipe where git would read, and
// wait, is refused before git runs.
func TestPipesBeforeGit(t *testing.T) {
	t.Parallel()
	gittest.NeedGit(t)
	for _, name := range []string{"HEAD", "config", "packed-refs"} {
		up := gittest.NewUpstreamAt[object.Hash](t, filepath.Join(t.TempDir(), "up.git"))
		up.Push("A", gittest.Files{"x": "1"})
		path := filepath.Join(up.Dir, name)
		if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
		gittest.Must(t, syscall.Mkfifo(path, 0o600))
		_, err := NewSource(Repository{URL: up.Dir}, Options{Transport: transportBinary, Silence: 2e9}).Tip(t.Context())
		if !errors.Is(err, ErrUnreachable) || !strings.Contains(err.Error(), "is a pipe") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
