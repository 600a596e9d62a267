package store

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"net"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store/internal/sqldb"
	"github.com/repoglot/repoglot/catalog/store/pgtest"
)

// TestAway: while the server is away everything is ErrUnavailable; once it is back the
// same handle goes on.
func TestAway(t *testing.T) {
	pgtest.PostgresOnly(t, "a file does not go away")
	now := day(1)
	proxy := newProxy(t, database(t, filepath.Join(t.TempDir(), "x.db")), nil)
	db, err := Open(t.Context(), proxy.DSN, sqldb.Options{Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	configure(t, db, "app")
	for round := range 3 {
		read(t, db, func(ctx context.Context, s *Snapshot) error {
			list, err := s.Components(ctx, "")
			if err == nil && len(list) != 1 {
				t.Errorf("%d components", len(list))
			}
			return err
		})
		step(t, db, info(round, round+1, 1), nothing)
		proxy.Cut()
		for range 3 {
			if err := db.Refresh(t.Context()); !errors.Is(err, sqldb.ErrUnavailable) {
				t.Errorf("reading: %v", err)
			}
			if err := db.Configure(t.Context(), nil, nil, nil); !errors.Is(err, sqldb.ErrUnavailable) {
				t.Errorf("writing: %v", err)
			}
		}
		if !db.Reached() {
			t.Error("kept answers end at once")
		}
		now = now.Add(reachedLately + 1)
		if db.Reached() {
			t.Error("kept answers are given")
		}
		proxy.Restore()
		if err := db.Refresh(t.Context()); err != nil || !db.Reached() {
			t.Error(err)
		}
	}
}

// TestRefused: what cannot work is said when the database is opened.
func TestRefused(t *testing.T) {
	pgtest.PostgresOnly(t, "it is about its addresses and settings")
	dsn := database(t, filepath.Join(t.TempDir(), "x.db"))
	refused := func(dsn string, opts sqldb.Options, want string) {
		t.Helper()
		db, err := Open(t.Context(), dsn, opts)
		if err == nil {
			_ = db.Close()
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	refused(dsn, sqldb.Options{Readers: 1000}, "raise max_connections, or lower database_readers")
	pooler := newProxy(t, dsn, answering(func(data []byte) []byte { // gives keys of its own
		key := append([]byte{'K'}, binary.BigEndian.AppendUint32(nil, 12)...)
		if i := bytes.Index(data, key); i >= 0 && len(data) > i+8 {
			data[i+8] ^= 1
		}
		return data
	}))
	refused(pooler.DSN, sqldb.Options{}, "pooler")
	pgbouncer := newProxy(t, dsn, answering(func([]byte) []byte {
		fields := "SFATAL\x00VFATAL\x00C08P01\x00Munsupported startup parameter: lock_timeout\x00\x00"
		return append(binary.BigEndian.AppendUint32([]byte{'E'}, uint32(len(fields)+4)), fields...)
	}))
	refused(pgbouncer.DSN, sqldb.Options{}, "pooler")
	pgtest.Run(t, dsn, "CREATE DATABASE latin ENCODING 'LATIN1' LOCALE_PROVIDER libc LOCALE 'C' TEMPLATE template0")
	defer pgtest.Run(t, dsn, "DROP DATABASE latin")
	u, err := url.Parse(dsn)
	if err != nil {
		t.Fatal(err)
	}
	u.Path = "/latin"
	refused(u.String(), sqldb.Options{}, "ENCODING 'UTF8'")
}

// answering is a connection to which what a server sends is changed.
func answering(change func([]byte) []byte) func(net.Conn) net.Conn {
	return func(c net.Conn) net.Conn { return changedConn{c, change} }
}

type changedConn struct {
	net.Conn
	change func([]byte) []byte
}

func (c changedConn) Write(data []byte) (int, error) {
	_, err := c.Conn.Write(c.change(data))
	return len(data), err
}

// TestExplainCode: errors of the server have a remedy, and say whether the operation can be
// repeated.
func TestExplainCode(t *testing.T) {
	for code, want := range map[string]struct {
		text     string
		sentinel error
	}{
		"53300": {"too few connections (said): raise max_connections, or lower database_readers", sqldb.ErrUnavailable},
		"53100": {"free some space", sqldb.ErrFull},
		"40001": {"try again", sqldb.ErrAgain},
		"40P01": {"try again", sqldb.ErrAgain},
		"55P03": {"another process is writing", sqldb.ErrWriting},
		"57P01": {"said: try again", sqldb.ErrUnavailable}, // the server ends
		"57P03": {"said: try again", sqldb.ErrUnavailable}, // it starts
		"25P03": {"said: try again", sqldb.ErrUnavailable}, // a transaction was idle for too long
		"25006": {"read-only", sqldb.ErrUnavailable},
		"28P01": {"check user and password", nil},
		"3D000": {"said: create it", nil},
		"42501": {"own the schema", nil},
		"23505": {"contradicts what is stored", catalog.ErrConflict},
		"42601": {"said (42601)", nil},
	} {
		text, sentinel := sqldb.ExplainCode(&pgconn.PgError{Code: code, Message: "said"})
		if !strings.Contains(text, want.text) || sentinel != want.sentinel {
			t.Errorf("%s: %q, %v", code, text, sentinel)
		}
	}
}

// TestChangedSchema: statements that were prepared before a column changed fail once
// with ErrAgain.
func TestChangedSchema(t *testing.T) {
	pgtest.PostgresOnly(t, "it is about plans that a server keeps")
	dsn := database(t, filepath.Join(t.TempDir(), "x.db"))
	db, err := Open(t.Context(), dsn, sqldb.Options{Readers: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	configure(t, db, "app")
	show := func() error {
		return db.Read(t.Context(), func(ctx context.Context, s *Snapshot) error {
			_, err := s.Project(ctx, "demo")
			return err
		})
	}
	if err := show(); err != nil {
		t.Fatal(err)
	}
	pgtest.Run(t, dsn, "ALTER TABLE projects ALTER COLUMN changes TYPE INTEGER")
	if err := show(); !errors.Is(err, sqldb.ErrAgain) || !errors.Is(err, sqldb.ErrUnavailable) {
		t.Errorf("%v: the test shows nothing", err)
	}
	if err := show(); err != nil {
		t.Error(err)
	}
	if err := db.Configure(t.Context(), projectsNamed("demo", "more"), nil, nil); err != nil {
		t.Error(err)
	}
}

// TestWriteAgain: a deadlock is repeated, and not without end.
func TestWriteAgain(t *testing.T) {
	pgtest.PostgresOnly(t, "SQLite has one writer")
	db := openWith(t, "app")
	for _, c := range []struct{ failures, runs int }{{0, 1}, {2, 3}, {100, maxAttempts}} {
		runs := 0
		err := db.write(t.Context(), func(*sqldb.Session) error {
			if runs++; runs <= c.failures {
				return &pgconn.PgError{Code: "40P01"}
			}
			return nil
		})
		if runs != c.runs || (err != nil) != (c.failures > maxAttempts) {
			t.Errorf("%d failures: %d runs, %v", c.failures, runs, err)
		}
	}
}
