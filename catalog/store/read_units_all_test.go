package store

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/repoglot/repoglot/catalog"
)

// TestAllUnits pages through units of two components whose translations grew in
// turn, so that their ids alternate, and compares with the sorted whole.
func TestAllUnits(t *testing.T) {
	t.Parallel()
	db := openWith(t, "app", "docs", "empty")
	rnd := rand.New(rand.NewPCG(1, 2))
	var want []int64
	var components []int64
	for c, from := range []int{0, 0} {
		id := int64(c + 1)
		components = append(components, id)
		placed := map[int64][]catalog.UnitPosition{}
		step(t, db, info(from, 10+c, id), func(ctx context.Context, tx *StepTx) error {
			var ids []int64
			for i := range 4 {
				tr := catalog.Translation{ComponentID: id, Language: fmt.Sprint("l", i), FileCode: "x", Filename: "f", Revision: head(1), IsSource: i == 0, PluralNumber: 1, PluralFormula: "0"}
				if err := tx.PutTranslation(ctx, &tr); err != nil {
					return err
				}
				ids = append(ids, tr.ID)
			}
			var source []FingerprintedUnit
			for range 12 { // runs of one translation, then of another
				of := ids[rnd.IntN(len(ids))]
				n := 1 + rnd.IntN(300)
				units := makeUnits(of, "x", n, nil)
				if source != nil && of != ids[0] {
					for i := range units {
						units[i].SourceID = source[0].ID
					}
				}
				if err := tx.AddUnits(ctx, units); err != nil {
					return err
				}
				if source == nil {
					source = units
				}
				for i := range units {
					placed[of] = append(placed[of], catalog.UnitPosition{ID: units[i].ID, Position: len(placed[of]) + 1, Location: fmt.Sprint(of)})
				}
			}
			for i, of := range ids {
				tr := catalog.Translation{
					ID: of, ComponentID: id, Language: fmt.Sprint("l", i), FileCode: "x", Filename: "f", Revision: head(1), IsSource: i == 0, PluralNumber: 1, PluralFormula: "0",
					Removed: i == 3, Stats: catalog.Stats{Total: catalog.Count{Units: int64(len(placed[of]))}},
				}
				if err := tx.PutTranslation(ctx, &tr); err != nil {
					return err
				}
				if err := tx.PutLayout(ctx, of, placed[of]); err != nil {
					return err
				}
				if i != 3 {
					for _, p := range placed[of] {
						want = append(want, p.ID)
					}
				}
			}
			return nil
		})
	}
	slices.Sort(want)
	read(t, db, func(ctx context.Context, s *Snapshot) error {
		for try := range 200 {
			offset, limit := rnd.IntN(len(want)+2), 1+rnd.IntN(40)
			if try == 0 {
				offset, limit = 0, len(want)+5
			}
			totals, err := s.UnitTotals(ctx, append(components, 3))
			if err != nil {
				return err
			}
			units, owners, err := s.AllUnits(ctx, totals, int64(offset), limit)
			if err != nil {
				return err
			}
			var got []int64
			for _, u := range units {
				got = append(got, u.ID)
				if owners[u.TranslationID].ComponentID != u.ID/catalog.UnitsPerComponent || u.Location != fmt.Sprint(u.TranslationID) || u.Position == 0 {
					t.Fatalf("unit %d of translation %d is at %q", u.ID, u.TranslationID, u.Location)
				}
			}
			page := want[min(offset, len(want)):min(offset+limit, len(want))]
			if diff := cmp.Diff(append([]int64{}, page...), append([]int64{}, got...)); diff != "" {
				t.Fatalf("offset %d, limit %d:\n%s", offset, limit, diff)
			}
		}
		return nil
	})
}

// TestAcross reads what lists over many components are made of.
func TestAcross(t *testing.T) {
	t.Parallel()
	db := openWith(t, "app", "docs")
	for c := int64(1); c <= 2; c++ {
		step(t, db, info(0, int(c), c), func(ctx context.Context, tx *StepTx) error {
			_, source, err := fill(ctx, tx, c, "en", 3, nil)
			if err != nil {
				return err
			}
			for _, code := range []string{"cs", "de"} {
				if _, _, err := fill(ctx, tx, c, code, 3, source); err != nil {
					return err
				}
			}
			return nil
		})
	}
	step(t, db, info(2, 3, 2), func(ctx context.Context, tx *StepTx) error {
		all, err := tx.Translations(ctx, 2)
		if err != nil {
			return err
		}
		all[2].Removed = true // de
		return tx.PutTranslation(ctx, &all[2])
	})
	read(t, db, func(ctx context.Context, s *Snapshot) error {
		codes, err := s.Languages(ctx, []int64{1, 2})
		if diff := cmp.Diff([]string{"cs", "de", "en"}, codes); diff != "" || err != nil {
			t.Errorf("languages: %v\n%s", err, diff)
		}
		if codes, err := s.Languages(ctx, []int64{2}); err != nil || len(codes) != 2 {
			t.Errorf("languages of docs: %v %v", codes, err)
		}
		ids, err := s.TranslationIDs(ctx, []int64{2, 1})
		if diff := cmp.Diff([]int64{1, 2, 3, 4, 5}, ids); diff != "" || err != nil {
			t.Errorf("translations: %v\n%s", err, diff)
		}
		rows, err := s.TranslationsByID(ctx, []int64{5, 2, 99, 5})
		if err != nil || len(rows) != 2 || rows[0].ID != 2 || rows[1].ID != 5 || rows[1].Language != "cs" {
			t.Errorf("translations by id: %+v %v", rows, err)
		}
		sums, err := s.Sums(ctx, SumQuery{Components: []int64{1, 2}, Sources: true})
		if err != nil || len(sums) != 3 || sums[0].Language != "cs" || sums[0].Stats.Total.Units != 6 || sums[0].Translations != 2 || sums[1].Stats.Total.Units != 3 {
			t.Errorf("sums: %+v %v", sums, err)
		}
		sums, err = s.Sums(ctx, SumQuery{Components: []int64{1, 2}, Language: "en"})
		if err != nil || len(sums) != 0 {
			t.Errorf("sums without sources: %+v %v", sums, err)
		}
		unit, err := s.Unit(ctx, 1<<28+5)
		if err != nil {
			return err
		}
		units, owners, err := s.UnitsByIdentity(ctx, 1, unit.Identity)
		if err != nil || len(units) != 3 || units[0].ID != 1<<28+2 || units[2].ID != 1<<28+8 || owners[units[1].TranslationID].Language != "cs" || units[2].Position != 2 {
			t.Errorf("translations of a string: %+v %v", units, err)
		}
		return nil
	})
}

