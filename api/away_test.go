package api_test

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/repoglot/repoglot/api"
	"github.com/repoglot/repoglot/catalog/store"
	"github.com/repoglot/repoglot/catalog/store/pgtest"
)

// TestDatabaseAway: while the database is away, kept answers are given for two seconds to
// clients without a token. Everything else is 503 with Retry-After, and the same server
// goes on when the database is back.
func TestDatabaseAway(t *testing.T) {
	t.Parallel()
	pgtest.PostgresOnly(t, "a file does not go away")
	w := newGenerationWorld(t)
	dsn, err := url.Parse(w.Database())
	if err != nil {
		t.Fatal(err)
	}
	role := fmt.Sprint("away_", os.Getpid())
	dsn.User = url.UserPassword(role, role)
	pgtest.Run(t, w.Database(), `CREATE ROLE `+role+` LOGIN PASSWORD '`+role+`'; DO $$ BEGIN EXECUTE format('GRANT %I TO `+role+`', current_user); END $$`)
	t.Cleanup(func() { pgtest.Run(t, w.Database(), `DROP ROLE `+role) })
	now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	clock := func() time.Time { return now }
	db, err := store.Open(t.Context(), dsn.String(), store.Options{Now: clock})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	h := api.New(api.Options{DB: db, Languages: w.Languages, Now: clock, CacheBytes: 1 << 20})
	kept := ask(h, generationTarget)
	token := []string{"Authorization", "Token " + w.token}
	if a := ask(h, generationTarget, token...); a.Code != http.StatusOK {
		t.Fatal(a.Code)
	}
	pgtest.Run(t, w.Database(), `ALTER ROLE `+role+` CONNECTION LIMIT 0; SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE usename = '`+role+`'`)
	if a := ask(h, generationTarget); a.Code != http.StatusOK || a.Body.String() != kept.Body.String() {
		t.Errorf("%d %s", a.Code, a.Body)
	}
	for _, header := range [][]string{
		token, {token[0], token[1], "If-None-Match", kept.Header().Get("ETag")}, {"Authorization", "Token unknown"}, {"Cookie", "session=" + strings.Repeat("A", 26)},
	} {
		refused(t, ask(h, generationTarget, header...))
	}
	refused(t, ask(h, "/api/projects/"))
	refused(t, ask(h, "/projects/demo/", "Accept", "text/html"))
	now = now.Add(3 * time.Second)
	refused(t, ask(h, generationTarget))
	pgtest.Run(t, w.Database(), `ALTER ROLE `+role+` CONNECTION LIMIT -1`)
	now = now.Add(time.Second) // nobody asks for a connection again before
	for _, a := range [][]string{nil, token} {
		if a := ask(h, generationTarget, a...); a.Code != http.StatusOK || !strings.Contains(a.Body.String(), "Ahoj") {
			t.Errorf("afterwards: %d %s", a.Code, a.Body)
		}
	}
}

// TestChangedSchema: a column that changes while sessions have prepared statements is no
// error for clients.
func TestChangedSchema(t *testing.T) {
	t.Parallel()
	pgtest.PostgresOnly(t, "SQLite prepares statements again by itself")
	w := newGenerationWorld(t)
	const readers = 3
	db, err := store.Open(t.Context(), w.Database(), store.Options{Readers: readers})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	h := api.New(api.Options{DB: db, Languages: w.Languages, Now: differenceNow})
	var all, reading sync.WaitGroup
	reading.Add(readers)
	for range readers { // each session prepares
		all.Go(func() {
			if err := db.Read(context.Background(), func(ctx context.Context, s *store.Snapshot) error {
				reading.Done()
				reading.Wait()
				_, err := s.Project(ctx, "demo")
				return err
			}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	pgtest.Run(t, w.Database(), "ALTER TABLE projects ALTER COLUMN changes TYPE INTEGER")
	for range 2 * readers {
		if a := ask(h, "/api/projects/demo/"); a.Code != http.StatusOK {
			t.Errorf("%d %s", a.Code, a.Body)
		}
	}
}
