package editing_test

import (
	"testing"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/catalogtest"
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

// app makes a store with one component of a repository with one commit.
func app(t *testing.T, s catalog.ComponentSettings, files map[string]string) (*catalogtest.Puller, *testrepos.Repo) {
	t.Helper()
	s.LanguageRegex = "^[^.]+$"
	repo := testrepos.Empty(t)
	repo.Commit(t, testrepos.Change{Files: files})
	w := catalogtest.NewPuller(t, repo.URL(), map[string]catalog.ComponentSettings{"app": s})
	w.Sync()
	return w, repo
}
