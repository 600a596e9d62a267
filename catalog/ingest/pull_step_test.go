package ingest_test

import (
	"context"
	"strings"
	"testing"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store"
	"github.com/repoglot/repoglot/testrepos"
)

// TestShownCommit: the commit that people are shown follows the head, in every
// way in which it moves.
func TestShownCommit(t *testing.T) {
	for _, history := range []catalog.History{{}, {Full: true}} {
		w, repo := app(t, catalog.ComponentSettings{History: history}, map[string]string{"po/cs.po": po("One", "Jedna")})
		want := func(path, text, message string) {
			t.Helper()
			repo.Commit(t, testrepos.Change{Message: message, Files: map[string]string{path: text}})
			w.Sync()
			w.Read(func(ctx context.Context, s *store.Snapshot) error {
				c, err := s.Component(ctx, "demo", "app")
				if err != nil {
					return err
				}
				got, err := s.HeadCommit(ctx, c.ID)
				switch {
				case got == nil:
					t.Errorf("%s: nothing is known of the head", path)
				case got.Hash != c.Head || got.Summary() != strings.SplitN(message, "\n", 2)[0] || got.Author == "" || got.CommitTime.IsZero() || strings.Contains(got.Message, "@"):
					t.Errorf("%s: %+v at %s", path, got, c.Head)
				}
				return err
			})
		}
		want("po/cs.po", po("One", "Jeden"), "A translation\n\nCo-authored-by: Jane <jane@example.org>")
		want("README", "read me", "No file of ours")
	}
}
