package checks_test

import (
	"flag"
	"os"
	"testing"

	"github.com/repoglot/repoglot/catalog/checks"
)

var update = flag.Bool("update", false, "write the generated files")

// TestPage compares docs/checks.md with the table.
func TestPage(t *testing.T) { drift(t, "../../docs/checks.md", checks.Page()) }

// drift compares a generated file with its expected content, and writes it with
// -update.
func drift(t *testing.T, path, want string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != want {
		t.Errorf("%s is out of date (%v): run go generate ./catalog/checks", path, err)
	}
}
