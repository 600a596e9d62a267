package store

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/repoglot/repoglot/catalog/store/internal/files"
	"github.com/repoglot/repoglot/catalog/store/internal/sqldb"
	"github.com/repoglot/repoglot/catalog/store/pgtest"
)

// More readers than sessions wait for their turn; no goroutine is left.
func TestReadersWait(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	db, err := Open(context.Background(), database(t, filepath.Join(t.TempDir(), "x.db")), sqldb.Options{Readers: 2})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	read(t, db, func(context.Context, *Snapshot) error {
		read(t, db, func(context.Context, *Snapshot) error {
			ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
			defer cancel()
			err := db.Read(ctx, func(context.Context, *Snapshot) error { return nil })
			if !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("a third reader: %v", err)
			}
			return nil
		})
		return nil
	})
	read(t, db, func(context.Context, *Snapshot) error { return nil })
}

// A snapshot shows one state however long it lasts.
func TestSnapshotIsolation(t *testing.T) {
	db := openWith(t, "app")
	read(t, db, func(ctx context.Context, s *Snapshot) error {
		before, err := s.Generation(ctx)
		if err != nil {
			return err
		}
		step(t, db, info(0, 1, 1), writeAll)
		after, err := s.Generation(ctx)
		c, err2 := s.Component(ctx, "demo", "app")
		if after != before || c.Imported || c.Head != "" {
			t.Errorf("generation %d became %d, component %+v", before, after, c)
		}
		return errors.Join(err, err2)
	})
}

// noise fills the log with bytes that cannot be compressed.
func noise(t *testing.T, db *DB, from, to int, size int) {
	t.Helper()
	data := make([]byte, size)
	random := rand.NewChaCha8([32]byte{byte(to)})
	_, _ = random.Read(data)
	step(t, db, info(from, to, 1), func(ctx context.Context, tx *StepTx) error {
		id, _, err := fill(ctx, tx, 1, []string{"", "en", "cs"}[to], 10, nil)
		if err != nil {
			return err
		}
		return tx.PutFile(ctx, files.File{TranslationID: id, Blob: head(to), Data: data})
	})
}

// TestLongRead: a read that lasts sees one state and does not hold up steps, whose
// checkpoint is made up for when it has ended.
func TestLongRead(t *testing.T) {
	pgtest.SQLiteOnly(t, "it is about the write-ahead log")
	path := filepath.Join(t.TempDir(), "long.db")
	db := openAt(t, path)
	configure(t, db, "app")
	read(t, db, func(ctx context.Context, s *Snapshot) error {
		before, err := s.Generation(ctx)
		if err != nil {
			return err
		}
		begun := time.Now()
		noise(t, db, 0, 1, sqldb.CheckpointAbove+1<<20)
		if took := time.Since(begun); took > 8*time.Second { // a commit that waits does so for ten
			t.Errorf("the step took %v beside a read", took)
		}
		if after, err := s.Generation(ctx); err != nil || after != before {
			t.Errorf("generation %d, then %d: %v", before, after, err)
		}
		if wal, err := os.Stat(path + "-wal"); err != nil || wal.Size() < sqldb.CheckpointAbove {
			t.Errorf("the log meanwhile: %v, %v; want it there", wal, err)
		}
		return nil
	})
	db.sql.Engine.CatchUp(t.Context())
	if wal, err := os.Stat(path + "-wal"); err != nil || wal.Size() != 0 {
		t.Errorf("the log after the read: %v, %v; want it empty", wal, err)
	}
}

// TestCheckpointBackoff: after a failed checkpoint, which a snapshot of another
// process may cause, not every later commit waits.
func TestCheckpointBackoff(t *testing.T) {
	pgtest.SQLiteOnly(t, "it is about the write-ahead log")
	path := filepath.Join(t.TempDir(), "fold.db")
	db, err := Open(t.Context(), database(t, path), sqldb.Options{BusyTimeout: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	configure(t, db, "app")
	err = db.Read(t.Context(), func(ctx context.Context, s *Snapshot) error {
		if _, err := s.Generation(ctx); err != nil {
			return err
		}
		noise(t, db, 0, 1, sqldb.CheckpointAbove+1<<20)
		if at := db.sql.Engine.(*sqldb.SQLite).CheckpointAt.Load(); at < 2*sqldb.CheckpointAbove {
			t.Errorf("the next fold is due at %d bytes", at)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	noise(t, db, 1, 2, sqldb.CheckpointAbove)
	if wal, err := os.Stat(path + "-wal"); err != nil || wal.Size() != 0 || db.sql.Engine.(*sqldb.SQLite).CheckpointAt.Load() != sqldb.CheckpointAbove {
		t.Errorf("the log after the read: %v, %v; want it empty", wal, err)
	}
}
