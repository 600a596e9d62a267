package object

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// copyShallow copies the list of commits at which a shallow repository's history
// ends; false if its history is whole.
func copyShallow(from, to string) (bool, error) {
	text, err := os.ReadFile(filepath.Join(from, "shallow"))
	if errors.Is(err, fs.ErrNotExist) {
		_ = os.Remove(filepath.Join(to, "shallow"))
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return true, WriteText(filepath.Join(to, "shallow"), string(text))
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
