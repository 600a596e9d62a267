package store

import (
	"errors"
	"fmt"
	"os"
)

// inUse and lockError are the one-line errors of Lock.
func inUse(dir, holder string) error {
	return fmt.Errorf("the data directory %s is in use by %s: stop it, or give this one another data_dir", dir, holder)
}

func lockError(dir string, err error) error {
	if errors.Is(err, os.ErrPermission) {
		return fmt.Errorf("the data directory %s cannot be written: give this user write access to it, or change data_dir", dir)
	}
	return fmt.Errorf("the data directory %s cannot be locked: %w: check it, or change data_dir", dir, err)
}
