package store

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store/internal/sqldb"
)

// TestSignIns: a sign-in on its way is found once, by the state and the browser that began it,
// until it ends; of too many the oldest end.
func TestSignIns(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	db := openOptions(t, filepath.Join(t.TempDir(), "t.db"), sqldb.Options{Now: func() time.Time { return now }})
	begin := func(state string) catalog.SignIn {
		t.Helper()
		f := catalog.SignIn{State: state, Browser: "b" + state, Provider: "gh", Verifier: "v" + state, Nonce: "n", Next: "/x/"}
		if err := db.Access().BeginSignIn(t.Context(), &f, 10*time.Minute); err != nil {
			t.Fatal(err)
		}
		return f
	}
	take := func(state, browser string) (catalog.SignIn, bool) {
		t.Helper()
		f, found, err := db.Access().TakeSignIn(t.Context(), state, browser)
		if err != nil {
			t.Fatal(err)
		}
		return f, found
	}
	want := begin("1")
	for _, other := range [][2]string{{"1", "b2"}, {"2", "b1"}, {"1", ""}, {"", "b1"}} {
		if _, found := take(other[0], other[1]); found {
			t.Errorf("found by %q", other)
		}
	}
	if got, found := take("1", "b1"); !found || got != want {
		t.Errorf("%+v %v, want %+v", got, found, want)
	}
	if _, found := take("1", "b1"); found {
		t.Error("found twice")
	}
	begin("2")
	now = now.Add(10 * time.Minute)
	if _, found := take("2", "b2"); found {
		t.Error("one that ended is found")
	}
	begin("3")
	err := db.writeTokens(t.Context(), func(s *sqldb.Session) error {
		for i := range 10_000 {
			if err := s.Do(t.Context(), `INSERT INTO sign_ins (hash, browser, provider, verifier, nonce, next, expires_at) VALUES ($1, $1, 'gh', '', '', '', $2)`, []byte(fmt.Sprint(i)), now.Add(time.Hour).UnixMicro()); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	begin("4")
	var n int64
	read(t, db, func(ctx context.Context, s *Snapshot) error {
		_, err := s.s.First(ctx, `SELECT COUNT(*) FROM sign_ins`, nil, &n)
		return err
	})
	if _, found := take("3", "b3"); found || n != 10_000 {
		t.Errorf("%d are on their way, the oldest is there: %v", n, found)
	}
	var secrets []string
	read(t, db, func(ctx context.Context, s *Snapshot) error {
		return s.s.Query(ctx, `SELECT hash, browser FROM sign_ins`, nil, func(scan sqldb.Scan) error {
			var hash, browser []byte
			err := scan(&hash, &browser)
			secrets = append(secrets, string(hash)+string(browser))
			return err
		})
	})
	if all := strings.Join(secrets, " "); strings.Contains(all, "b4") {
		t.Error("a secret is stored")
	}
}

// TestSignInTakenOnce: of many who take one sign-in at a time, one gets it. Time is the database's.
func TestSignInTakenOnce(t *testing.T) {
	t.Parallel()
	db := openOptions(t, filepath.Join(t.TempDir(), "t.db"), sqldb.Options{}) // by its own clock
	if err := db.Access().BeginSignIn(t.Context(), &catalog.SignIn{State: "s", Browser: "b", Provider: "gh"}, time.Minute); err != nil {
		t.Fatal(err)
	}
	var group errgroup.Group
	took := make(chan bool, 8)
	for range 8 {
		group.Go(func() error {
			_, found, err := db.Access().TakeSignIn(context.Background(), "s", "b")
			if found {
				took <- true
			}
			return err
		})
	}
	if err := group.Wait(); err != nil || len(took) != 1 {
		t.Errorf("%d took it: %v", len(took), err)
	}
}

// TestBlockedAccount: a blocked account does not sign in, its sessions end, and no other is made of it.
func TestBlockedAccount(t *testing.T) {
	t.Parallel()
	db := open(t)
	a := catalog.Account{Provider: "gh", Subject: "7", Name: "jana"}
	secret, created, err := db.Access().SignIn(t.Context(), &a, time.Hour)
	if err != nil || !created {
		t.Fatal(created, err)
	}
	if err := db.writeTokens(t.Context(), func(s *sqldb.Session) error {
		return s.Do(t.Context(), `UPDATE accounts SET blocked = 1 WHERE id = $1`, a.ID)
	}); err != nil {
		t.Fatal(err)
	}
	again := catalog.Account{Provider: "gh", Subject: "7", Name: "new"}
	if _, _, err := db.Access().SignIn(t.Context(), &again, time.Hour); !errors.Is(err, catalog.ErrConflict) {
		t.Errorf("signed in: %v", err)
	}
	read(t, db, func(ctx context.Context, s *Snapshot) error {
		_, found, err := s.Access().SessionToken(ctx, secret)
		list, lerr := s.Access().Accounts(ctx)
		if found || len(list) != 1 || list[0].Name != "jana" {
			t.Errorf("session %v, accounts %+v", found, list)
		}
		return errors.Join(err, lerr)
	})
}
