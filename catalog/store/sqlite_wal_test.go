package store

import (
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"testing"
)

// A long write-ahead log is written into the database after the commit, although a
// reader was in the way of SQLite's own checkpoint.
func TestCheckpoint(t *testing.T) {
	path := filepath.Join(t.TempDir(), "fold.db")
	db := openAt(t, path)
	configure(t, db, "app")
	noise := make([]byte, checkpointAbove+1<<20) // does not compress
	random := rand.NewChaCha8([32]byte{1})
	_, _ = random.Read(noise)

	reading, committed, done := make(chan struct{}), make(chan struct{}), make(chan error)
	go func() {
		done <- db.Read(context.Background(), func(ctx context.Context, s *Snapshot) error {
			if _, err := s.Generation(ctx); err != nil {
				return err
			}
			close(reading)
			<-committed
			_, err := s.Generation(ctx)
			return err
		})
	}()
	<-reading
	if err := beforeCommit(db, sync.OnceFunc(func() { close(committed) })); err != nil {
		t.Fatal(err)
	}
	step(t, db, info(0, 1, 1), func(ctx context.Context, tx *StepTx) error {
		id, _, err := fill(ctx, tx, 1, "en", 10, nil)
		if err != nil {
			return err
		}
		return tx.PutFile(ctx, File{TranslationID: id, Blob: head(5), Data: noise})
	})
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if wal, err := os.Stat(path + "-wal"); err != nil || wal.Size() != 0 {
		t.Errorf("the log after the step: %v, %v; want it empty", wal, err)
	}
	if file, err := os.Stat(path); err != nil || file.Size() < checkpointAbove {
		t.Errorf("the database after the step: %v, %v; want all in it", file, err)
	}
	step(t, db, info(1, 2, 1), nothing)
}
