package object

import (
	"crypto/sha1"
	"fmt"
	"os"
	"path/filepath"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/klauspost/compress/zlib"
)

// WriteBlob adds a file's contents to a git directory and returns the id.
func WriteBlob(gitDir string, data []byte) (Hash, error) {
	return writeLoose(gitDir, plumbing.BlobObject, data)
}

// WriteTree adds a directory, as git stores it.
func WriteTree(gitDir string, data []byte) (Hash, error) {
	return writeLoose(gitDir, plumbing.TreeObject, data)
}

// WriteCommit adds a commit, as git stores it.
func WriteCommit(gitDir string, data []byte) (Hash, error) {
	return writeLoose(gitDir, plumbing.CommitObject, data)
}

// writeLoose adds an object as a loose file. When it returns, the object survives a
// crash; if it is there already, nothing is written.
func writeLoose(gitDir string, kind plumbing.ObjectType, data []byte) (Hash, error) {
	header := fmt.Appendf(nil, "%s %d\x00", kind, len(data))
	sum := sha1.New()
	sum.Write(header)
	sum.Write(data)
	h := Hash(sum.Sum(nil))
	name := filepath.Join(gitDir, "objects", looseName(h))
	if _, err := os.Lstat(name); err == nil {
		return h, nil
	}
	err := createFile(name, func(w *os.File) error {
		z := zlib.NewWriter(w)
		if _, err := z.Write(header); err != nil {
			return err
		}
		if _, err := z.Write(data); err != nil {
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
		return Hash{}, fmt.Errorf("write %s %s: %w", kind, h, err)
	}
	return h, nil
}

// RawTree returns a directory as git stores it: its entries with all their modes and
// with names that Tree would escape.
func (s *Store) RawTree(h Hash) ([]byte, error) {
	data, err := s.objects.read(h, plumbing.TreeObject, treeLimit)
	return data, objectError("directory", h, err)
}
