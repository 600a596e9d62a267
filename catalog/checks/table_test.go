package checks_test

import (
	"testing"

	"github.com/repoglot/repoglot/catalog/checks"
)

func TestTable(t *testing.T) {
	for i, c := range checks.All() {
		id, ok := checks.ByName(c.Name)
		if !ok || id != checks.ID(i) || c.ID != id || id.String() != c.Name || c.Title == "" || c.Description == "" {
			t.Errorf("check %d: %+v", i, c)
		}
	}
	if _, ok := checks.ByName("nothing"); ok {
		t.Error("a check of an unknown name was found")
	}
	// Numbers are stored: these may never change.
	for id, name := range map[checks.ID]string{0: "begin_newline", 5: "end_stop", 18: "duplicate", 22: "c_format", 35: "inconsistent", 39: "long_untranslated"} {
		if id.String() != name {
			t.Errorf("check %d is %s, was %s", id, id, name)
		}
	}
}
