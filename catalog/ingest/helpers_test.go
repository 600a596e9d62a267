package ingest_test

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/catalogtest"
	"github.com/repoglot/repoglot/catalog/store"
	"github.com/repoglot/repoglot/testrepos"
)

// po makes a small PO file from pairs of msgid and msgstr.
func po(pairs ...string) string {
	var b strings.Builder
	b.WriteString("msgid \"\"\nmsgstr \"Content-Type: text/plain; charset=UTF-8\\n\"\n")
	for i := 0; i < len(pairs); i += 2 {
		fmt.Fprintf(&b, "\nmsgid %q\nmsgstr %q\n", pairs[i], pairs[i+1])
	}
	return b.String()
}

// repoWith makes a repository with one commit.
func repoWith(t testing.TB, files map[string]string) *testrepos.Repo {
	t.Helper()
	repo := testrepos.Empty(t)
	repo.Commit(t, testrepos.Change{Files: files})
	return repo
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

func byPosition(list []string) []string {
	sorted := append([]string(nil), list...)
	for i := range sorted {
		for j := i; j > 0 && sorted[j] < sorted[j-1]; j-- {
			sorted[j], sorted[j-1] = sorted[j-1], sorted[j]
		}
	}
	return sorted
}

func componentNames(w *catalogtest.Puller) []string {
	var list []string
	w.Read(func(ctx context.Context, s *store.Snapshot) error {
		components, err := s.Components(ctx, "demo")
		for _, c := range components {
			list = append(list, c.Slug+"|"+c.Settings.Name)
		}
		return err
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
	w := catalogtest.NewPuller(t, repo.URL(), map[string]catalog.ComponentSettings{"app": s})
	w.Sync()
	return w, repo
}

// sameIDs checks that every unit of before is still there under its id.
func sameIDs(w *catalogtest.Puller, before map[int64]string) {
	w.TB.Helper()
	after := map[int64]string{}
	w.Targets(after)
	for id := range before {
		if _, ok := after[id]; !ok {
			w.TB.Errorf("unit %d lost its id", id)
		}
	}
}

// clone makes a complete copy of a repository.
func clone(t *testing.T, dir string) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), "whole.git")
	catalogtest.Git(t, dir, "clone", "-q", "--bare", "--no-hardlinks", dir, to)
	return to
}

// sharedRepos is the folder of the real repositories, next to the project.
const sharedRepos = "../../../shared/data/repos"

// slowUnderRace reports whether a test of a bundle is left out under the race
// detector: it runs the same code as the others, for half a minute.
func slowUnderRace(bundle string) bool {
	return underRace && (bundle == "vim-po" || bundle == "python-docs-pl")
}
