package store

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/repoglot/repoglot/catalog"
)

// The newest entries of a language are the merged lists of its translations,
// whatever the deltas.
func TestNewestInLanguage(t *testing.T) {
	db := openWith(t, "a", "b", "c")
	units := map[int64][]FingerprintedUnit{}
	ids := map[string]int64{}
	step(t, db, info(0, 1, 1, 2, 3), func(ctx context.Context, tx *StepTx) error {
		var errs []error
		for c := int64(1); c <= 3; c++ {
			for _, code := range []string{"de", "fr"} {
				id, us, err := fill(ctx, tx, c, code, 5, nil)
				units[id], ids[fmt.Sprint(c, code)] = us, id
				errs = append(errs, err)
			}
		}
		return errors.Join(errs...)
	})
	for n := 1; n <= 9; n++ {
		step(t, db, info(n, n+1, 1, 2, 3), func(ctx context.Context, tx *StepTx) error {
			var errs []error
			for i, where := range []string{"1de", "2fr", "2de", "3de"} {
				entries := newEntries(units[ids[where]])[:1+(n+i)%5]
				errs = append(errs, tx.AddDelta(ctx, Delta{ComponentID: int64(where[0] - '0'), TranslationID: ids[where], Entries: entries}))
			}
			return errors.Join(errs...)
		})
	}
	read(t, db, func(ctx context.Context, s *Snapshot) error {
		all, err := s.Changes(ctx, ChangeQuery{Newest: true, Limit: 1000})
		if err != nil {
			return err
		}
		for _, components := range [][]int64{{1, 2, 3}, {2}, {1, 3}, nil} {
			for _, limit := range []int{1, 4, 10, 500} {
				var want []int64
				for _, c := range all {
					in := false
					for _, id := range components {
						in = in || c.Component == string(rune('a'+id-1))
					}
					if in && c.Language == "de" && len(want) < limit {
						want = append(want, c.ID)
					}
				}
				got, err := s.NewestInLanguage(ctx, components, "de", limit)
				if fmt.Sprint(idsOfChanges(got)) != fmt.Sprint(want) || err != nil {
					t.Errorf("%v, %d: %v, %v; want %v", components, limit, idsOfChanges(got), err, want)
				}
			}
		}
		return nil
	})
}

func idsOfChanges(changes []catalog.Change) []int64 {
	var ids []int64
	for _, c := range changes {
		ids = append(ids, c.ID)
	}
	return ids
}
