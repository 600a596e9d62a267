//go:build unix

package sqldb

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// Lock is store.Lock.
func Lock(dataDir string) (unlock func() error, err error) {
	if err := os.MkdirAll(dataDir, 0o700); err != nil {
		return nil, lockError(dataDir, err)
	}
	f, err := os.OpenFile(filepath.Join(dataDir, "lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, lockError(dataDir, err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		defer f.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, inUse(dataDir, holder(f))
		}
		return nil, lockError(dataDir, err)
	}
	if err := writePID(f); err != nil {
		f.Close()
		return nil, lockError(dataDir, err)
	}
	// The file stays: if it were removed, two processes could lock two files of
	// the same name. A child process that is being forked holds a copy of the
	// descriptor, so closing ours would not be enough to unlock it.
	return func() error { return errors.Join(syscall.Flock(int(f.Fd()), syscall.LOCK_UN), f.Close()) }, nil
}

func holder(f *os.File) string {
	b, err := io.ReadAll(io.LimitReader(f, 32))
	if pid := strings.TrimSpace(string(b)); err == nil && pid != "" {
		return "process " + pid
	}
	return "another process"
}

func writePID(f *os.File) error {
	if err := f.Truncate(0); err != nil {
		return err
	}
	_, err := fmt.Fprintln(f, os.Getpid())
	return err
}

// GiveToOwner gives a file of root to the owner of its folder.
func GiveToOwner(file string) error {
	info, err := os.Stat(filepath.Dir(file))
	if err != nil {
		return err
	}
	if of, ok := info.Sys().(*syscall.Stat_t); ok && os.Geteuid() == 0 {
		return os.Chown(file, int(of.Uid), int(of.Gid))
	}
	return nil
}
