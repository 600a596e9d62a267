package store

import (
	"context"
	"net"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgconn/ctxwatch"

	"github.com/repoglot/repoglot/catalog/store/internal/sqldb"
	"github.com/repoglot/repoglot/catalog/store/pgtest"
)

// TestUnheard: a connection that waits for long is ended when the server does nothing
// for it twice in a row, and no other.
func TestUnheard(t *testing.T) {
	t.Parallel()
	here, there := net.Pipe()
	defer there.Close()
	u := sqldb.Unheard{Conns: map[*sqldb.HeardConn]bool{}}
	c := &sqldb.HeardConn{Conn: here, Of: &u, PID: 7}
	u.Conns[c] = true
	ended := make(chan error, 1)
	go func() {
		_, err := c.Read(make([]byte, 1))
		ended <- err
	}()
	for c.Since.Load() == 0 {
		runtime.Gosched()
	}
	late := time.Now().Add(sqldb.MaxUnanswered)
	asked := 0
	look := func(at time.Time, works bool, err error) {
		u.Look(t.Context(), at, func(_ context.Context, pid uint32) (bool, error) {
			if asked++; pid != 7 {
				t.Errorf("asked about %d", pid)
			}
			return works, err
		})
	}
	look(time.Now(), false, nil)
	if asked != 0 {
		t.Error("asked at once")
	}
	for _, works := range []bool{false, true, false} {
		look(late, works, nil)
	}
	look(late, false, context.DeadlineExceeded)
	if !u.Conns[c] || asked != 4 {
		t.Fatalf("ended, or not asked about: %d", asked)
	}
	look(late, false, nil)
	if err := <-ended; err == nil || u.Conns[c] {
		t.Errorf("not ended: %v", err)
	}
	other := sqldb.HeardConn{Of: &u}
	if other.Heard.Store(u.Since.Load() - 1); !other.InDoubt() {
		t.Error("one that was not heard since then is not in doubt")
	}
	if other.Heard.Store(u.Since.Load()); other.InDoubt() {
		t.Error("one that was heard since then is in doubt")
	}
}

// waits reports whether a connection waits for the server.
func waits(u *sqldb.Unheard) bool {
	u.Mu.Lock()
	defer u.Mu.Unlock()
	for c := range u.Conns {
		if c.Since.Load() != 0 {
			return true
		}
	}
	return false
}

// TestLostTogether: when one connection is found lost, all others that were lost with it
// are replaced, and not waited for.
func TestLostTogether(t *testing.T) {
	pgtest.PostgresOnly(t, "a file has no connections")
	proxy := pgtest.NewProxy(t, database(t, filepath.Join(t.TempDir(), "x.db")), nil)
	const readers = 3
	db, err := Open(t.Context(), proxy.DSN, sqldb.Options{Readers: readers})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	engine := db.sql.Engine.(*sqldb.Postgres)
	engine.Unheard.Close() // a statement that ends finds the first one
	config := engine.Reads
	wait := config.BuildContextWatcherHandler
	config.BuildContextWatcherHandler = func(conn *pgconn.PgConn) ctxwatch.Handler {
		h := wait(conn).(*pgconn.CancelRequestContextWatcherHandler)
		h.DeadlineDelay = time.Millisecond
		return h
	}
	configure(t, db, "app")
	proxy.Cut() // all connections get the short delay
	proxy.Restore()
	for range readers {
		if err := db.Refresh(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Configure(t.Context(), projectsNamed("demo"), nil, nil); err != nil {
		t.Fatal(err)
	}
	proxy.Lose()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- db.Refresh(ctx) }()
	for !waits(&engine.Unheard) {
		runtime.Gosched()
	}
	cancel()
	if err := <-ended; err == nil {
		t.Fatal("nothing was lost: the test shows nothing")
	}
	for range readers {
		if err := within(t.Context(), db.Refresh); err != nil {
			t.Error(err)
		}
	}
	if err := within(t.Context(), func(ctx context.Context) error {
		return db.Configure(ctx, projectsNamed("demo", "more"), nil, nil)
	}); err != nil {
		t.Error(err)
	}
}
