package store

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestBots: names and addresses mark known and later authors, in any case; a list
// without them removes the mark.
func TestBots(t *testing.T) {
	db := openWith(t, "app")
	at := 0
	addUsers := func(list ...[2]string) {
		step(t, db, info(at, at+1, 1), func(ctx context.Context, tx *StepTx) error {
			for _, u := range list {
				if _, err := tx.User(ctx, u[0], u[1], day(1)); err != nil {
					return err
				}
			}
			return nil
		})
		at++
	}
	check := func(list []string, want map[string]bool) {
		t.Helper()
		got := map[string]bool{}
		read(t, db, func(ctx context.Context, s *Snapshot) error {
			for name := range want {
				u, err := s.User(ctx, name)
				if err != nil {
					return err
				}
				got[name] = u.Bot
			}
			return nil
		})
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", list, diff)
		}
	}
	addUsers([2]string{"Weblate", "noreply@weblate.org"}, [2]string{"Jane", "jane@example.org"})
	for _, c := range []struct {
		list []string
		want map[string]bool
	}{
		{[]string{"WEBLATE", " Ci@example.org"}, map[string]bool{"weblate": true, "jane": false}},
		{[]string{"jane@Example.org", ""}, map[string]bool{"weblate": false, "jane": true}},
		{nil, map[string]bool{"weblate": false, "jane": false}},
	} {
		if err := db.SetBots(t.Context(), c.list); err != nil {
			t.Fatal(err)
		}
		check(c.list, c.want)
	}
	later := []string{"Dependabot", "ci@example.org"}
	if err := db.SetBots(t.Context(), later); err != nil {
		t.Fatal(err)
	}
	addUsers([2]string{"dependabot", "x@example.org"}, [2]string{"Builder", "CI@example.org"}, [2]string{"Joe", "joe@example.org"})
	check(later, map[string]bool{"dependabot": true, "builder": true, "joe": false})
}
