package push_test

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/push"
	"github.com/repoglot/repoglot/catalog/store"
	"github.com/repoglot/repoglot/gitsource/gittest"
)

// commit has clones see what is pending, as a client's commit does.
func (w *world) commit() {
	w.t.Helper()
	var component int64
	var translations []int64
	w.EachUnit(func(c *catalog.Component, tr *catalog.Translation, _ *catalog.Unit) {
		component, translations = c.ID, append(translations, tr.ID)
	})
	_, err := w.Editor.Commit(w.t.Context(), component, translations)
	gittest.Must(w.t, err)
	w.show()
}

func (w *world) show() {
	w.t.Helper()
	gittest.Must(w.t, w.pusher.Show(w.t.Context(), w.Branch, func(*store.BranchComponent) push.Destination { return w.to }))
}

// cloned returns the commit that clones have as main, and how many are pending edits'.
func (w *world) cloned() (commit string, n int) {
	w.t.Helper()
	dirs, err := filepath.Glob(filepath.Join(w.Mirrors(), "*", "git-*"))
	gittest.Must(w.t, err)
	dir, main := dirs[0], w.head("main").String()
	commit = gittest.RunGit(w.t, dir, "for-each-ref", "--format=%(objectname)", "refs/namespaces/"+main+"/refs/heads/main")
	if commit == "" {
		return main, 0
	}
	return commit, strings.Count(gittest.RunGit(w.t, dir, "rev-list", main+".."+commit), "\n") + 1
}

// waiting returns how many edits wait to be committed and pushed.
func (w *world) waiting() (commit, push int) {
	w.t.Helper()
	w.EachComponent(func(ctx context.Context, snap *store.Snapshot, c *store.ComponentRow) (err error) {
		commit, push, err = snap.Waiting(ctx, c.ID, store.PlaceOf(&c.Component, c.Project.Slug))
		return err
	})
	return commit, push
}

func (w *world) wantCommits(when string, commits, uncommitted, committed int) string {
	w.t.Helper()
	commit, n := w.cloned()
	if waits, push := w.waiting(); n != commits || waits != uncommitted || push != committed {
		w.t.Errorf("%s: %d commits in clones, %d edits to commit and %d to push, want %d, %d, %d", when, n, waits, push, commits, uncommitted, committed)
	}
	return commit
}

// TestShow: what a client commits is in clones as commits, which a flush then pushes just
// so; they follow the head, and what is changed or taken back is no longer in them.
func TestShow(t *testing.T) {
	w := newWorld(t, catalog.ComponentSettings{Edits: catalog.Edits{Mode: catalog.PushDirect, Flush: time.Hour}})
	w.show()
	w.edit("One", "Jedna")
	w.show()
	w.wantCommits("edited", 0, 1, 0)
	w.commit()
	first := w.wantCommits("committed", 1, 0, 1)
	if w.show(); w.wantCommits("again", 1, 0, 1) != first {
		t.Error("the same edits are another commit")
	}
	w.edit("Two", "Dvojka")
	w.show()
	w.wantCommits("another string edited", 1, 1, 1)
	w.edit("One", "Jednička")
	w.show()
	w.wantCommits("the same string edited", 0, 2, 0)
	w.commit()
	w.wantCommits("committed again", 1, 0, 2)
	w.up.Push("Other", gittest.Files{"po/cs.po": file, "other": "y"}, w.head("main"))
	w.Sync()
	w.wantCommits("the head has moved", 0, 0, 2)
	w.show()
	second := w.wantCommits("after a pull", 1, 0, 2)
	w.newPusher() // another process
	w.flush()
	if main := w.wantCommits("flushed", 0, 0, 0); main != second {
		t.Errorf("the branch is at %s, clones had %s", main, second)
	}
	w.edit("Two", "Dva")
	w.commit()
	w.wantCommits("committed", 1, 0, 1)
	w.discard()
	w.show()
	w.wantCommits("taken back", 0, 0, 0)
	w.Verify()
}

// discard takes all edits back.
func (w *world) discard() {
	w.t.Helper()
	w.EachUnit(func(c *catalog.Component, tr *catalog.Translation, u *catalog.Unit) {
		if u.Pending {
			_, err := w.Editor.Discard(w.t.Context(), c.ID, anna, "reset", false, func(e *store.Edit) bool { return e.TranslationID == tr.ID })
			gittest.Must(w.t, err)
		}
	})
}

// TestShowOfBranches: a clone has what goes to branches of our own, too, those of all
// components of the branch; also after it was pushed there.
func TestShowOfBranches(t *testing.T) {
	w := newWorld(t, catalog.ComponentSettings{PushBranch: "l10n", Edits: catalog.Edits{Mode: catalog.PushBranch}})
	w.edit("One", "Jedna")
	w.commit()
	first := w.wantCommits("committed", 1, 0, 1)
	w.flush()
	if commit := w.wantCommits("pushed", 1, 0, 0); commit != first || w.head("l10n").String() != first {
		t.Errorf("clones have %s, the branch %s, want %s", commit, w.head("l10n"), first)
	}
	w.up.Set("main", w.head("l10n")) // merged
	w.Sync()
	w.show()
	w.wantCommits("merged", 0, 0, 0)
}

// TestPushOnCommit: with push_on_commit a flush is due when a client commits.
func TestPushOnCommit(t *testing.T) {
	w := newWorld(t, catalog.ComponentSettings{PushOnCommit: true, Edits: catalog.Edits{Mode: catalog.PushDirect, Flush: time.Hour}})
	due := func(want bool) {
		t.Helper()
		if got, err := w.pusher.Due(t.Context(), w.Branch, true); err != nil || got != want {
			t.Errorf("due: %v, %v", got, err)
		}
	}
	w.edit("One", "Jedna")
	due(false)
	w.commit()
	due(true)
	w.flush()
	due(false)
}
