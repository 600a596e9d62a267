package push_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/edit"
	"github.com/repoglot/repoglot/catalog/push"
	"github.com/repoglot/repoglot/catalog/store"
	"github.com/repoglot/repoglot/gitsource/forge"
	"github.com/repoglot/repoglot/gitsource/gittest"
	"github.com/repoglot/repoglot/gitsource/object"
	"github.com/repoglot/repoglot/poparse"
	"github.com/repoglot/repoglot/testrepos/testsize"
)

// takeBack takes pending edits of Czech strings back, by Anna.
func (w *world) takeBack(want int) {
	w.t.Helper()
	n := 0
	w.EachComponent(func(ctx context.Context, snap *store.Snapshot, c *store.ComponentRow) error {
		done, err := w.Editor.Discard(w.t.Context(), c.ID, anna, "taken back", false, func(*store.Edit) bool { return true })
		n += done.Edits
		return err
	})
	if n != want {
		w.t.Errorf("%d edits were taken back, want %d", n, want)
	}
}

// during does something when a push is about to leave, after it was noted, once.
func (w *world) during(do func()) {
	w.pusher.SetStop(func(after bool) error {
		if !after && do != nil {
			now := do
			do = nil
			now()
		}
		return nil
	})
}

// texts returns the texts of One and Two on a branch.
func (w *world) texts(branch string) string {
	w.t.Helper()
	f, err := poparse.Parse("cs.po", []byte(gittest.RunGit(w.t, w.up.Dir, "cat-file", "blob", branch+":po/cs.po")))
	gittest.Must(w.t, err)
	var list []string
	for e := range f.Live() {
		list = append(list, e.Str[0])
	}
	return strings.Join(list, " ")
}

// TestCorrectedMeanwhile: a text that is written while an older one is pushed stays pending,
// with that one as its base, and is in the next commit; one that is taken back meanwhile is
// written over by the text of before. Nobody else touched the string.
func TestCorrectedMeanwhile(t *testing.T) {
	for name, tt := range map[string]struct {
		do         func(w *world)
		then, last string
	}{
		"corrected":        {func(w *world) { w.edit("One", "Jedna!") }, "Jedna!* Dvě | pending", "Jedna! Dvě | flushed"},
		"corrected twice":  {func(w *world) { w.edit("One", "Jedna!"); w.edit("One", "Jedna?") }, "Jedna?* Dvě | pending", "Jedna? Dvě | flushed"},
		"entered again":    {func(w *world) { w.edit("One", "Jedna!"); w.edit("One", "Jedna") }, "Jedna Dvě | flushed", "Jedna Dvě | flushed"},
		"to the old text":  {func(w *world) { w.editAs("One", "", catalog.StateEmpty) }, "* Dvě | discarded the repository's text came back, pending", " Dvě | discarded the repository's text came back, flushed"},
		"taken back":       {func(w *world) { w.takeBack(1) }, "* Dvě | discarded taken back, pending", " Dvě | discarded taken back, flushed"},
		"back, and anew":   {func(w *world) { w.takeBack(1); w.edit("One", "Nově") }, "Nově* Dvě | discarded taken back, pending", "Nově Dvě | discarded taken back, flushed"},
		"back, and forth":  {func(w *world) { w.takeBack(1); w.edit("One", "Jedna") }, "Jedna Dvě | discarded taken back, flushed", "Jedna Dvě | discarded taken back, flushed"},
		"marked as fuzzy":  {func(w *world) { w.editAs("One", "Jedna", catalog.StateFuzzy) }, "Jedna* Dvě | pending", "Jedna Dvě | flushed"},
		"another string":   {func(w *world) { w.edit("Two", "Dva") }, "Jedna Dva* | flushed, pending", "Jedna Dva | flushed, flushed"},
		"somebody changes": {func(*world) {}, "Jedna Dvě | flushed", "Jedna Dvě | flushed"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, catalog.ComponentSettings{Edits: catalog.Edits{Mode: catalog.PushDirect}})
			w.edit("One", "Jedna")
			w.during(func() { tt.do(w) })
			w.flush()
			if got := w.texts("main"); got != "Jedna Dvě" {
				t.Errorf("pushed: %q", got)
			}
			w.want(tt.then, "pushed")
			w.flush()
			w.want(tt.last, "pushed again")
			served, _, _ := strings.Cut(tt.last, " |")
			if got := w.texts("main"); got != served {
				t.Errorf("at last main has %q, want %q", got, served)
			}
			head := w.head("main")
			if w.flush(); w.head("main") != head {
				t.Error("a flush with nothing new moves the branch")
			}
		})
	}
}

