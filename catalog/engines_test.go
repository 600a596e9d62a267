package catalog_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

// engineBound is a call that binds a test to an engine, or the beginning of a function.
var engineBound = regexp.MustCompile(`(?m)^func (?:\([^)]*\) )?(\w+)\(|pgtest\.(SQLite|Postgres)Only\(\w+, ("[^"]*")?`)

// TestEngineBound: docs/contributing.md#tests-of-one-engine has the tests that run on one
// engine, with their reasons, and no others.
func TestEngineBound(t *testing.T) {
	t.Parallel()
	bound := map[string][]string{} // functions by the beginning of their row
	for name, text := range readSources(t) {
		if !strings.HasSuffix(name, "_test.go") || name == "catalog/engines_test.go" {
			continue
		}
		function := ""
		for _, m := range engineBound.FindAllStringSubmatch(text, -1) {
			if m[1] != "" {
				function = m[1]
				continue
			}
			engine := map[string]string{"SQLite": "SQLite", "Postgres": "PostgreSQL"}[m[2]]
			row := "| " + engine + " | " + strings.Trim(m[3], `"`) + " | "
			bound[row] = append(bound[row], function)
		}
	}
	_, table, _ := strings.Cut(readSources(t)["docs/contributing.md"], "### Tests of one engine\n")
	table, _, _ = strings.Cut(table, "\n## ")
	for row, functions := range bound {
		slices.Sort(functions)
		line := row + "`" + strings.Join(slices.Compact(functions), "`, `") + "` |\n"
		if !strings.Contains(table, line) {
			t.Errorf("docs/contributing.md lacks %s", line)
		}
		table = strings.Replace(table, line, "", 1)
	}
	if _, left, _ := strings.Cut(table, "|---|---|---|\n"); strings.Contains(left, "|") || len(bound) < 10 {
		t.Errorf("no test is bound so:\n%s", left)
	}
}
