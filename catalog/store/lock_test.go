package store

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

func TestLock(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "made", "here")
	unlock, err := Lock(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Lock(dir); err == nil {
		t.Fatal("locked twice")
	} else {
		wantLine(t, err, dir, fmt.Sprintf("process %d:", os.Getpid()), "stop it", "data_dir")
	}
	if err := unlock(); err != nil {
		t.Fatal(err)
	}
	again, err := Lock(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := again(); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "lock")
	if _, err := Lock(file); err == nil {
		t.Fatal("locked a file")
	} else {
		wantLine(t, err, file, "data_dir")
	}
}
