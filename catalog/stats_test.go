package catalog_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/repoglot/repoglot/catalog"
)

func TestPercent(t *testing.T) {
	for _, c := range []struct {
		n, total int64
		empty    catalog.Tenths
		want     catalog.Tenths
	}{
		{0, 0, 1000, 1000},
		{0, 0, 0, 0},
		{1, 3, 1000, 333},
		{2, 3, 1000, 666},
		{1, 2000, 0, 0},
		{1999, 2000, 1000, 999},
		{116, 121, 1000, 958},
		{5, 5, 0, 1000},
	} {
		if got := catalog.Percent(c.n, c.total, c.empty); got != c.want {
			t.Errorf("Percent(%d, %d, %d) = %d, want %d", c.n, c.total, c.empty, got, c.want)
		}
	}
}

func TestStats(t *testing.T) {
	var s catalog.Stats
	for _, u := range []catalog.Unit{
		{State: catalog.StateEmpty, Words: 1, Chars: 10},
		{State: catalog.StateFuzzy, Words: 2, Chars: 20},
		{State: catalog.StateTranslated, Words: 4, Chars: 40},
		{State: catalog.StateReadOnly, Words: 8, Chars: 80},
	} {
		s.AddUnit(&u)
	}
	want := catalog.Stats{
		Total:      catalog.Count{Units: 4, Words: 15, Chars: 150},
		Translated: catalog.Count{Units: 2, Words: 12, Chars: 120},
		Fuzzy:      catalog.Count{Units: 1, Words: 2, Chars: 20},
		ReadOnly:   catalog.Count{Units: 1, Words: 8, Chars: 80},
	}
	if diff := cmp.Diff(want, s); diff != "" {
		t.Error(diff)
	}
}
