package catalog_test

import (
	"os"
	"testing"
)

// TestMigrationsDrift: each migration has a number of its own. Two that were written at
// the same time may not.
func TestMigrationsDrift(t *testing.T) {
	t.Parallel()
	files, err := os.ReadDir("store/internal/sqldb/migrations")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]string{}
	for _, f := range files {
		number := f.Name()[:5]
		if seen[number] != "" {
			t.Errorf("%s and %s have one number", seen[number], f.Name())
		}
		seen[number] = f.Name()
	}
}
