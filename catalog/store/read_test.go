package store

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// More readers than sessions wait for their turn; no goroutine is left.
func TestReadersWait(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	db, err := Open(context.Background(), filepath.Join(t.TempDir(), "x.db"), Options{Readers: 2})
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
