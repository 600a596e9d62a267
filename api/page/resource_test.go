package page

import (
	"strings"
	"testing"
)

// TestResourceOrder: an object with the keys of a row is of its kind, so no row
// hides a later one, and each row shows something.
func TestResourceOrder(t *testing.T) {
	t.Parallel()
	for _, r := range resources {
		n := &node{kind: object}
		for _, key := range r.keys {
			n.keys, n.members = append(n.keys, key), append(n.members, &node{kind: text, value: "x"})
		}
		if got := resourceOf(n); strings.Join(got.keys, " ") != strings.Join(r.keys, " ") {
			t.Errorf("%v is taken for %v", r.keys, got.keys)
		}
		if r.columns == nil && r.fields == nil {
			t.Errorf("%v has neither columns nor fields", r.keys)
		}
	}
}