// editAs gives a Czech string another text and state, by Anna.
func (w *world) editAs(source, target string, state catalog.State) {
	w.t.Helper()
	w.EachUnit(func(c *catalog.Component, tr *catalog.Translation, u *catalog.Unit) {
		if tr.Language == "cs" && u.Source == source {
			_, err := w.Editor.Edit(w.t.Context(), c.ID, tr.ID, anna, []edit.Request{{UnitID: u.ID, Target: []string{target}, State: state}})
			gittest.Must(w.t, err)
		}
	})
}

// TestTakenBackBeforeThePush: what is taken back while commits are made is not pushed.
func TestTakenBackBeforeThePush(t *testing.T) {
	w := newWorld(t, catalog.ComponentSettings{Edits: catalog.Edits{Mode: catalog.PushDirect}})
	w.edit("One", "Jedna")
	head := w.head("main")
	during := meanwhile(func() { w.takeBack(1) })
	_, err := w.pusher.Flush(t.Context(), w.Branch, func(*store.BranchComponent) push.Destination { return push.Destination{Signer: &during} })
	gittest.Must(t, err)
	if w.head("main") != head {
		t.Errorf("main has %q", w.texts("main"))
	}
	w.want(" Dvě | discarded taken back", "not pushed")
}

// TestCorrectedOnBranch: the same with a branch of our own, which is merged in some way when
// the string has another text already.
func TestCorrectedOnBranch(t *testing.T) {
	for _, mode := range []catalog.PushMode{catalog.PushBranch, catalog.PushRequest} {
		for name, tt := range map[string]struct {
			do   func(w *world)
			want string
		}{
			"corrected":                     {func(w *world) { w.edit("One", "Jedna!") }, "Jedna!* Dvě | pending"},
			"corrected and pushed":          {func(w *world) { w.edit("One", "Jedna!"); w.flush() }, "Jedna!* Dvě | pending"},
			"to the old text":               {func(w *world) { w.editAs("One", "", catalog.StateEmpty) }, "* Dvě | discarded the repository's text came back, pending"},
			"taken back":                    {func(w *world) { w.takeBack(1) }, "* Dvě | discarded taken back, pending"},
			"taken back from what is there": {func(w *world) { w.takeBack(1); w.flush() }, "* Dvě | discarded taken back, pending"},
		} {
			t.Run(fmt.Sprint(mode, " ", name), func(t *testing.T) {
				f := &fakeForge{}
				w := newWorld(t, catalog.ComponentSettings{PushBranch: "l10n", Edits: catalog.Edits{Mode: mode}})
				w.to.Forge = f
				w.edit("One", "Jedna")
				w.flush()
				merged := gittest.RunGit(t, w.up.Dir, "cat-file", "blob", "l10n:po/cs.po") + "\n" // what a maintainer has fetched
				tt.do(w)
				w.up.Push("Merger", gittest.Files{"po/cs.po": merged}, w.head("main"))
				f.State = forge.Merged
				w.Sync()
				w.want(tt.want, "merged")
				w.flush()
				served, _, _ := strings.Cut(strings.ReplaceAll(tt.want, "*", ""), " |")
				if got := w.texts("l10n"); got != served {
					t.Errorf("the branch has %q, want %q", got, served)
				}
				w.up.Push("Merger", gittest.Files{"po/cs.po": gittest.RunGit(t, w.up.Dir, "cat-file", "blob", "l10n:po/cs.po") + "\n"}, w.head("main"))
				w.Sync()
				w.want(strings.NewReplacer("*", "", "pending", "flushed").Replace(tt.want), "merged again")
				// What arrived is forgotten: if it comes again, somebody wrote it.
				w.up.Push("Other", gittest.Files{"po/cs.po": merged}, w.head("main"))
				w.Sync()
				w.want("Jedna"+strings.NewReplacer("*", "", "pending", "flushed").Replace(tt.want[strings.Index(tt.want, " Dvě"):]), "somebody wrote it")
			})
		}
	}
}

