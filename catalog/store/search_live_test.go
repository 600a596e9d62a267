package store

import (
	"context"
	"slices"
	"testing"
)

// Layouts say which units are live, whatever the stored number of units.
func TestSearchLiveUnits(t *testing.T) {
	w := newSearchWorld(t, 6, 100)
	w.db.searches.spanUnits = blockUnits
	var group []searchTranslation
	var want []int64
	for _, language := range []string{"en", "cs"} {
		group = append(group, searchTranslation{id: w.ids["apple"+language], units: int64(300 * len(group) * len(group))})
	}
	for _, u := range w.units {
		if !u.removed && (u.TranslationID == group[0].id || u.TranslationID == group[1].id) {
			want = append(want, u.ID)
		}
	}
	slices.Sort(want)
	for _, units := range []int64{0, 256, 257, 1000, 5000} {
		group[1].units = units
		for _, long := range []bool{false, true} {
			read(t, w.db, func(ctx context.Context, s *Snapshot) error {
				c := searchComponent{ComponentRow: &w.components[1], long: long}
				live, err := s.liveUnits(ctx, &c, group)
				if err != nil {
					return err
				}
				if got := live.ids(); !slices.Equal(got, want) {
					t.Errorf("%d units, want %d", len(got), len(want))
				}
				return nil
			})
		}
	}
}
