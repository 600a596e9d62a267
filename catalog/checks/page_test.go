package checks_test

import (
	"flag"
	"os"
	"testing"

	"github.com/repoglot/repoglot/catalog/checks"
)

var update = flag.Bool("update", false, "write the files that are made from others")

// TestPage holds the page of the documentation to the table.
func TestPage(t *testing.T) { drift(t, "../../docs/checks.md", checks.Page()) }

// drift compares a file with what it should be, and writes it with -update.
func drift(t *testing.T, path, want string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != want {
		t.Errorf("%s is not what it is made from (%v): go generate ./catalog/checks", path, err)
	}
}
