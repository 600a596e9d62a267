package poparse

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
)

// TestReader reads all cases of TestGolden one after the other, forwards and
// backwards, with one Reader: each gives what Parse gives, and its strings
// outlive the next one.
func TestReader(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "*.txtar"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	for i := len(files) - 1; i >= 0; i-- {
		files = append(files, files[i])
	}
	var r Reader
	var kept, ids []string
	for _, file := range files {
		ar, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		data := input(t, ar)
		want := describe(Parse("in.po", data))
		f, err := r.Parse("in.po", data)
		if diff := cmp.Diff(want, describe(f, err)); diff != "" {
			t.Errorf("%s (-Parse +Reader):\n%s", file, diff)
		}
		if err == nil && len(f.Entries) > 0 {
			kept, ids = append(kept, f.Entries[0].ID), append(ids, string([]byte(f.Entries[0].ID)))
		}
	}
	if diff := cmp.Diff(ids, kept); diff != "" || len(ids) == 0 {
		t.Errorf("strings of files read before changed:\n%s", diff)
	}
}
