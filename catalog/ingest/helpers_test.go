package ingest_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/catalogtest"
	"github.com/repoglot/repoglot/catalog/store"
	"github.com/repoglot/repoglot/gitsource/gittest"
	"github.com/repoglot/repoglot/testrepos"
)

// The helpers of catalogtest by short names.
var (
	must               = gittest.Must
	po                 = catalogtest.PO
	equal              = catalogtest.Equal
	pullCommit         = (*catalogtest.Puller).Commit
	wantEntries        = (*catalogtest.Puller).WantEntries
	entriesLeadToUnits = (*catalogtest.Puller).EntriesLeadToUnits
)

// repoWith makes a repository with one commit.
func repoWith(t testing.TB, files map[string]string) *testrepos.Repo {
	t.Helper()
	repo := testrepos.Empty(t)
	repo.Commit(t, testrepos.Change{Files: files})
	return repo
}

// synced makes a store with components of a repository, and pulls them.
func synced(tb testing.TB, url string, components map[string]catalog.ComponentSettings) *catalogtest.Puller {
	tb.Helper()
	w := catalogtest.NewPuller(tb, url, components)
	w.Sync()
	return w
}

// cutAt pulls, and cancels the pull when it reports its n-th progress.
func cutAt(w *catalogtest.Puller, n int) {
	w.TB.Helper()
	ctx, cancel := context.WithCancel(w.TB.Context())
	defer cancel()
	w.Progress = func() {
		if n--; n == 0 {
			cancel()
		}
	}
	if _, err := w.Syncer.Sync(ctx, w.Branch); err == nil {
		w.TB.Fatal("the pull was not cut")
	}
	w.Progress = nil
}

// servedFiles lists the served translations of a component: language=file.
func servedFiles(w *catalogtest.Puller, component string) []string {
	var list []string
	w.Read(func(ctx context.Context, s *store.Snapshot) error {
		c, err := s.Component(ctx, "demo", component)
		if err != nil {
			return err
		}
		translations, err := s.Translations(ctx, c.ID)
		for _, t := range translations {
			list = append(list, t.Language+"="+t.Filename)
		}
		return err
	})
	return list
}

// servedFile is the stored content of the file of the first translation with a path.
func servedFile(w *catalogtest.Puller, component, path string) (content string) {
	w.Read(func(ctx context.Context, s *store.Snapshot) error {
		c, err := s.Component(ctx, "demo", component)
		if err != nil {
			return err
		}
		translations, err := s.Translations(ctx, c.ID)
		if i := slices.IndexFunc(translations, func(t catalog.Translation) bool { return t.Filename == path }); i >= 0 && err == nil {
			var f store.File
			f, err = s.File(ctx, translations[i].ID)
			content = string(f.Data)
		}
		return err
	})
	return content
}

// sourceStrings lists position and source of the source units, in id order.
func sourceStrings(w *catalogtest.Puller, component string) []string {
	var list []string
	w.EachUnit(func(c *catalog.Component, t *catalog.Translation, u *catalog.Unit) {
		if c.Slug == component && t.IsSource {
			list = append(list, fmt.Sprintf("%d %s", u.Position, u.Source))
		}
	})
	return list
}

func componentNames(w *catalogtest.Puller) []string {
	var list []string
	w.EachComponent(func(_ context.Context, _ *store.Snapshot, c *store.ComponentRow) error {
		list = append(list, c.Slug+"|"+c.Settings.Name)
		return nil
	})
	return list
}

const poHead = "msgid \"\"\nmsgstr \"Content-Type: text/plain; charset=UTF-8\\n\"\n\n"

// garbage cannot be parsed as a PO file.
const garbage = "garbage\n"

// app makes a store with one component "app" of a repository with the files.
func app(t *testing.T, s catalog.ComponentSettings, files map[string]string) (*catalogtest.Puller, *testrepos.Repo) {
	t.Helper()
	if s.LanguageRegex == "" {
		s.LanguageRegex = "^[^.]+$"
	}
	repo := repoWith(t, files)
	return synced(t, repo.URL(), map[string]catalog.ComponentSettings{"app": s}), repo
}

// sameIDs checks that every unit of before is still there under its id.
func sameIDs(w *catalogtest.Puller, before map[int64]string) {
	w.TB.Helper()
	after := w.Targets()
	for id := range before {
		if _, ok := after[id]; !ok {
			w.TB.Errorf("unit %d lost its id", id)
		}
	}
}

// slowUnderRace reports whether a test of a bundle is left out under the race
// detector: it runs the same code as the others, for half a minute.
func slowUnderRace(bundle string) bool {
	return underRace && (bundle == "vim-po" || bundle == "python-docs-pl")
}

// oneAtATime skips a test under the race detector: it takes long there and does
// nothing in parallel that shorter tests do not.
func oneAtATime(t *testing.T) {
	t.Helper()
	if underRace {
		t.Skip("runs without the race detector: nothing here is concurrent that other tests do not cover")
	}
}
