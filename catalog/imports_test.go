package catalog_test

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// module is the path of this module.
const module = "github.com/repoglot/repoglot/"

// mayImport lists which of our packages a package may import (docs/design.md,
// Packages). A trailing /... stands for the package and all below it.
var mayImport = map[string][]string{
	"cmd/...":                 {"..."},
	"api/hooks":               {},
	"api/limit":               {},
	"api/gitexport":           {},
	"api/export":              {"catalog"},
	"api/page":                {},
	"api/...":                 {"api/...", "catalog", "catalog/checks", "catalog/lang", "catalog/query", "catalog/store"},
	"catalog/ingest":          {"gitsource", "poparse", "catalog", "catalog/checks", "catalog/lang", "catalog/store"},
	"catalog/ingest/schedule": {},
	"catalog/checks":          {"catalog", "catalog/lang"},
	"catalog/query":           {"catalog", "catalog/checks"},
	"catalog/store":           {"catalog", "catalog/checks", "catalog/query"},
	"catalog":                 {},
	"catalog/lang":            {},
	"poparse":                 {"poparse/linebreak"},
	"poparse/linebreak":       {},
	"gitsource":               {},
	"testrepos":               {},
}

// TestImports holds the direction in which data flows: a new edge between our
// packages is a decision, to be written here and in docs/design.md.
func TestImports(t *testing.T) {
	out, err := exec.Command("go", "list", "-f", `{{.ImportPath}}{{range .Imports}} {{.}}{{end}}`, module+"...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	checked := 0
	for line := range strings.Lines(string(out)) {
		fields := strings.Fields(line)
		pkg := strings.TrimPrefix(fields[0], module)
		allowed, ok := rule(pkg)
		if !ok {
			t.Errorf("package %s is not in the list of packages", pkg)
			continue
		}
		checked++
		for _, imported := range fields[1:] {
			imported, ours := strings.CutPrefix(imported, module)
			if ours && !slices.ContainsFunc(allowed, func(p string) bool { return matches(p, imported) }) {
				t.Errorf("%s imports %s, which is not allowed", pkg, imported)
			}
		}
	}
	if checked < 8 {
		t.Errorf("only %d packages checked", checked)
	}
}

func rule(pkg string) ([]string, bool) {
	if allowed, ok := mayImport[pkg]; ok {
		return allowed, true
	}
	for pattern, allowed := range mayImport {
		if matches(pattern, pkg) {
			return allowed, true
		}
	}
	return nil, false
}

func matches(pattern, pkg string) bool {
	base, deep := strings.CutSuffix(pattern, "...")
	if !deep {
		return pattern == pkg
	}
	return base == "" || pkg+"/" == base || strings.HasPrefix(pkg, base)
}
