package poparse

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
)

// TestParseShared reads all cases of TestGolden: each result equals that of Parse.
func TestParseShared(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "*.txtar"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	for _, file := range files {
		ar, err := txtar.ParseFile(file)
		must(t, err)
		data := input(t, ar)
		if diff := cmp.Diff(describe(Parse("in.po", data)), describe(ParseShared("in.po", data))); diff != "" {
			t.Errorf("%s (-Parse +ParseShared):\n%s", file, diff)
		}
	}
}
