package push_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/edit"
	"github.com/repoglot/repoglot/catalog/push"
	"github.com/repoglot/repoglot/catalog/store"
	"github.com/repoglot/repoglot/gitsource/forge"
	"github.com/repoglot/repoglot/gitsource/gittest"
)

// newFileWorld is a world with a template, whose files can be added.
func newFileWorld(t *testing.T, s catalog.ComponentSettings) (w *world, component catalog.Component) {
	t.Helper()
	w = newWorld(t, s)
	w.up.Push("Other", gittest.Files{"po/cs.po": file, "po/app.pot": strings.Replace(file, "Dvě", "", 1)}, w.head("main"))
	s.NewBase, s.LanguageRegex = "po/app.pot", "^[^.]+$"
	w.Configure(w.up.Dir, "", map[string]catalog.ComponentSettings{"app": s})
	w.Sync()
	w.EachUnit(func(c *catalog.Component, _ *catalog.Translation, _ *catalog.Unit) { component = *c })
	return w, component
}

var anna = edit.Author{Name: "Anna", Email: "anna@example.org"}

// waits returns whether a flush is due, and what is pending about files.
func (w *world) waits(component int64) (due bool, files string) {
	w.t.Helper()
	due, err := w.pusher.Due(w.t.Context(), w.Branch)
	gittest.Must(w.t, err)
	gittest.Must(w.t, w.DB.Read(w.t.Context(), func(ctx context.Context, snap *store.Snapshot) error {
		list, err := snap.PendingFileEdits(ctx, component)
		for _, e := range list {
			files += map[bool]string{false: "+", true: "-"}[e.Removes] + e.Path + "@" + e.Pushed + " "
		}
		return err
	}))
	return due, strings.TrimSpace(files)
}

func (w *world) wantFiles(when string, component int64, due bool, files string) {
	w.t.Helper()
	if gotDue, got := w.waits(component); gotDue != due || got != files {
		w.t.Errorf("%s: pending %q, due %v; want %q, %v", when, got, gotDue, files, due)
	}
	w.Verify()
}

// TestFiles adds a language and removes one, with a crash after each push: it
// happens once.
func TestFiles(t *testing.T) {
	w, c := newFileWorld(t, catalog.ComponentSettings{Edits: catalog.Edits{Mode: catalog.PushDirect, Flush: time.Hour}})
	gittest.Must(t, w.Syncer.AddTranslation(t.Context(), c.ID, "de", anna))
	if err := w.Syncer.AddTranslation(t.Context(), c.ID, "de", anna); !errors.Is(err, edit.ErrNotAdded) {
		t.Errorf("added twice: %v", err)
	}
	w.wantFiles("added", c.ID, true, "+po/de.po@")
	w.crashes()
	w.wantFiles("pushed", c.ID, false, "")
	w.edit("One", "Jedna") // and is removed with its file
	var cs catalog.Translation
	w.EachUnit(func(_ *catalog.Component, tr *catalog.Translation, _ *catalog.Unit) {
		if tr.Language == "cs" {
			cs = *tr
		}
	})
	for range 2 {
		gittest.Must(t, w.Syncer.RemoveTranslation(t.Context(), c.ID, &cs, anna))
	}
	w.wantFiles("removed", c.ID, true, "-po/cs.po@")
	w.crashes()
	w.wantFiles("pushed", c.ID, false, "")
	if got := gittest.RunGit(t, w.up.Dir, "log", "-2", "--format=%an", "--name-status", "main"); got != "Anna\n\nD\tpo/cs.po\nAnna\n\nA\tpo/de.po" {
		t.Errorf("commits:\n%s", got)
	}
}

// crashes flushes in a process that ends after the push, and in one that does not.
func (w *world) crashes() {
	w.t.Helper()
	w.newPusher()
	crash := errors.New("killed")
	w.pusher.SetStop(func(bool) error { return crash })
	if _, err := w.pusher.Flush(w.t.Context(), w.Branch, func(*store.BranchComponent) push.Destination { return w.to }); !errors.Is(err, crash) {
		w.t.Errorf("no crash: %v", err)
	}
	w.newPusher()
	w.flush()
}

// TestFilesOfRequests: a file that is added waits on our branch until it is merged; one whose
// request is closed is not sent again.
func TestFilesOfRequests(t *testing.T) {
	f := &fakeForge{}
	w, c := newFileWorld(t, catalog.ComponentSettings{PushBranch: "l10n", Edits: catalog.Edits{Mode: catalog.PushRequest}})
	w.to.Forge = f
	gittest.Must(t, w.Syncer.AddTranslation(t.Context(), c.ID, "de", anna))
	w.flush()
	w.wantFiles("pushed", c.ID, false, "+po/de.po@l10n")
	if f.opened != 1 {
		t.Errorf("%d requests", f.opened)
	}
	first := w.head("l10n")
	if w.flush(); w.head("l10n") != first {
		t.Error("the branch moves for nothing")
	}
	f.State = forge.Closed
	w.flush()
	w.wantFiles("closed", c.ID, false, "")
	gittest.Must(t, w.Syncer.AddTranslation(t.Context(), c.ID, "ja", anna))
	w.flush()
	f.State = forge.Merged
	w.up.Set("main", w.head("l10n"))
	w.flush()
	w.wantFiles("merged", c.ID, false, "")
	if f.opened != 2 {
		t.Errorf("%d requests", f.opened)
	}
	if got := gittest.RunGit(t, w.up.Dir, "ls-tree", "--name-only", "main", "po/"); got != "po/app.pot\npo/cs.po\npo/ja.po" {
		t.Errorf("files: %s", got)
	}
}

// TestFileOfAnotherMask: what the component would not have is not added, and waits no more.
func TestFileOfAnotherMask(t *testing.T) {
	s := catalog.ComponentSettings{NewBase: "po/app.pot", LanguageRegex: "^[^.]+$", Edits: catalog.Edits{Mode: catalog.PushDirect}}
	w, c := newFileWorld(t, s)
	gittest.Must(t, w.Syncer.AddTranslation(t.Context(), c.ID, "de", anna))
	s.Filemask = "l10n/*.po"
	head := w.up.Push("Other", gittest.Files{"l10n/cs.po": file, "po/app.pot": file}, w.head("main"))
	w.Configure(w.up.Dir, "", map[string]catalog.ComponentSettings{"app": s})
	w.Sync()
	w.flush()
	if w.head("main") != head {
		t.Error("something was pushed")
	}
	w.wantFiles("with another filemask", c.ID, false, "")
	gittest.Must(t, w.Syncer.AddTranslation(t.Context(), c.ID, "de", anna))
	w.wantFiles("added again", c.ID, true, "+l10n/de.po@")
}
