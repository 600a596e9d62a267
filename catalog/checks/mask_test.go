package checks_test

import (
	"testing"

	"github.com/repoglot/repoglot/catalog/checks"
)

func TestMask(t *testing.T) {
	var m checks.Mask
	for _, c := range checks.All() {
		if m = m.With(c.ID); !m.Has(c.ID) || m.Len() != int(c.ID)+1 {
			t.Fatalf("%s: %v", c.Name, m)
		}
	}
	for id := range m.All() {
		m = m.Without(id)
	}
	if !m.IsZero() || m.With(200) != m || m.Has(200) {
		t.Errorf("%v", m)
	}
}
