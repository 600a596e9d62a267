package store

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store/internal/sqldb"
)

// TestSessions: a session has the token with which it began, until it expires, it is
// ended, its token ends or is revoked, or the token has too many.
func TestSessions(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	db := openOptions(t, filepath.Join(t.TempDir(), "t.db"), sqldb.Options{Now: func() time.Time { return now }})
	for id, token := range []catalog.Token{{Name: "forever"}, {Name: "short", Expires: now.Add(time.Hour)}} {
		token.Scope, token.Created = catalog.ScopeRead, now
		if _, err := db.Access().CreateToken(t.Context(), token); err != nil {
			t.Fatal(id, err)
		}
	}
	const forever, short = 1, 2
	begin := func(token int64) string {
		t.Helper()
		secret, err := db.Access().CreateSession(t.Context(), token, 24*time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		return secret
	}
	want := func(secret string, token int64) {
		t.Helper()
		read(t, db, func(ctx context.Context, s *Snapshot) error {
			got, found, err := s.Access().SessionToken(ctx, secret)
			if found != (token != 0) || found && got.ID != token {
				t.Errorf("token %d, found %v, want %d", got.ID, found, token)
			}
			return err
		})
	}
	one, two, brief := begin(forever), begin(forever), begin(short)
	want(one, forever)
	want(two, forever)
	want(brief, short)
	want("", 0)
	want(one+"x", 0)
	if err := errors.Join(db.Access().EndSession(t.Context(), one), db.Access().EndSession(t.Context(), one)); err != nil {
		t.Error(err)
	}
	want(one, 0)
	want(two, forever)
	now = now.Add(time.Hour)
	want(brief, 0) // its token has ended
	now = now.Add(23 * time.Hour)
	want(two, 0)
	three := begin(forever)
	if err := db.Access().RevokeToken(t.Context(), "forever", now); err != nil {
		t.Fatal(err)
	}
	want(three, 0)
	if _, err := db.Access().CreateSession(t.Context(), forever, time.Hour); !errors.Is(err, catalog.ErrNotFound) {
		t.Errorf("a session of a token that was revoked: %v", err)
	}
	now = now.Add(-24 * time.Hour)
	first := begin(short)
	for range 100 {
		now = now.Add(time.Second)
		begin(short)
	}
	want(first, 0)
}

// TestTokensBesideSteps: somebody signs in, and a token is made and revoked, while another
// process imports.
func TestTokensBesideSteps(t *testing.T) {
	one, two := clusterOf(t)
	configure(t, one, "app")
	step(t, one, info(0, 1, 1), func(ctx context.Context, _ *StepTx) error {
		secret, err := two.Access().CreateToken(ctx, catalog.Token{Name: "new", Scope: catalog.ScopeRead, Created: day(1)})
		if err != nil {
			return err
		}
		var token catalog.Token
		read(t, two, func(ctx context.Context, s *Snapshot) (err error) {
			token, _, _, err = s.Access().Token(ctx, secret)
			return err
		})
		session, err := two.Access().CreateSession(ctx, token.ID, time.Hour)
		if err != nil {
			return err
		}
		return errors.Join(two.Access().EndSession(ctx, session), two.Access().RevokeToken(ctx, "new", day(1)))
	})
}
