package server

import (
	"errors"
	"fmt"

	"github.com/repoglot/repoglot/catalog/store"
	"github.com/repoglot/repoglot/cmd/repoglot/config"
)

// diskRoom returns a function that returns an error while less than floor is free on
// the disk of a folder. Its text does not depend on how much is: a problem that stays
// the same is stored and logged once. A disk that cannot be asked has room.
func diskRoom(dir string, floor config.Size, free func(dir string) (int64, error)) func() error {
	return func() error {
		if floor <= 0 {
			return nil
		}
		if left, err := free(dir); err != nil || left >= int64(floor) {
			return nil
		}
		return fmt.Errorf("less than %s are free on the disk of data_dir (min_free_space): make room; pulls go on by themselves", floor)
	}
}

// editRoom is like diskRoom for edits: they use half of what pulls leave free, so that
// repositories that fill the disk keep no one from editing. In PostgreSQL they are on
// another disk.
func editRoom(c *config.Config) func() error {
	floor := c.MinFreeSpace / 2
	if c.Database.Raw() != "" {
		floor = 0
	}
	return diskRoom(string(c.DataDir), floor, freeSpace)
}

// excused reports whether a pull failed for a reason that says nothing about its
// repository: the database cannot be used, or the disk has too little room.
func (e *Engine) excused(err error) bool {
	return errors.Is(err, store.ErrUnavailable) || e.room() != nil
}
