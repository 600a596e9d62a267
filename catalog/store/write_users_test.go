package store

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/repoglot/repoglot/catalog"
)

func TestUsers(t *testing.T) {
	db := openWith(t, "app")
	steps := []struct {
		name, email string
		at          time.Time
		id          int64
		username    string
		joined      time.Time
	}{
		{"Ann Lee", "ann@example.org", day(5), 1, "ann-lee", day(5)},
		{"Ann Lee", "other@example.org", day(5), 2, "ann-lee-2", day(5)},
		{"Annie", " ANN@Example.ORG ", day(3), 1, "ann-lee", day(3)}, // the e-mail address decides, the earliest commit counts
		{"Ann Lee 3", "third@example.org", day(5), 3, "ann-lee-3", day(5)},
		{"Ann Lee", "fourth@example.org", day(5), 4, "ann-lee-4", day(5)},
		{"Ann Lee", "", day(5), 5, "ann-lee-5", day(5)},
		{"Bob", "", day(5), 6, "bob", day(5)}, // without an e-mail address the name decides
		{"Ann Lee", "", day(9), 5, "ann-lee-5", day(5)},
		{"!!!", "x@example.org", time.Time{}, 7, "author", time.Time{}},
	}
	for i, s := range steps {
		step(t, db, info(i, i+1, 1), func(ctx context.Context, tx *StepTx) error {
			for range 2 { // the second time from the step's map
				id, err := tx.User(ctx, s.name, s.email, s.at)
				if err != nil || id != s.id && id != -1 {
					t.Errorf("%s <%s> is %d, want %d: %v", s.name, s.email, id, s.id, err)
				}
			}
			err := tx.AddDelta(ctx, Delta{ComponentID: 1, AuthorID: -2, Entries: []Entry{{Action: catalog.ActionHook}}})
			if !errors.Is(err, catalog.ErrInvalid) {
				t.Errorf("an author of another step: %v", err)
			}
			return nil
		})
		read(t, db, func(ctx context.Context, snap *Snapshot) error {
			u, err := snap.User(ctx, s.username)
			if err != nil || u.ID != s.id || !u.Joined.Equal(s.joined) {
				t.Errorf("%s: %+v, %v", s.username, u, err)
			}
			return nil
		})
	}
	if strings.Contains(strings.ToLower(userDump(t, db)), "example.org") {
		t.Error("an e-mail address is stored")
	}
}

// Many authors with one name do not cost quadratic time.
func TestFirstFree(t *testing.T) {
	for _, tt := range []struct {
		taken, want, calls int
	}{{0, 1, 1}, {1, 2, 2}, {5, 6, 6}, {20, 21, 20}, {100000, 100001, 130}} {
		calls := 0
		got, err := firstFree(func(n int) (bool, error) { calls++; return n <= tt.taken, nil })
		if got != tt.want || err != nil || calls > tt.calls {
			t.Errorf("%d taken: %d after %d look-ups, %v; want %d after at most %d", tt.taken, got, calls, err, tt.want, tt.calls)
		}
	}
	if _, err := firstFree(func(int) (bool, error) { return true, errBoom }); err != errBoom {
		t.Errorf("error %v", err)
	}
}

