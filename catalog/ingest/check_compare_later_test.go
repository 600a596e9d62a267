package ingest_test

import (
	"log/slog"
	"testing"
	"time"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/catalogtest"
	"github.com/repoglot/repoglot/catalog/ingest"
)

// TestProgressUnchecked: while a component is stored whose checks run later, the
// progress of the pull says so.
func TestProgressUnchecked(t *testing.T) {
	repo := repoWith(t, map[string]string{"a/de.po": po("Hello.", "Hallo"), "b/de.po": po("Hello.", "Hallo")})
	for name, history := range map[string]catalog.History{"import": {}, "replay": {Full: true}} {
		t.Run(name, func(t *testing.T) {
			w := catalogtest.NewPuller(t, repo.URL(), map[string]catalog.ComponentSettings{
				"a": {Filemask: "a/*.po", History: history}, "b": {Filemask: "b/*.po", History: history},
			})
			unchecked := func() (n int) {
				w.EachUnit(func(c *catalog.Component, tr *catalog.Translation, u *catalog.Unit) {
					if c.Imported && !tr.IsSource && len(catalogtest.FailingNames(u)) == 0 {
						n++
					}
				})
				return n
			}
			said := 0
			w.Syncer = ingest.New(ingest.Options{
				DB: w.DB, Languages: w.Languages, MirrorDir: w.Mirrors(), Now: func() time.Time { return w.Clock },
				Logger: slog.New(slog.DiscardHandler),
				Progress: func(_ string, p ingest.Progress) {
					switch n := unchecked(); {
					case n > 0 && !p.Unchecked:
						t.Errorf("after %d of %d components %d units are not checked", p.Done, p.Total, n)
					case p.Unchecked:
						said++
					}
				},
			})
			w.Sync()
			if said == 0 || unchecked() != 0 {
				t.Errorf("%d reports say that something is unchecked; %d units are at the end", said, unchecked())
			}
		})
	}
}
