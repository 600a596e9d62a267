package store

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/repoglot/repoglot/catalog"
)

// TestUsersLists filters and pages authors, and counts their entries.
func TestUsersLists(t *testing.T) {
	t.Parallel()
	db := openWith(t, "app", "docs")
	for c := int64(1); c <= 2; c++ {
		step(t, db, info(0, int(c), c), func(ctx context.Context, tx *StepTx) error {
			en, source, err := fill(ctx, tx, c, "en", 3, nil)
			if err != nil {
				return err
			}
			cs, units, err := fill(ctx, tx, c, "cs", 3, source)
			if err != nil {
				return err
			}
			for i, name := range []string{"Jáne Döe", "Karel"} {
				if c == 2 && i == 1 {
					name = "Kristýna"
				}
				user, err := tx.User(ctx, name, name+"@example.org", day(1))
				if err != nil {
					return err
				}
				entries := newEntries(units)
				if i == 1 {
					entries[0].Action = catalog.ActionStringRepoUpdate
				}
				for _, d := range []Delta{{TranslationID: en, Entries: newEntries(source)}, {TranslationID: cs, Entries: entries}} {
					d.ComponentID, d.AuthorID = c, user
					if err := tx.AddDelta(ctx, d); err != nil {
						return err
					}
				}
			}
			return nil
		})
	}
	read(t, db, func(ctx context.Context, s *Snapshot) error {
		for _, tc := range []struct {
			q     UserQuery
			want  []string
			count int
		}{
			{UserQuery{Limit: 10}, []string{"jane-doe", "karel", "kristyna"}, 3},
			{UserQuery{Limit: 1, Offset: 1}, []string{"karel"}, 3},
			{UserQuery{}, nil, 3},
			{UserQuery{Limit: 2, Prefix: "ka"}, []string{"karel"}, 1},
			{UserQuery{Limit: 10, Prefix: "K"}, nil, 0},
			{UserQuery{Limit: 1, Offset: 1, Prefix: "k"}, []string{"kristyna"}, 2},
			{UserQuery{Limit: 1, Offset: 1, Prefix: "k", Components: []int64{1, 2}}, []string{"kristyna"}, 2},
			{UserQuery{Limit: 10, Prefix: "k"}, []string{"karel", "kristyna"}, 2},
			{UserQuery{Limit: 10, Contains: "DÖ"}, []string{"jane-doe"}, 1},
			{UserQuery{Limit: 10, Components: []int64{2}}, []string{"jane-doe", "kristyna"}, 2},
			{UserQuery{Limit: 10, Components: []int64{}}, nil, 0},
		} {
			users, n, err := s.Users(ctx, tc.q)
			var names []string
			for _, u := range users {
				names = append(names, u.Username)
			}
			if diff := cmp.Diff(tc.want, names); diff != "" || err != nil || n != tc.count {
				t.Errorf("%+v: %d %v\n%s", tc.q, n, err, diff)
			}
		}
		karel, err := s.User(ctx, "karel")
		if err != nil {
			return err
		}
		got, err := s.Contributions(ctx, karel.ID, []int64{1, 2})
		if diff := cmp.Diff([]Contribution{{Language: "cs", Added: 2, Updated: 1}}, got); diff != "" || err != nil {
			t.Errorf("%v\n%s", err, diff)
		}
		if got, err := s.Contributions(ctx, karel.ID, []int64{2}); err != nil || len(got) != 0 {
			t.Errorf("in a component without him: %v %v", got, err)
		}
		if _, err := s.User(ctx, "nobody"); !errors.Is(err, catalog.ErrNotFound) {
			t.Error(err)
		}
		return nil
	})
}