// TestSentIsForgotten: a text that was taken back and that no branch of ours has is
// remembered for as long as the edit can be restored.
func TestSentIsForgotten(t *testing.T) {
	for _, after := range []time.Duration{29 * 24 * time.Hour, 31 * 24 * time.Hour} {
		w := newWorld(t, catalog.ComponentSettings{PushBranch: "l10n", Edits: catalog.Edits{Mode: catalog.PushBranch}})
		w.edit("One", "Jedna")
		w.flush()
		merged := gittest.RunGit(t, w.up.Dir, "cat-file", "blob", "l10n:po/cs.po") + "\n"
		w.takeBack(1)
		w.flush()
		_, _, err := w.Editor.Expire(t.Context(), time.Now().Add(after))
		gittest.Must(t, err)
		w.up.Push("Other", gittest.Files{"po/cs.po": merged}, w.head("main"))
		w.Sync()
		w.want(map[bool]string{false: "* Dvě | discarded taken back, pending", true: "Jedna Dvě | discarded taken back"}[after > 30*24*time.Hour], after.String())
	}
}

// TestPushedElsewhere: with another push_mode or push_branch everything that is pending is
// due again, goes there, and the old branch is withdrawn with its request.
func TestPushedElsewhere(t *testing.T) {
	f := &fakeForge{}
	s := catalog.ComponentSettings{PushBranch: "l10n", Edits: catalog.Edits{Mode: catalog.PushRequest, Flush: time.Hour}}
	w := newWorld(t, s)
	w.to.Forge = f
	due := func(want bool, when string) {
		t.Helper()
		got, err := w.pusher.Due(t.Context(), w.Branch, true)
		if gittest.Must(t, err); got != want {
			t.Errorf("%s: due %v", when, got)
		}
	}
	w.edit("One", "Jedna")
	w.Clock = w.Clock.Add(2 * time.Hour)
	due(true, "edited")
	w.flush()
	due(false, "pushed")
	s.PushBranch = "l10n2"
	s.LanguageRegex = "^[^.]+$"
	w.Configure(w.up.Dir, "", map[string]catalog.ComponentSettings{"app": s})
	due(true, "another branch")
	w.flush()
	due(false, "pushed there")
	if got := gittest.RunGit(t, w.up.Dir, "for-each-ref", "--format=%(refname:short)", "refs/heads"); got != "l10n2\nmain" || f.opened != 2 {
		t.Errorf("branches %q, %d requests", got, f.opened)
	}
	if w.texts("l10n2") != "Jedna Dvě" {
		t.Errorf("the branch has %q", w.texts("l10n2"))
	}
	s.Edits.Mode = catalog.PushDirect
	w.Configure(w.up.Dir, "", map[string]catalog.ComponentSettings{"app": s})
	due(true, "direct")
	w.flush()
	w.want("Jedna Dvě | flushed", "direct")
	if got := gittest.RunGit(t, w.up.Dir, "for-each-ref", "--format=%(refname:short)", "refs/heads"); got != "main" || f.State != forge.Closed {
		t.Errorf("branches %q, the request is %s", got, f.State)
	}
	// Nothing is left to withdraw, and what was taken back goes with the branch.
	if got, err := w.pusher.Requested(t.Context(), w.Branch); err != nil || got {
		t.Errorf("something is left: %v", err)
	}
	s.Edits.Mode = catalog.PushBranch
	w.Configure(w.up.Dir, "", map[string]catalog.ComponentSettings{"app": s})
	w.edit("Two", "Dva")
	w.flush()
	w.takeBack(1)
	s.Edits.Mode = catalog.PushDirect
	w.Configure(w.up.Dir, "", map[string]catalog.ComponentSettings{"app": s})
	if got, err := w.pusher.Requested(t.Context(), w.Branch); err != nil || !got {
		t.Errorf("the branch with what was taken back: %v, %v", got, err)
	}
	w.flush()
	if got := gittest.RunGit(t, w.up.Dir, "for-each-ref", "--format=%(refname:short)", "refs/heads"); got != "main" {
		t.Errorf("branches %q", got)
	}
	w.want("Jedna Dvě | flushed, discarded taken back", "withdrawn")
}

