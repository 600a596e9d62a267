package checks_test

import (
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/repoglot/repoglot/catalog/checks"
)

// versionFile lists the checks of one Version and what each case of testdata
// fails with it.
const versionFile = "testdata/version.golden"

// TestVersion tells when Version was not raised: a check was added, or a unit
// of versionFile fails other checks than it did. Results that are stored in
// databases would stay as they are.
func TestVersion(t *testing.T) {
	current := fmt.Sprintf("version %d\n", checks.Version) + recordChecks(t)
	recorded, err := os.ReadFile(versionFile)
	if err != nil && !*update {
		t.Fatal(err)
	}
	was, is := readRecord(string(recorded)), readRecord(current)
	for key, old := range was {
		now, ok := is[key]
		switch {
		case strings.HasPrefix(key, "check ") && now != old:
			t.Fatalf("%s was %q and is %q now: numbers of checks are stored, so they must not change", key, old, now)
		case ok && now != old && was["version"] == is["version"] && key != "version":
			t.Fatalf("a unit of %s: %q failed, %q fails now: raise Version in table.go, then run go generate ./catalog/checks", key, old, now)
		}
	}
	for key, name := range is {
		if _, known := was[key]; !known && strings.HasPrefix(key, "check ") && was["version"] == is["version"] {
			t.Fatalf("the check %s is new: raise Version in table.go, then run go generate ./catalog/checks", name)
		}
	}
	if string(recorded) != current && !*update {
		t.Fatalf("cases were added or changed: if a rule changed as well, raise Version in table.go; then run go generate ./catalog/checks")
	}
	drift(t, versionFile, current)
}

// readRecord reads lines "key: value".
func readRecord(text string) map[string]string {
	record := map[string]string{}
	for line := range strings.Lines(text) {
		key, value, ok := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
		if !ok {
			key, value, _ = strings.Cut(key, " ")
		}
		record[key] = value
	}
	return record
}

// recordChecks writes a line for each check, and one for each case: the name of
// its file, a hash of its unit, and the checks that the unit fails.
func recordChecks(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	for _, c := range checks.All() {
		fmt.Fprintf(&b, "check %d: %s\n", c.ID, c.Name)
	}
	for _, check := range checks.All() {
		archive, err := txtar.ParseFile(filepath.Join("testdata", check.Name+".txtar"))
		if err != nil {
			t.Fatal(err)
		}
		for _, section := range archive.Files {
			_, language, _ := strings.Cut(section.Name, " ")
			c := newCase(t, language, string(section.Data))
			failed := fmt.Sprint(c.across(check.ID))
			if check.Scope != checks.ScopeAcross {
				failed = names(checks.New(c.options()).Run(c.unit(check)))
			}
			delete(c.values, "also") // expectations
			delete(c.values, "spans")
			h := fnv.New64a()
			fmt.Fprintf(h, "%s %q", c.language, c.values)
			fmt.Fprintf(&b, "%s %016x: %s\n", check.Name, h.Sum64(), failed)
		}
	}
	return b.String()
}
