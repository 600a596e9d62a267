package checks_test

import (
	"testing"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/checks"
)

func TestAcross(t *testing.T) {
	done := checks.Sibling{Source: "Open", Target: "Öffnen", State: catalog.StateTranslated}
	other, empty, shut := done, done, done
	other.Target = "Offen"
	empty.Target, empty.State = "", catalog.StateEmpty
	shut.Source = "Unlock"
	verb := other
	verb.Context = "verb"
	for name, c := range map[string]struct{ got, want bool }{
		"other target":          {checks.IsInconsistent(done, other), true},
		"empty beside done":     {checks.IsInconsistent(empty, done), true},
		"equal":                 {checks.IsInconsistent(done, done), false},
		"other context":         {checks.IsInconsistent(done, verb), false},
		"reused":                {checks.IsReused(done, shut, 2), true},
		"one form":              {checks.IsReused(done, shut, 1), false},
		"same source":           {checks.IsReused(done, done, 2), false},
		"two failures":          {checks.HasMultipleFailures(2), true},
		"one failure":           {checks.HasMultipleFailures(1), false},
		"old and left behind":   {checks.IsLongUntranslated(91, 1, 10, 50), true},
		"old, as the others":    {checks.IsLongUntranslated(91, 3, 10, 50), false},
		"young and left behind": {checks.IsLongUntranslated(90, 0, 10, 50), false},
	} {
		if c.got != c.want {
			t.Errorf("%s: %v", name, c.got)
		}
	}
}

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