// without is the file without the string One.
func without() string { return strings.Replace(file, "msgid \"One\"\nmsgstr \"\"\n\n", "", 1) }

// TestAwayFromBranch: an edit whose string is away when the branch is made is not on it any
// more: when the string is back, it is due, and the request that never had it refuses nothing.
func TestAwayFromBranch(t *testing.T) {
	for name, ends := range map[string]forge.State{"merged": forge.Merged, "closed": forge.Closed} {
		t.Run(name, func(t *testing.T) {
			f := &fakeForge{}
			w := newWorld(t, catalog.ComponentSettings{Edits: catalog.Edits{Mode: catalog.PushRequest}})
			w.to.Forge = f
			w.edit("One", "Jedna")
			w.edit("Two", "Dva")
			w.flush()
			w.up.Push("Other", gittest.Files{"po/cs.po": without()}, w.head("main"))
			w.flush()
			if ends == forge.Merged {
				w.up.Push("Merger", gittest.Files{"po/cs.po": strings.Replace(without(), "Dvě", "Dva", 1)}, w.head("main"))
				w.up.Remove("repoglot/demo/app")
			}
			f.State = ends
			w.Sync()
			if ends == forge.Merged {
				w.flush()
			}
			w.up.Push("Other", gittest.Files{"po/cs.po": map[forge.State]string{forge.Merged: texts("", "Dva"), forge.Closed: file}[ends]}, w.head("main"))
			w.Sync()
			if due, err := w.pusher.Due(t.Context(), w.Branch, true); err != nil || !due {
				t.Errorf("an edit whose string is back is not due: %v", err)
			}
			w.flush()
			want := map[forge.State]string{forge.Merged: "Jedna* Dva | pending, flushed", forge.Closed: "Jedna* Dvě? | pending, conflict the request 1 was closed without a merge"}[ends]
			w.want(want, "back")
			if got := w.texts("repoglot/demo/app"); !strings.HasPrefix(got, "Jedna ") || f.opened != 2 {
				t.Errorf("the branch has %q, %d requests", got, f.opened)
			}
		})
	}
}

// TestSettledThenKilled: a process ends after it noted that the request was merged, before
// it pushed the edit that was not taken.
func TestSettledThenKilled(t *testing.T) {
	f := &fakeForge{}
	w := newWorld(t, catalog.ComponentSettings{Edits: catalog.Edits{Mode: catalog.PushRequest}})
	w.to.Forge = f
	w.edit("One", "Jedna")
	w.edit("Two", "Dva")
	w.flush()
	w.up.Push("Merger", gittest.Files{"po/cs.po": texts("Jedna", "Dvě")}, w.head("main"))
	w.up.Remove("repoglot/demo/app")
	f.State = forge.Merged
	w.pusher.SetStop(func(bool) error { return errCrash })
	if _, err := w.pusher.Flush(t.Context(), w.Branch, func(*store.BranchComponent) push.Destination { return w.to }); err == nil {
		t.Fatal("no crash")
	}
	w.newPusher()
	if due, err := w.pusher.Due(t.Context(), w.Branch, true); err != nil || !due {
		t.Errorf("not due: %v", err)
	}
	w.flush()
	w.want("Jedna Dva* | flushed, pending", "after the crash")
	if f.opened != 2 || w.texts("repoglot/demo/app") != "Jedna Dva" {
		t.Errorf("%d requests, the branch has %q", f.opened, w.texts("repoglot/demo/app"))
	}
}

// closing is a forge on which a request is closed while a push is on its way.
type closing struct {
	*fakeForge
	during *bool
}

func (f closing) Read(ctx context.Context, n int) (forge.Request, error) {
	r, err := f.fakeForge.Read(ctx, n)
	if *f.during {
		*f.during, f.State = false, forge.Closed // right after it was looked at
	}
	return r, err
}

// TestClosedMeanwhile: a request that is closed while we push takes those edits with it
// that it had, and no others.
func TestClosedMeanwhile(t *testing.T) {
	during := false
	f := closing{&fakeForge{}, &during}
	w := newWorld(t, catalog.ComponentSettings{Edits: catalog.Edits{Mode: catalog.PushRequest}})
	w.to.Forge = f
	w.edit("One", "Jedna")
	w.flush()
	w.edit("Two", "Dva")
	during = true
	w.flush()
	w.flush()
	w.want("? Dva* | conflict the request 1 was closed without a merge, pending", "closed meanwhile")
	if f.opened != 2 || w.texts("repoglot/demo/app") != " Dva" {
		t.Errorf("%d requests, the branch has %q", f.opened, w.texts("repoglot/demo/app"))
	}
}

