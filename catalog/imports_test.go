package catalog_test

import (
	"errors"
	"go/build"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// module is the path of this module.
const module = "github.com/repoglot/repoglot/"

// TestImports compares the imports between our packages with the table of
// docs/design.md. It fails for a package without a row, a row without a
// package, an import that the row does not allow, and an allowed one that no
// code uses.
func TestImports(t *testing.T) {
	table := readRooms(t)
	for pkg, imports := range readImports(t) {
		allowed, ok := table[pkg]
		if !ok {
			t.Errorf("package %s has no row in the table of docs/design.md#rooms", pkg)
			continue
		}
		delete(table, pkg)
		for _, path := range imports {
			if !slices.Contains(allowed, path) {
				t.Errorf("%s imports %s; docs/design.md#rooms does not allow it", pkg, path)
			}
		}
		for _, path := range allowed {
			if !slices.Contains(imports, path) {
				t.Errorf("docs/design.md#rooms allows %s to import %s, which it does not", pkg, path)
			}
		}
	}
	for pkg := range table {
		t.Errorf("docs/design.md#rooms has a row for %s, which is no package", pkg)
	}
}

// readImports returns the packages of this module and which others of them each
// imports, tests apart. It reads the files itself: of what another program reads,
// go test would not know that its cached result is out of date.
func readImports(t *testing.T) map[string][]string {
	t.Helper()
	packages := map[string][]string{}
	err := filepath.WalkDir("..", func(dir string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.IsDir() {
			return err
		}
		if name := entry.Name(); name == "testdata" || name != ".." && strings.HasPrefix(name, ".") {
			return filepath.SkipDir
		}
		p, err := build.ImportDir(dir, 0)
		var none *build.NoGoError
		if errors.As(err, &none) {
			return nil
		}
		imports := []string{}
		for _, path := range p.Imports {
			if path, ours := strings.CutPrefix(path, module); ours {
				imports = append(imports, path)
			}
		}
		packages[filepath.ToSlash(strings.TrimPrefix(dir, ".."+string(filepath.Separator)))] = imports
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return packages
}

// roomRow is a row of the table: a package, its job, the packages it may import.
var roomRow = regexp.MustCompile("^\\| `([a-z/]+)` \\| .* \\| ([^|]*) \\|$")

// readRooms reads the table below the heading "Rooms" of docs/design.md: the
// imports that each package is allowed.
func readRooms(t *testing.T) map[string][]string {
	t.Helper()
	data, err := os.ReadFile("../docs/design.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, ok := strings.Cut(string(data), "\n## Rooms\n")
	if !ok {
		t.Fatal(`docs/design.md has no heading "Rooms"`)
	}
	section, _, _ = strings.Cut(section, "\n## ")
	table := map[string][]string{}
	for line := range strings.Lines(section) {
		line = strings.TrimSpace(line)
		if !strings.HasPrefix(line, "| `") {
			continue
		}
		row := roomRow.FindStringSubmatch(line)
		if row == nil {
			t.Errorf("docs/design.md#rooms: cannot read the row %s", line)
			continue
		}
		if _, twice := table[row[1]]; twice {
			t.Errorf("docs/design.md#rooms has two rows for %s", row[1])
		}
		table[row[1]] = listImports(t, row[2])
	}
	return table
}

// listImports reads the last cell of a row: "–", or packages in backquotes with
// commas, where `a/{b,c}` is short for `a/b`, `a/c`.
func listImports(t *testing.T, cell string) []string {
	t.Helper()
	if cell == "–" {
		return nil
	}
	var list []string
	for i, part := range strings.Split(cell, "`") {
		if i%2 == 0 {
			if strings.Trim(part, ", ") != "" {
				t.Errorf("docs/design.md#rooms: cannot read %q in the cell %s", part, cell)
			}
			continue
		}
		base, names, braced := strings.Cut(strings.TrimSuffix(part, "}"), "{")
		if !braced {
			list = append(list, part)
			continue
		}
		for name := range strings.SplitSeq(names, ",") {
			list = append(list, base+name)
		}
	}
	return list
}
