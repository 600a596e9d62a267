package catalog_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/repoglot/repoglot/catalog"
)

func TestTargetForms(t *testing.T) {
	for _, c := range []struct {
		source, target string
		number         int
		want           []string
	}{
		{"one", "jeden", 3, []string{"jeden"}},
		{"one", "", 3, []string{""}},
		{"one\x1e\x1emany", "", 3, []string{"", "", ""}},
		{"one\x1e\x1emany", "a\x1e\x1eb", 3, []string{"a", "b", ""}},
		{"one\x1e\x1emany", "a\x1e\x1eb\x1e\x1ec", 2, []string{"a", "b"}},
		{"one\x1e\x1emany", "a", 0, []string{"a"}},
	} {
		if diff := cmp.Diff(c.want, catalog.TargetForms(c.source, c.target, c.number)); diff != "" {
			t.Errorf("TargetForms(%q, %q, %d): %s", c.source, c.target, c.number, diff)
		}
		if got, want := catalog.PadForms(c.source, c.target, c.number), catalog.JoinForms(c.want); got != want {
			t.Errorf("PadForms(%q, %q, %d) = %q, want %q", c.source, c.target, c.number, got, want)
		}
	}
}
