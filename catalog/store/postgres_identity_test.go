package store

import (
	"context"
	"net/url"
	"path/filepath"
	"testing"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store/internal/sqldb"
	"github.com/repoglot/repoglot/catalog/store/pgtest"
)

// TestFailover: where a standby was promoted, which lacks what processes and clients have
// seen, the history has another name, and no process takes what it knew for what is
// stored. Processes that start again on the same server change nothing. The promotion is
// played by a function that shadows the one of PostgreSQL, and the loss by statements.
func TestFailover(t *testing.T) {
	pgtest.PostgresOnly(t, "SQLite has no standby")
	dsn := database(t, filepath.Join(t.TempDir(), "x.db"))
	u, err := url.Parse(dsn)
	if err != nil {
		t.Fatal(err)
	}
	q := u.Query()
	q.Set("search_path", q.Get("search_path")+",pg_catalog")
	u.RawQuery = q.Encode()
	timeline := func(n string) {
		pgtest.Run(t, u.String(), `CREATE OR REPLACE FUNCTION pg_walfile_name(pg_lsn) RETURNS TEXT LANGUAGE SQL AS $$ SELECT '`+n+`000000010000000A' $$`)
	}
	timeline("00000001")
	proxy := newProxy(t, u.String(), nil)
	var processes [2]*DB
	for i := range processes {
		if processes[i], err = Open(t.Context(), proxy.DSN, sqldb.Options{}); err != nil {
			t.Fatal(err)
		}
		defer processes[i].Close()
	}
	one, two := processes[0], processes[1]
	follow := func() {
		t.Helper()
		for _, db := range processes {
			_ = db.Refresh(t.Context()) // connects
			if err := db.followServer(t.Context()); err != nil {
				t.Fatal(err)
			}
			if err := db.Refresh(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
	problems := func(db *DB) (list []string) {
		t.Helper()
		read(t, db, func(ctx context.Context, s *Snapshot) error {
			rows, err := s.Components(ctx, "")
			for i := range rows {
				list = append(list, rows[i].Problem.Words)
			}
			return err
		})
		return list
	}
	configure(t, one, "app")
	follow()
	before := one.Position(new(catalog.Token))
	proxy.Cut()
	proxy.Restore()
	follow()
	if got := two.Position(new(catalog.Token)); got != before {
		t.Errorf("on the same server: %+v, want %+v", got, before)
	}
	pgtest.Run(t, dsn, `UPDATE clock SET generation = generation + 5; UPDATE components SET generation = generation + 5, problem = 'lost'`)
	follow()
	if got := problems(two); len(got) != 1 || got[0] != "lost" {
		t.Fatalf("%q: the test shows nothing", got)
	}
	proxy.Cut()
	pgtest.Run(t, dsn, `UPDATE clock SET generation = generation - 5; UPDATE components SET generation = generation - 5, problem = ''`)
	timeline("00000002")
	proxy.Restore()
	follow()
	after := one.Position(new(catalog.Token))
	if after.History == before.History || after.Generation <= before.Generation+5 || two.Position(new(catalog.Token)) != after {
		t.Errorf("after a failover: %+v, before %+v", after, before)
	}
	for _, db := range processes {
		if got := problems(db); len(got) != 1 || got[0] != "" {
			t.Errorf("components that were lost are shown: %q", got)
		}
	}
}
