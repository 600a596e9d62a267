package store

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"testing"

	"github.com/repoglot/repoglot/catalog"
)

// threeFilled gives three components strings in German and French. Translations are named like "1de".
func threeFilled(t *testing.T, db *DB) (units map[int64][]FingerprintedUnit, ids map[string]int64) {
	t.Helper()
	units, ids = map[int64][]FingerprintedUnit{}, map[string]int64{}
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
	return units, ids
}

// The newest entries of a language are the merged lists of its translations,
// whatever the deltas.
func TestNewestInLanguage(t *testing.T) {
	db := openWith(t, "a", "b", "c")
	units, ids := threeFilled(t, db)
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

// The newest commits of a list are its entries, joined by commit: with as many entries, and in each
// translation as many strings, whatever the order in which the deltas were written.
func TestCommits(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	db := open(t)
	if err := db.Configure(t.Context(), projectsNamed("demo", "other"), []ComponentSpec{spec("demo", "a"), spec("demo", "b"), spec("other", "c")}, nil); err != nil {
		t.Fatal(err)
	}
	units, ids := threeFilled(t, db)
	for n := 1; n <= 30; n++ {
		step(t, db, info(n, n+1, 1, 2, 3), func(ctx context.Context, tx *StepTx) error {
			var errs []error
			for c := int64(1); c <= 3; c++ {
				for _, code := range []string{"de", "fr"} {
					d := Delta{ComponentID: c, TranslationID: ids[fmt.Sprint(c, code)], Commit: head(n / 2), At: day(1 + n/2)}
					switch random.IntN(4) {
					case 0:
						continue
					case 1:
						d.TranslationID, d.Entries = 0, []Entry{{Action: catalog.ActionAddedLanguage, State: -1, OldState: -1, Event: map[string]string{"language": code}}}
					default:
						d.Entries = newEntries(units[ids[fmt.Sprint(c, code)]])[:1+random.IntN(5)]
					}
					if random.IntN(4) == 0 {
						d.Commit = ""
					}
					errs = append(errs, tx.AddDelta(ctx, d))
				}
			}
			return errors.Join(errs...)
		})
	}
	read(t, db, func(ctx context.Context, s *Snapshot) error {
		for _, q := range []ChangeQuery{{}, {ProjectID: 1}, {ComponentID: 2}, {TranslationID: ids["3fr"]}, {Components: []int64{1, 3}}} {
			q.Newest, q.Limit = true, 1000
			all, err := s.Changes(ctx, q)
			if err != nil {
				return err
			}
			for _, limit := range []int{1, 3, 1000} {
				q.Limit = limit
				list, err := s.Commits(ctx, q)
				if err != nil {
					return err
				}
				at := 0
				for i, c := range list {
					if c.Newer != int64(at) || c.ID != all[at].ID || c.AuthorName != all[at].AuthorName {
						t.Fatalf("%+v, commit %d: %+v after %d entries, want entry %+v", q, i, c, at, all[at])
					}
					strs, got, began := map[string]int64{}, map[string]int64{}, map[string]bool{}
					of := all[at : at+int(c.Entries)]
					at += len(of)
					for k := range of {
						e := &of[k]
						if e.Commit != c.Commit || e.Project != c.Project || e.Commit == "" && (e.Component != c.Component || e.Language != c.Language || e.Action != c.Action) {
							t.Fatalf("%+v, commit %d has entry %+v", q, i, e)
						}
						if e.Action == catalog.ActionNewUnit {
							strs[e.Component+e.Language]++
						} else {
							began[e.Component+e.Event["language"]] = true
						}
					}
					if at < len(all) && c.Commit != "" && all[at].Commit == c.Commit && all[at].Project == c.Project {
						t.Fatalf("%+v, commit %d lacks entry %+v", q, i, all[at])
					}
					texts := int64(0)
					for _, p := range c.Parts {
						got[p.Component+p.Language] += p.Added
						if p.Began != began[p.Component+p.Language] || !p.Began && p.Translated > 0 {
							t.Fatalf("%+v, commit %d: %+v", q, i, p)
						}
						texts += p.Translated
					}
					for k := range of {
						if e := &of[k]; began[e.Component+e.Language] && e.Action == catalog.ActionNewUnit && e.State.Translated() {
							texts--
						}
					}
					if !maps.Equal(strs, got) || texts != 0 {
						t.Fatalf("%+v, commit %d: %v, want %v; %d texts too many", q, i, got, strs, texts)
					}
				}
				if limit < len(list) || limit == 1000 && at != len(all) {
					t.Errorf("%+v: %d commits with %d of %d entries", q, len(list), at, len(all))
				}
			}
		}
		return nil
	})
}
