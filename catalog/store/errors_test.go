package store

import (
	"context"
	"database/sql"
	"errors"
	"testing"

	"github.com/repoglot/repoglot/catalog"
)

// Errors that callers react to keep their sentinel; errors of the driver do not
// leave the package.
func TestErrorsStayInside(t *testing.T) {
	db := openWith(t, "app")
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := db.Read(ctx, func(context.Context, *Snapshot) error { return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want cancelled", err)
	}
	if err := db.Read(context.Background(), func(context.Context, *Snapshot) error { return errBoom }); err != errBoom {
		t.Errorf("%v, want the function's own error", err)
	}
	read(t, db, func(ctx context.Context, s *Snapshot) error {
		_, e1 := s.Project(ctx, "x")
		_, e2 := s.Component(ctx, "demo", "x")
		_, e3 := s.Translation(ctx, "demo", "app", "x")
		_, e4 := s.Unit(ctx, 7)
		_, e5 := s.Change(ctx, 0)
		_, e6 := s.File(ctx, 7)
		_, e7 := s.User(ctx, "x")
		for i, err := range []error{e1, e2, e3, e4, e5, e6, e7} {
			if !errors.Is(err, catalog.ErrNotFound) || errors.Is(err, sql.ErrNoRows) {
				t.Errorf("read %d: %v, want ErrNotFound", i+1, err)
			}
		}
		return nil
	})
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	err := db.Read(context.Background(), func(context.Context, *Snapshot) error { return nil })
	if err == nil || errors.Is(err, sql.ErrConnDone) {
		t.Errorf("after Close: %v", err)
	}
	if _, err := db.Step(context.Background(), info(0, 1, 1), nothing); err == nil {
		t.Error("a step after Close")
	}
	if err := db.Close(); err != nil {
		t.Errorf("second Close: %v", err)
	}
}
