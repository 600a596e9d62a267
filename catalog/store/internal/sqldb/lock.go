package sqldb

import (
	"errors"
	"fmt"
	"os"
)

// ErrLocked says that another process serves or pulls into the data directory.
var ErrLocked = errors.New("the data directory is in use")

// locked is an ErrLocked that names the process.
type locked struct{ error }

func (l locked) Is(target error) bool { return target == ErrLocked }

// inUse and lockError are the one-line errors of Lock.
func inUse(dir, holder string) error {
	return locked{fmt.Errorf("the data directory %s is in use by %s: stop it, or give this one another data_dir", dir, holder)}
}

func lockError(dir string, err error) error {
	if errors.Is(err, os.ErrPermission) {
		return fmt.Errorf("the data directory %s cannot be written: give this user write access to it, or change data_dir", dir)
	}
	return fmt.Errorf("the data directory %s cannot be locked: %w: check it, or change data_dir", dir, err)
}