// TestTakenBackWithFileAway: edits of a language whose file is away can be taken back, one
// or all, and do not come back with the file; a closed request refuses them, too.
func TestTakenBackWithFileAway(t *testing.T) {
	f := &fakeForge{}
	w := newWorld(t, catalog.ComponentSettings{Edits: catalog.Edits{Mode: catalog.PushRequest}})
	w.to.Forge = f
	w.edit("One", "Jedna")
	w.edit("Two", "Dva")
	w.up.Push("Other", gittest.Files{"po/de.po": file}, w.head("main"))
	w.Sync()
	w.takeBack(2)
	w.up.Push("Other", gittest.Files{"po/de.po": file, "po/cs.po": file}, w.head("main"))
	w.flush()
	w.want(" Dvě | discarded taken back, discarded taken back", "back")
	w.edit("One", "Jedna")
	w.flush()
	w.up.Push("Other", gittest.Files{"po/de.po": file}, w.head("main"))
	f.State = forge.Closed
	w.flush()
	w.up.Push("Other", gittest.Files{"po/de.po": file, "po/cs.po": file}, w.head("main"))
	w.flush()
	w.want("? Dvě | discarded taken back, discarded taken back, conflict the request 1 was closed without a merge", "refused")
}

// TestTakenBackDrawn draws edits of two languages whose files go away and come back, flushes,
// and edits that are taken back, one, those of a language or all, whether their file is there
// or not. What was taken back is in the journal as that, and neither served nor on a branch
// when all files are there again: its string has main's text. What was not is served.
func TestTakenBackDrawn(t *testing.T) {
	for seed := range uint64(testsize.Of(6, 20, 600)) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			takenBackDrawn(t, rand.New(rand.NewPCG(seed, 13)))
		})
	}
}

