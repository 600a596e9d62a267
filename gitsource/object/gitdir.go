package object

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// bareConfig is the whole configuration of a mirror. It names no remote, so no
// address and no credential is ever on disk.
const bareConfig = "[core]\n\trepositoryformatversion = 0\n\tbare = true\n[gc]\n\tauto = 0\n"

// Init makes an empty bare repository in gitDir.
func Init(gitDir string) error {
	for _, dir := range []string{"objects/info", "objects/pack", "refs/heads"} {
		if err := os.MkdirAll(filepath.Join(gitDir, filepath.FromSlash(dir)), 0o700); err != nil {
			return err
		}
	}
	if err := os.WriteFile(filepath.Join(gitDir, "config"), []byte(bareConfig), 0o600); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(gitDir, "HEAD"), []byte("ref: refs/heads/.invalid\n"), 0o600)
}

const (
	// maxPacks: 150 packs make a walk 15 times slower and cost 160 descriptors.
	maxPacks = 50
	// looseSample: this many loose objects in one of the 256 directories mean
	// some 7,000 in all; git gc --auto uses the same estimate.
	looseSample = 27
)

// Crowded reports whether a git directory has so many packs or loose objects
// that reading becomes slow: more than 50 packs, or some 7,000 loose objects.
func Crowded(gitDir string) bool {
	packs, _ := os.ReadDir(filepath.Join(gitDir, "objects", "pack"))
	n := 0
	for _, p := range packs {
		if strings.HasSuffix(p.Name(), ".pack") {
			n++
		}
	}
	loose, _ := os.ReadDir(filepath.Join(gitDir, "objects", "17"))
	return n > maxPacks || len(loose) > looseSample
}

// maxShallow bounds the list of commits at which a history ends: 400,000 of them.
const maxShallow = 16 << 20

// shallowText returns the list of commits at which a repository's history ends; "" if
// it is whole.
func shallowText(dir string) (string, error) {
	text, err := readText(dir, "shallow", maxShallow)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	return text, err
}

func writeShallow(dir, text string) error {
	if text == "" {
		_ = os.Remove(filepath.Join(dir, "shallow"))
		return nil
	}
	return WriteText(filepath.Join(dir, "shallow"), text+"\n")
}

// WriteShallow stores the commits at which a remote's history ends. An empty list
// means that the history is whole.
func WriteShallow(gitDir string, cut []Hash) error {
	name := filepath.Join(gitDir, "shallow")
	if len(cut) == 0 {
		if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("store where history ends: %w", err)
		}
		return nil
	}
	var b strings.Builder
	for _, h := range cut {
		b.WriteString(h.String() + "\n")
	}
	return WriteText(name, b.String())
}