// TestRecentChanges counts entries of the six hours up to the newest one, step
// by step.
func TestRecentChanges(t *testing.T) {
	t.Parallel()
	db := openWith(t, "app")
	var translation int64
	var units []FingerprintedUnit
	for i, tc := range []struct {
		hour    time.Duration // since the first
		n, want int64
	}{{0, 3, 3}, {5, 2, 5}, {6, 1, 3}, {12, 1, 1}, {12, 2, 3}, {112, 1, 1}} {
		step(t, db, info(i, i+1, 1), func(ctx context.Context, tx *StepTx) (err error) {
			if i == 0 {
				if translation, units, err = fill(ctx, tx, 1, "cs", 3, nil); err != nil {
					return err
				}
			}
			return tx.AddDelta(ctx, Delta{ComponentID: 1, TranslationID: translation, At: day(2).Add(tc.hour * time.Hour), Entries: newEntries(units)[:tc.n]})
		})
		read(t, db, func(ctx context.Context, s *Snapshot) error {
			all, err := s.Translations(ctx, 1)
			if err == nil && all[0].RecentChanges != tc.want {
				t.Errorf("step %d: %d recent changes, want %d", i, all[0].RecentChanges, tc.want)
			}
			return err
		})
	}
}

// TestRecentChangesMigrated: a database of an older version gets the same
// numbers as one that counted from the first step on.
func TestRecentChangesMigrated(t *testing.T) {
	t.Parallel()
	db := openWith(t, "app")
	step(t, db, info(0, 1, 1), writeAll)
	step(t, db, info(1, 2, 1), func(ctx context.Context, tx *StepTx) error {
		all, err := tx.Translations(ctx, 1)
		if err != nil {
			return err
		}
		return tx.AddDelta(ctx, Delta{ComponentID: 1, TranslationID: all[1].ID, At: day(3), Entries: []Entry{
			{Action: catalog.ActionStringRepoUpdate, UnitID: 1<<28 + 1}, {Action: catalog.ActionStringRepoUpdate, UnitID: 1<<28 + 2},
		}})
	})
	counts := func() (n []int64) {
		read(t, db, func(ctx context.Context, s *Snapshot) error {
			all, err := s.Translations(ctx, 1)
			for i := range all {
				n = append(n, all[i].RecentChanges)
			}
			return err
		})
		return n
	}
	want := counts()
	if !slices.Contains(want, 2) {
		t.Fatalf("recent changes %v", want)
	}
	sql, err := migrationFiles.ReadFile("migrations/00005_serving.sql")
	if err != nil {
		t.Fatal(err)
	}
	_, update, _ := strings.Cut(string(sql), "UPDATE translations")
	update, _, _ = strings.Cut("UPDATE translations"+update, ";")
	err = db.write(t.Context(), func(s *session) error {
		if _, err := s.exec(t.Context(), `UPDATE translations SET recent_changes = 0`); err != nil {
			return err
		}
		_, err := s.exec(t.Context(), update)
		return err
	})
	if diff := cmp.Diff(want, counts()); diff != "" || err != nil {
		t.Errorf("%v\n%s", err, diff)
	}
}

// TestHeadCommit: what is shown belongs to the commit that the component stands
// at, or nothing is shown.
func TestHeadCommit(t *testing.T) {
	t.Parallel()
	db := openWith(t, "app")
	shown := func() *catalog.Commit {
		var c *catalog.Commit
		read(t, db, func(ctx context.Context, s *Snapshot) (err error) {
			c, err = s.HeadCommit(ctx, 1)
			return err
		})
		return c
	}
	if c := shown(); c != nil {
		t.Errorf("before the first step: %+v", c)
	}
	i := info(0, 1, 1)
	want := catalog.Commit{Hash: head(1), Author: "A", Committer: "B", AuthorTime: day(1), CommitTime: day(2), Message: "m\nn"}
	i.Commit = &want
	step(t, db, i, nothing)
	if diff := cmp.Diff(&want, shown()); diff != "" {
		t.Error(diff)
	}
	step(t, db, info(1, 1, 1), nothing)
	if shown() == nil {
		t.Error("a step that leaves the head where it is forgot the commit")
	}
	step(t, db, info(1, 2, 1), nothing)
	if c := shown(); c != nil {
		t.Errorf("at another commit: %+v", c)
	}
}

// TestUsersLists filters and pages authors, and counts what they did.
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
