package store

import (
	"context"
	"database/sql/driver"
	"strings"
	"testing"
)

// A test that panics ends its search with an error. The process goes on, and the
// connection stays usable.
func TestSearchPanics(t *testing.T) {
	db := open(t)
	first, release := db.searches.predicates.register([]predicate{{row: func([]driver.Value) bool { panic("of a test") }}})
	defer release()
	for range 2 {
		if err := db.Read(t.Context(), func(ctx context.Context, s *Snapshot) error {
			var n int64
			_, err := s.s.first(ctx, `SELECT search_text($1, 'x')`, []any{first}, &n)
			return err
		}); err == nil || !strings.Contains(err.Error(), "panic: of a test") {
			t.Errorf("a test that panics: %v", err)
		}
	}
	if err := recovering(func() error { panic("of a helper") }); err == nil || !strings.HasPrefix(err.Error(), "panic: of a helper\n") {
		t.Errorf("a helper that panics: %v", err)
	}
}
