package ingest_test

import (
	"fmt"
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
					if c.Imported && !tr.IsSource && len(failingNames(u)) == 0 {
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

// An edit that comes between an import and the comparison has its translation compared at
// once; strings of others, which the import has kept, are compared with what it wrote.
func TestEditBeforeComparison(t *testing.T) {
	repo := repoWith(t, map[string]string{"a/cs.po": po("Hello.", "Ahoj."), "b/cs.po": po("Hello.", "Ahoj."), "c/cs.po": po("Hello.", "Ahoj.", "Other.", "Nic.")})
	settings := map[string]catalog.ComponentSettings{}
	for _, slug := range []string{"a", "b", "c"} {
		settings[slug] = catalog.ComponentSettings{Filemask: slug + "/*.po", AllowTranslationPropagation: true, Edits: catalog.Edits{Mode: catalog.PushDirect}}
	}
	w := catalogtest.NewPuller(t, repo.URL(), settings)
	edited := false
	failing := func() (list []string) {
		w.EachUnit(func(c *catalog.Component, tr *catalog.Translation, u *catalog.Unit) {
			if !tr.IsSource {
				list = append(list, fmt.Sprint(c.Slug, " ", u.Target, " ", failingNames(u)))
			}
		})
		return list
	}
	w.Progress = func() {
		if !edited && len(failing()) == 4 {
			edited = true
			must(t, w.Write("Hello.", catalog.StateTranslated, "Nazdar."))
		}
	}
	w.Sync()
	if !edited {
		t.Fatal("nothing was edited")
	}
	equal(t, []string{"a Ahoj. [inconsistent]", "b Ahoj. [inconsistent]", "c Nazdar. [inconsistent]", "c Nic. []"}, failing(), "failing checks")
	w.Verify()
}
