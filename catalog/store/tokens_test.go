package store

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store/internal/sqldb"
)

// TestTokens: a token ends at its end; its use is stored once a day; what was done with
// tokens stays.
func TestTokens(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	db := openOptions(t, filepath.Join(t.TempDir(), "t.db"), sqldb.Options{Now: func() time.Time { return now }})
	create := func(name string, expires time.Time) string {
		t.Helper()
		secret, err := db.Access().CreateToken(t.Context(), catalog.Token{Name: name, Scope: catalog.ScopeRead, Created: now, Expires: expires})
		if err != nil {
			t.Fatal(err)
		}
		return secret
	}
	forever, short := create("forever", time.Time{}), create("short", now.Add(time.Hour))
	if _, err := db.Access().CreateToken(t.Context(), catalog.Token{Name: "past", Scope: catalog.ScopeRead, Created: now, Expires: now}); !errors.Is(err, catalog.ErrInvalid) {
		t.Errorf("a token that ends when it begins: %v", err)
	}
	for _, bad := range []catalog.Token{
		{Name: "languages", Scope: catalog.ScopeRead, Languages: "cs", Created: now},
		{Name: "projects", Scope: catalog.ScopeRead, Projects: catalog.NameList(strings.Repeat("p ", 8<<10)), Created: now},
	} {
		if _, err := db.Access().CreateToken(t.Context(), bad); !errors.Is(err, catalog.ErrInvalid) {
			t.Errorf("a token of %.20s%s: %v", bad.Projects, bad.Languages, err)
		}
	}
	scoped := catalog.Token{Name: "scoped", Scope: catalog.ScopeWrite, Projects: catalog.Names("b", "a", "b"), Languages: catalog.Names("cs"), Created: now}
	of, err := db.Access().CreateToken(t.Context(), scoped)
	if err != nil {
		t.Fatal(err)
	}
	find := func(secret string) (got catalog.Token, found bool) {
		t.Helper()
		read(t, db, func(ctx context.Context, s *Snapshot) error {
			var any bool
			got, found, any, err = s.Access().Token(ctx, secret)
			_, exists, eerr := s.Access().TokenByID(ctx, max(got.ID, 2))
			if !any || found && !exists {
				t.Errorf("any %v, exists %v", any, exists)
			}
			return errors.Join(err, eerr)
		})
		return got, found
	}
	for _, secret := range []string{forever, short} {
		if _, found := find(secret); !found {
			t.Error("a good token is not found")
		}
	}
	if scoped.ID = 3; scoped.Projects != "a b" {
		t.Errorf("projects %q", scoped.Projects)
	}
	if got, _ := find(of); got != scoped {
		t.Errorf("%+v, want %+v", got, scoped)
	}
	for range 2 {
		before, _ := find(forever)
		if err := db.Access().UseToken(t.Context(), before); err != nil {
			t.Fatal(err)
		}
		if got, _ := find(forever); got.Used != time.Date(2026, 3, 4, 0, 0, 0, 0, time.UTC) {
			t.Errorf("used %v", got.Used)
		}
	}
	now = now.Add(time.Hour)
	if _, found := find(short); found {
		t.Error("a token that ended is found")
	}
	read(t, db, func(ctx context.Context, s *Snapshot) error {
		if _, exists, err := s.Access().TokenByID(ctx, 2); exists || err != nil {
			t.Errorf("a token that ended exists: %v", err)
		}
		return nil
	})
	if err := errors.Join(db.Access().RevokeToken(t.Context(), "short", now), db.Access().RevokeToken(t.Context(), "forever", now)); err != nil {
		t.Fatal(err)
	}
	read(t, db, func(ctx context.Context, s *Snapshot) error {
		list, err := s.Access().TokenEvents(ctx)
		var got []string
		for _, e := range list {
			got = append(got, e.At.Format(time.TimeOnly)+" "+e.Event+" "+e.Token.Name)
			if e.Token.Name == scoped.Name && (e.Token.Projects != scoped.Projects || e.Token.Languages != scoped.Languages) {
				t.Errorf("an event of %+v", e.Token)
			}
		}
		want := []string{"05:06:07 created forever", "05:06:07 created short", "05:06:07 created scoped", "06:06:07 revoked short", "06:06:07 revoked forever"}
		if len(got) != len(want) {
			t.Fatalf("%q", got)
		}
		for i := range want {
			if got[i] != want[i] {
				t.Errorf("%q, want %q", got[i], want[i])
			}
		}
		return err
	})
}