func takenBackDrawn(t *testing.T, rnd *rand.Rand) {
	mode := []catalog.PushMode{catalog.PushDirect, catalog.PushBranch, catalog.PushRequest}[rnd.IntN(3)]
	w := newWorld(t, catalog.ComponentSettings{Edits: catalog.Edits{Mode: mode}})
	w.to.Forge = &fakeForge{}
	away := map[string]string{} // the texts of files that are away
	paths := []string{"po/cs.po", "po/de.po"}
	w.up.Push("Other", gittest.Files{paths[0]: file, paths[1]: file}, w.head("main"))
	w.Sync()
	move := func(path string) {
		files := filesAt(w.TB, w.up, w.head("main"))
		if text, is := away[path]; is {
			files[path] = text
			delete(away, path)
		} else {
			away[path] = files[path]
			delete(files, path)
		}
		w.up.Push("Other", files, w.head("main"))
	}
	taken := map[int64]bool{}
	written := map[string]string{} // the last text by language and string
	journal := func() (list []store.Edit) {
		w.EachComponent(func(ctx context.Context, snap *store.Snapshot, c *store.ComponentRow) (err error) {
			list, _, err = snap.Edits(ctx, store.EditQuery{Components: []int64{c.ID}, Limit: 1000})
			return err
		})
		return list
	}
	for n := range 16 {
		switch rnd.IntN(8) {
		case 0, 1, 2:
			language, source := []string{"cs", "de"}[rnd.IntN(2)], []string{"One", "Two"}[rnd.IntN(2)]
			w.EachUnit(func(c *catalog.Component, tr *catalog.Translation, u *catalog.Unit) {
				if tr.Language == language && u.Source == source {
					written[language+source] = fmt.Sprint("ours ", n)
					_, err := w.Editor.Edit(t.Context(), c.ID, tr.ID, anna, []edit.Request{{UnitID: u.ID, Target: []string{written[language+source]}, State: catalog.StateTranslated}})
					gittest.Must(t, err)
				}
			})
		case 3, 4:
			move(paths[rnd.IntN(2)])
			w.Sync()
		case 5:
			w.flush()
		default:
			var pending []store.Edit
			for _, e := range journal() {
				if e.Status == store.EditPending {
					pending = append(pending, e)
				}
			}
			if len(pending) == 0 {
				continue
			}
			one, how := pending[rnd.IntN(len(pending))], rnd.IntN(3)
			choose := func(e *store.Edit) bool { return how == 0 || how == 1 && e.Language == one.Language || e.ID == one.ID }
			want := 0
			for i := range pending {
				if choose(&pending[i]) {
					want++
					taken[pending[i].ID] = true
					delete(written, pending[i].Language+pending[i].Source)
				}
			}
			done, err := w.Editor.Discard(t.Context(), one.ComponentID, anna, "taken back", false, choose)
			if gittest.Must(t, err); done.Edits != want {
				t.Fatalf("step %d: %d edits were taken back, want %d of %+v", n, done.Edits, want, pending)
			}
		}
	}
	for path := range away {
		move(path)
	}
	w.flush()
	w.flush()
	branches := "main"
	if _, err := object.ReadRef(w.up.Dir, "refs/heads/repoglot/demo/app"); err == nil {
		branches += " repoglot/demo/app"
	}
	for _, e := range journal() {
		if !taken[e.ID] {
			continue
		}
		if e.Status != store.EditDiscarded || e.Reason != "taken back" {
			t.Errorf("taken back, and %+v", e)
		}
		for _, branch := range strings.Fields(branches) {
			for path, text := range filesAt(w.TB, w.up, w.head(branch)) {
				if strings.Contains(text, strconv.Quote(e.Ours.Target)) {
					t.Errorf("%q was taken back, and is in %s of %s", e.Ours.Target, path, branch)
				}
			}
		}
	}
	w.EachUnit(func(_ *catalog.Component, tr *catalog.Translation, u *catalog.Unit) {
		inMain := strings.Contains(filesAt(w.TB, w.up, w.head("main"))["po/"+tr.Language+".po"], fmt.Sprintf("msgid %q\nmsgstr %q\n", u.Source, u.Target))
		if want, is := written[tr.Language+u.Source]; tr.Language != "en" && (is && u.Target != want || !is && (u.Pending || !inMain)) {
			t.Errorf("%s %s has the text %q, want %q", tr.Language, u.Source, u.Target, want)
		}
	})
	w.Verify()
}

// TestClockGoesBack: who wrote a string last is the author of its commit, whatever the
// clocks said; and an edit that was stored while the clock was ahead is due.
func TestClockGoesBack(t *testing.T) {
	w := newWorld(t, catalog.ComponentSettings{Edits: catalog.Edits{Mode: catalog.PushDirect, Flush: 10 * time.Minute}})
	w.edit("One", "Jedna")
	w.Clock = w.Clock.Add(-24 * time.Hour)
	if due, err := w.pusher.Due(t.Context(), w.Branch, true); err != nil || !due {
		t.Errorf("not due: %v", err)
	}
	w.editAs("One", "Jednička", catalog.StateTranslated)
	w.flush()
	if got := w.at("main"); !strings.HasPrefix(got, "Anna <anna@example.org>") {
		t.Errorf("the commit: %s", got)
	}
	if text := gittest.RunGit(t, w.up.Dir, "cat-file", "blob", "main:po/cs.po"); !strings.Contains(text, "Last-Translator: Anna") {
		t.Errorf("the file: %s", text)
	}
	w.edit("Two", "Dva")
	w.Clock = w.Clock.Add(-24 * time.Hour)
	w.editAs("Two", "Dvojka", catalog.StateTranslated)
	w.up.Push("Other", gittest.Files{"po/cs.po": strings.Replace(file, "Dvě", "Dvakrát", 1)}, w.head("main"))
	w.Sync()
	w.EachComponent(func(ctx context.Context, snap *store.Snapshot, _ *store.ComponentRow) error {
		list, _, err := snap.Edits(ctx, store.EditQuery{Components: []int64{1}, Status: store.EditConflict, Limit: 10})
		for _, e := range list {
			var of []store.Suggestion
			if of, err = snap.Suggestions(ctx, e.UnitID); len(of) != 1 || of[0].AuthorName != "Anna" {
				t.Errorf("the suggestion: %+v", of)
			}
		}
		if len(list) != 1 {
			t.Errorf("%d conflicts", len(list))
		}
		return err
	})
}