// Entries are credited; a translation names the author of its newest one.
func TestLastAuthor(t *testing.T) {
	db := openWith(t, "app")
	var id int64
	step(t, db, info(0, 1, 1), func(ctx context.Context, tx *StepTx) error {
		var units []FingerprintedUnit
		var err error
		if id, units, err = fill(ctx, tx, 1, "de", 1, nil); err != nil {
			return err
		}
		for _, name := range []string{"Ann", "Bob"} {
			author, err := tx.User(ctx, name, name, day(1))
			if err != nil {
				return err
			}
			if err := tx.AddDelta(ctx, Delta{ComponentID: 1, TranslationID: id, AuthorID: author, Entries: newEntries(units)}); err != nil {
				return err
			}
		}
		return tx.AddDelta(ctx, Delta{ComponentID: 1, Entries: []Entry{{Action: catalog.ActionHook}}, At: day(20)})
	})
	check := func(author string, at time.Time, changes int64) {
		t.Helper()
		read(t, db, func(ctx context.Context, s *Snapshot) error {
			row, err := s.Translation(ctx, "demo", "app", "de")
			if row.LastAuthor != author || !row.LastChange.Equal(at) || row.Changes != changes {
				t.Errorf("last change %v by %q, %d changes", row.LastChange, row.LastAuthor, row.Changes)
			}
			return err
		})
	}
	check("Bob", day(2), 2)
	step(t, db, info(1, 2, 1), func(ctx context.Context, tx *StepTx) error {
		return tx.AddDelta(ctx, Delta{ComponentID: 1, TranslationID: id, Entries: []Entry{{Action: catalog.ActionStringRemove, UnitID: 1}}})
	})
	check("", day(20), 3)
}

// TestRestrictUser: a client that sees only some components learns of an author's
// first commit there, not of an older one elsewhere.
func TestRestrictUser(t *testing.T) {
	db := openWith(t, "app", "hidden")
	authors := make([]int64, 3) // of app, of hidden, of both
	step(t, db, info(0, 1, 1, 2), func(ctx context.Context, tx *StepTx) error {
		for i, name := range []string{"Ann", "Mallory", "Bob"} {
			var err error
			if authors[i], err = tx.User(ctx, name, name, day(1)); err != nil {
				return err
			}
		}
		hook := []Entry{{Action: catalog.ActionHook}}
		for _, d := range []Delta{
			{ComponentID: 1, AuthorID: authors[0], CommitTime: day(3)},
			{ComponentID: 2, AuthorID: authors[1], CommitTime: day(3)},
			{ComponentID: 2, AuthorID: authors[2], CommitTime: day(2)},
			{ComponentID: 1, AuthorID: authors[2], CommitTime: day(4)},
			{ComponentID: 1, AuthorID: authors[2], CommitTime: day(5)},
		} {
			d.Entries = hook
			if err := tx.AddDelta(ctx, d); err != nil {
				return err
			}
		}
		return nil
	})
	read(t, db, func(ctx context.Context, s *Snapshot) error {
		for _, tt := range []struct {
			components []int64
			want       string
		}{
			{nil, "ann 1 mallory 1 bob 1"},
			{[]int64{1, 2}, "ann 1 mallory 1 bob 1"},
			{[]int64{1}, "ann 1 bob 4"},
			{[]int64{2}, "mallory 1 bob 2"},
			{[]int64{}, ""},
		} {
			var all, known []string
			users, count, err := s.Users(ctx, UserQuery{Components: tt.components, Limit: 10})
			if err != nil {
				return err
			}
			for _, u := range users {
				all = append(all, u.Username, strconv.Itoa(u.Joined.Day()))
			}
			for _, name := range []string{"ann", "mallory", "bob"} {
				u, err := s.User(ctx, name)
				if err != nil {
					return err
				}
				is, err := s.RestrictUser(ctx, &u, tt.components)
				if err != nil {
					return err
				}
				if is {
					known = append(known, u.Username, strconv.Itoa(u.Joined.Day()))
				}
			}
			if list, one := strings.Join(all, " "), strings.Join(known, " "); list != tt.want || one != tt.want || count != len(users) {
				t.Errorf("in %v: the list has %q (%d), one by one %q, want %q", tt.components, list, count, one, tt.want)
			}
		}
		return nil
	})
}

// userDump prints what is stored about users, except addresses of repositories.
func userDump(t *testing.T, db *DB) string {
	t.Helper()
	_, text, found := strings.Cut(dump(t, db), "== users\n")
	if !found {
		t.Fatal("no table of users")
	}
	return text
}
