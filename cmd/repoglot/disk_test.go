package main

import (
	"errors"
	"testing"

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
