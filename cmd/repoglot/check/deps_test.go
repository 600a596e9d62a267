package check_test

import (
	"os/exec"
	"strings"
	"testing"
)

// TestDeps: the linter depends neither on a database nor on git, so that small tools
// can use it.
func TestDeps(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", ".").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	if !strings.Contains(string(out), "repoglot/catalog/ingest/unit\n") {
		t.Error("catalog/ingest/unit is not listed: the test does not see all packages")
	}
	for pkg := range strings.Lines(string(out)) {
		for _, heavy := range []string{"database/sql", "sqlite", "go-git", "repoglot/gitsource", "repoglot/catalog/store"} {
			if strings.Contains(pkg, heavy) {
				t.Errorf("the package depends on %s", strings.TrimSpace(pkg))
			}
		}
	}
}
