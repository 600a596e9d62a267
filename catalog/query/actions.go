package query

import (
	_ "embed" // of actions.txt
	"strconv"
	"strings"

	"github.com/repoglot/repoglot/catalog"
)

// actionNames are the actions of Weblate (docs/compatibility.md#change-entries):
// the number, then its names in lower case with dashes, the oldest first.
//
//go:embed actions.txt
var actionNames string

// newUnitRepo is the action that newer versions of Weblate use for ActionNewUnit.
const newUnitRepo = 71

// actionOf finds an action by its number, its name or its dashed name.
func actionOf(name string) (catalog.Action, bool) {
	if n, err := strconv.ParseInt(name, 10, 16); err == nil {
		return catalog.Action(n), catalog.Action(n).Known()
	}
	dashed := strings.ReplaceAll(strings.ToLower(name), " ", "-")
	for line := range strings.Lines(actionNames) {
		number, names, _ := strings.Cut(strings.TrimSpace(line), " ")
		for known := range strings.FieldsSeq(names) {
			if known != dashed {
				continue
			}
			n, err := strconv.ParseInt(number, 10, 16)
			if n == newUnitRepo {
				n = int64(catalog.ActionNewUnit)
			}
			return catalog.Action(n), err == nil
		}
	}
	return 0, false
}
