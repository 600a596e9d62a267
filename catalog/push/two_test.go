package push_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/edit"
	"github.com/repoglot/repoglot/catalog/ingest"
	"github.com/repoglot/repoglot/catalog/push"
	"github.com/repoglot/repoglot/catalog/store"
	"github.com/repoglot/repoglot/catalog/store/pgtest"
	"github.com/repoglot/repoglot/gitsource/gittest"
	"github.com/repoglot/repoglot/gitsource/object"
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
	now := func() time.Time { return w.Clock }
	puller.Syncer = w.NewSyncer(now)
	w.Change = nil
	puller.DB = db
	puller.Editor = puller.NewEditor(puller.Syncer, now)
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

// signer is a signer with a name.
type signer string

func (s signer) Sign([]byte, time.Time) (string, error) { return string(s), nil }
func (s signer) Key() string                            { return string(s) }

// TestOnePlaceOfTwo: a component with push and one without it, whose repository has the same
// address, push to one branch: it has the edits of both.
func TestOnePlaceOfTwo(t *testing.T) {
	gittest.NeedGit(t)
	for _, mode := range []catalog.PushMode{catalog.PushDirect, catalog.PushBranch} {
		up := gittest.NewUpstream[object.Hash](t)
		up.Push("Other", gittest.Files{"app/cs.po": file, "web/cs.po": file})
		app := catalog.ComponentSettings{Filemask: "app/*.po", LanguageRegex: "^[^.]+$", PushBranch: "l10n", Edits: catalog.Edits{Mode: mode}}
		web := app
		web.Filemask, web.Push = "web/*.po", up.Dir
		w := worldOf(t, up, app)
		w.Configure(up.Dir, "", map[string]catalog.ComponentSettings{"app": app, "web": web})
		w.Sync()
		w.edit("One", "Jedna")
		w.flushTo(func(row *store.BranchComponent) (to push.Destination) {
			to.Repository.URL = row.Settings.Push
			return to
		})
		branch := map[catalog.PushMode]string{catalog.PushDirect: "main", catalog.PushBranch: "l10n"}[mode]
		for _, path := range []string{"app/cs.po", "web/cs.po"} {
			if text := gittest.RunGit(t, up.Dir, "cat-file", "blob", branch+":"+path); !strings.Contains(text, `"Jedna"`) {
				t.Errorf("%s: %s is without its edit:\n%s", mode, path, text)
			}
		}
	}
}

// TestSettingsOfEach: components of one branch make commits as their own settings say, and
// those of two branches do not share one of ours, whatever their names are.
func TestSettingsOfEach(t *testing.T) {
	gittest.NeedGit(t)
	up := gittest.NewUpstream[object.Hash](t)
	up.Push("Other", gittest.Files{"app/cs.po": file, "app/de.po": file, "web/cs.po": file, "web/de.po": file})
	for _, mode := range []catalog.PushMode{catalog.PushDirect, catalog.PushBranch} {
		app := catalog.ComponentSettings{Filemask: "app/*.po", LanguageRegex: "^[^.]+$", PushBranch: "l10n", Edits: catalog.Edits{Mode: mode}}
		web := app
		web.Filemask, web.Edits.SignOff, web.Edits.CommitBy = "web/*.po", true, "all"
		w := worldOf(t, up, app)
		w.Configure(up.Dir, "", map[string]catalog.ComponentSettings{"app": app, "web": web})
		w.Sync()
		before := w.head("main").String()
		w.EachUnit(func(c *catalog.Component, tr *catalog.Translation, u *catalog.Unit) {
			if !tr.IsSource && u.Source == "One" {
				_, err := w.Editor.Edit(t.Context(), c.ID, tr.ID, anna, []edit.Request{{UnitID: u.ID, Target: []string{string(mode)}, State: catalog.StateTranslated}})
				gittest.Must(t, err)
			}
		})
		_, err := w.pusher.Flush(t.Context(), w.Branch, func(c *store.BranchComponent) push.Destination {
			if c.Slug == "web" {
				return push.Destination{Signer: signer("of web")}
			}
			return push.Destination{}
		})
		gittest.Must(t, err)
		got := map[string]int{}
		for _, id := range strings.Fields(gittest.RunGit(t, up.Dir, "rev-list", before+".."+map[catalog.PushMode]string{catalog.PushDirect: "main", catalog.PushBranch: "l10n"}[mode])) {
			raw := gittest.RunGit(t, up.Dir, "cat-file", "commit", id)
			files := gittest.RunGit(t, up.Dir, "show", "--format=", "--name-only", id)
			got[fmt.Sprintf("%s %v %v", strings.ReplaceAll(files, "\n", " "), strings.Contains(raw, "gpgsig of web"), strings.Contains(raw, "Signed-off-by: Anna"))]++
		}
		if diff := cmp.Diff(map[string]int{"app/cs.po false false": 1, "app/de.po false false": 1, "web/cs.po web/de.po true true": 1}, got); diff != "" {
			t.Errorf("%s (-want +got)\n%s", mode, diff)
		}
	}
	names := map[string]bool{}
	for _, c := range [][2]string{{"app", "core-ui"}, {"app-core", "ui"}} {
		row := &store.BranchComponent{}
		row.Project.Slug, row.Slug = c[0], c[1]
		names[push.BranchOf(row)] = true
	}
	if len(names) != 2 {
		t.Errorf("two components have one branch: %v", names)
	}
}
