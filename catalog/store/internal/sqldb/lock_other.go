//go:build !unix

package sqldb

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// Lock is store.Lock. Without flock the file itself is the lock: after a crash it must be
// removed by hand, as the error says.
func Lock(dataDir string) (unlock func() error, err error) {
	if err := os.MkdirAll(dataDir, 0o700); err != nil {
		return nil, lockError(dataDir, err)
	}
	name := filepath.Join(dataDir, "lock")
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, os.ErrExist) {
		pid, _ := os.ReadFile(name)
		return nil, inUse(dataDir, fmt.Sprintf("process %.20s (or it crashed: then remove %s)", pid, name))
	}
	if err != nil {
		return nil, lockError(dataDir, err)
	}
	_, err = fmt.Fprint(f, os.Getpid())
	return func() error { return os.Remove(name) }, errors.Join(err, f.Close())
}

// GiveToOwner does nothing: files have no owner that is one number.
func GiveToOwner(string) error { return nil }
