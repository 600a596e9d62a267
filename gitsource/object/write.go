package object

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/klauspost/compress/zlib"
)

// writeLoose adds an object as a loose file. When it returns, the object survives a
// crash; if it is there already, nothing is written.
func writeLoose(gitDir string, o addedObject) error {
	name := filepath.Join(gitDir, "objects", looseName(o.hash))
	if _, err := os.Lstat(name); err == nil {
		return nil
	}
	err := createFile(name, func(w *os.File) error {
		z := zlib.NewWriter(w)
		if _, err := fmt.Fprintf(z, "%s %d\x00", o.kind, len(o.data)); err != nil {
			return err
		}
		if _, err := z.Write(o.data); err != nil {
			return err
		}
		if err := z.Close(); err != nil {
			return err
		}
		return w.Sync()
	})
	if err == nil {
		err = syncDir(filepath.Dir(name))
	}
	if err != nil {
		return fmt.Errorf("write %s %s: %w", o.kind, o.hash, err)
	}
	return nil
}

// RawTree returns a directory as git stores it: its entries with all their modes and
// with names that Tree would escape.
func (s *Store) RawTree(h Hash) ([]byte, error) {
	data, err := s.objects.read(h, plumbing.TreeObject, treeLimit)
	return data, objectError("directory", h, err)
}
