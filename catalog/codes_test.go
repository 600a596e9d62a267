package catalog_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/repoglot/repoglot/catalog"
)

// codesPage lists numbers and texts that code has.
const codesPage = "docs/codes.md"

// detail is a fixed text of an error of the API, in code.
var detail = regexp.MustCompile(`&(?:rest\.)?Problem\{[^}]*?Detail:\s+"([^"\\]+)`)

// TestCodesDrift: docs/codes.md has a row for every action that is recorded, every
// state, and every fixed text of an error, and rows of actions for nothing else.
func TestCodesDrift(t *testing.T) {
	sources := readSources(t)
	page := sources[codesPage]
	for action := catalog.Action(0); action < 1000; action++ {
		row := fmt.Sprintf("\n| %d | %s |", action, action.Name())
		if action.Recorded() && !strings.Contains(page, row) {
			t.Errorf("%s lacks the action %d, %s: add a row", codesPage, action, action.Name())
		}
	}
	_, actions, _ := strings.Cut(page, "## Actions of changes")
	actions, _, _ = strings.Cut(actions, "\n## ")
	for _, row := range regexp.MustCompile(`(?m)^\| (\d+) \|`).FindAllStringSubmatch(actions, -1) {
		var action catalog.Action
		if _, err := fmt.Sscan(row[1], &action); err != nil || !action.Recorded() {
			t.Errorf("%s has the action %s, which is never recorded", codesPage, row[1])
		}
	}
	for _, state := range []catalog.State{catalog.StateEmpty, catalog.StateFuzzy, catalog.StateTranslated, catalog.StateApproved, catalog.StateReadOnly} {
		counts := map[bool]string{true: "yes", false: "no"}[state.Translated()]
		if !regexp.MustCompile(fmt.Sprintf(`(?m)^\| %d \| [^|]+ \| %s \|$`, state, counts)).MatchString(page) {
			t.Errorf("%s lacks the state %d: add a row", codesPage, state)
		}
	}
	found := 0
	for name, text := range sources {
		if !strings.HasPrefix(name, "api/") || strings.HasSuffix(name, "_test.go") {
			continue
		}
		for _, m := range detail.FindAllStringSubmatch(text, -1) {
			found++
			if !strings.Contains(page, " | "+strings.TrimSpace(m[1])) {
				t.Errorf("%s lacks %q of %s: add a row with its status and what to do", codesPage, m[1], name)
			}
		}
	}
	if found < 20 {
		t.Errorf("only %d texts of errors were found", found)
	}
}
