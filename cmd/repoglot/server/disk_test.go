package server

import (
	"errors"
	"fmt"
	"testing"

	"github.com/repoglot/repoglot/catalog/store"
	"github.com/repoglot/repoglot/cmd/repoglot/config"
)

// TestDiskRoom: there is room from the floor on, without a floor, and where the disk
// cannot be asked. The text of the error is always the same.
func TestDiskRoom(t *testing.T) {
	left, failed := int64(0), error(nil)
	free := func(string) (int64, error) { return left, failed }
	room := diskRoom("d", 1<<20, free)
	first := room()
	if left = 1<<20 - 1; room() == nil || first == nil || room().Error() != first.Error() {
		t.Errorf("below the floor: %v, %v", first, room())
	}
	if left = 1 << 20; room() != nil {
		t.Errorf("at the floor: %v", room())
	}
	left = 0
	if err := diskRoom("d", 0, free)(); err != nil {
		t.Errorf("without a floor: %v", err)
	}
	if failed = errors.New("?"); room() != nil {
		t.Errorf("not known: %v", room())
	}
	c := config.Default()
	c.DataDir = config.Path(t.TempDir())
	if c.MinFreeSpace = 1 << 62; editRoom(c)() == nil {
		t.Error("edits have room on a full disk")
	}
	if c.Database = "postgres://db/x"; editRoom(c)() != nil {
		t.Error("edits in PostgreSQL have no room")
	}
	if n, err := freeSpace(t.TempDir()); n <= 0 && !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("free space here: %d, %v", n, err)
	}
}

// TestExcused: no repository is blamed for a full disk.
func TestExcused(t *testing.T) {
	broken := errors.New("the repository does not answer")
	var full error
	e := &Engine{room: func() error { return full }}
	if e.excused(broken) {
		t.Error("a repository that does not answer is excused")
	}
	if !e.excused(fmt.Errorf("pull: %w: %w", store.ErrUnavailable, store.ErrFull)) {
		t.Error("blamed for a database that is full")
	}
	if full = errors.New("less than 1 GiB are free"); !e.excused(broken) {
		t.Error("blamed for a disk without room")
	}
}
