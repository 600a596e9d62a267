package push_test

import (
	"errors"
	"testing"
	"time"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/ingest"
	"github.com/repoglot/repoglot/catalog/push"
	"github.com/repoglot/repoglot/catalog/store"
	"github.com/repoglot/repoglot/catalog/store/pgtest"
	"github.com/repoglot/repoglot/gitsource/gittest"
)

// meanwhile is a signer that does something while a commit is made, once.
type meanwhile func()

func (m *meanwhile) Sign([]byte, time.Time) (string, error) {
	if do := *m; do != nil {
		*m = nil
		do()
	}
	return "of a test", nil
}

func (*meanwhile) Key() string { return "" }

// another makes a pusher with a mirror of its own, on PostgreSQL also with connections of
// its own: another process.
func (w *world) another() *world {
	w.t.Helper()
	db := w.DB
	if pgtest.Chosen() {
		var err error
		db, err = store.Open(w.t.Context(), w.Database(), w.Options)
		gittest.Must(w.t, err)
		w.t.Cleanup(func() { gittest.Must(w.t, db.Close()) })
	}
	mirrors := w.t.TempDir()
	w.Change = func(o *ingest.Options) { o.DB, o.MirrorDir = db, mirrors }
	other, puller := *w, *w.Puller
	other.Puller = &puller
	puller.Syncer = w.NewSyncer(func() time.Time { return w.Clock })
	w.Change = nil
	puller.DB = db
	other.newPusher()
	return &other
}

// flushMeanwhile flushes in one process while another one is about to push its commit.
func (w *world) flushMeanwhile(other *world) (push.Report, error) {
	w.t.Helper()
	during := meanwhile(func() { other.flush() })
	return w.pusher.Flush(w.t.Context(), w.Branch, func(*store.BranchComponent) push.Destination {
		return push.Destination{Signer: &during}
	})
}

// TestTwoProcesses: two processes flush the same component at once: there is one commit.
func TestTwoProcesses(t *testing.T) {
	w := newWorld(t, catalog.ComponentSettings{Edits: catalog.Edits{Mode: catalog.PushDirect}})
	other := w.another()
	before := w.head("main")
	w.edit("One", "Jedna")
	if report, err := w.flushMeanwhile(other); err != nil || report.Commits != 0 {
		t.Errorf("the one that was slower: %+v, %v", report, err)
	}
	if n := gittest.RunGit(t, w.up.Dir, "rev-list", "--count", before.String()+"..main"); n != "1" {
		t.Errorf("%s commits", n)
	}
	w.want("Jedna Dvě | flushed", "flushed by both")
}

// TestTwoProcessesBranch is the same with a branch of our own, which stays known.
func TestTwoProcessesBranch(t *testing.T) {
	w := newWorld(t, catalog.ComponentSettings{PushBranch: "l10n", Edits: catalog.Edits{Mode: catalog.PushBranch}})
	other := w.another()
	w.edit("One", "Jedna")
	if report, err := w.flushMeanwhile(other); !errors.Is(err, catalog.ErrConflict) || report.Commits != 0 {
		t.Errorf("the one that was slower: %+v, %v", report, err)
	}
	theirs := w.head("l10n")
	if report := w.flush(); report.Commits != 0 || w.head("l10n") != theirs {
		t.Errorf("nothing is new: %+v", report)
	}
	w.edit("Two", "Dvojka")
	w.flush()
	if n := gittest.RunGit(t, w.up.Dir, "rev-list", "--count", "main..l10n"); n != "1" {
		t.Errorf("%s commits", n)
	}
	w.want("Jedna* Dvojka* | pending, pending", "flushed by both")
}
