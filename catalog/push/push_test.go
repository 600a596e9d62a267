package push_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/catalogtest"
	"github.com/repoglot/repoglot/catalog/edit"
	"github.com/repoglot/repoglot/catalog/push"
	"github.com/repoglot/repoglot/catalog/store"
	"github.com/repoglot/repoglot/gitsource/forge"
	"github.com/repoglot/repoglot/gitsource/gittest"
	"github.com/repoglot/repoglot/gitsource/object"
)

const file = `msgid ""
msgstr ""
"Content-Type: text/plain; charset=UTF-8\n"
"PO-Revision-Date: 2020-01-01 00:00+0000\n"
"Last-Translator: Nobody\n"

msgid "One"
msgstr ""

msgid "Two"
msgstr "Dvě"
`

// world is a store that takes edits, and the repository that they go to.
type world struct {
	*catalogtest.Puller
	t      *testing.T
	up     *gittest.Upstream[object.Hash]
	pusher *push.Pusher
	to     push.Destination
}

func newWorld(t *testing.T, s catalog.ComponentSettings) *world {
	t.Helper()
	gittest.NeedGit(t)
	up := gittest.NewUpstream[object.Hash](t)
	up.Push("Other", gittest.Files{"po/cs.po": file, "other": "x"})
	return worldOf(t, up, s)
}

func worldOf(t *testing.T, up *gittest.Upstream[object.Hash], s catalog.ComponentSettings) *world {
	t.Helper()
	s.LanguageRegex, s.CommitMessage = "^[^.]+$", "Translate into {{ language_name }} ({{ stats.translated }} of {{ stats.all }})\r\n\r\n{{ url }}"
	w := &world{Puller: catalogtest.NewPuller(t, up.Dir, map[string]catalog.ComponentSettings{"app": s}), t: t, up: up}
	w.Sync()
	w.newPusher()
	return w
}

// newPusher makes a pusher, as a new process would.
func (w *world) newPusher() {
	w.pusher = push.New(push.Options{
		DB: w.DB, Syncer: w.Syncer, Editor: w.Editor, Languages: w.Languages, Name: "repoglot", Email: func() string { return "noreply@example.org" },
		SiteTitle: "repoglot", BaseURL: func() string { return "https://l10n.example.org" }, Now: func() time.Time { return w.Clock },
	})
}

// edit gives a Czech string another text.
func (w *world) edit(source, target string) {
	w.t.Helper()
	w.EachUnit(func(c *catalog.Component, tr *catalog.Translation, u *catalog.Unit) {
		if tr.Language != "cs" || u.Source != source {
			return
		}
		_, err := w.Editor.Edit(w.t.Context(), c.ID, tr.ID, edit.Author{Name: "Jana Nováková", Email: "jana@example.org"},
			[]edit.Request{{UnitID: u.ID, Target: []string{target}, State: catalog.StateTranslated}})
		gittest.Must(w.t, err)
	})
}

func (w *world) flush() push.Report {
	w.t.Helper()
	return w.flushTo(func(*store.BranchComponent) push.Destination { return w.to })
}

func (w *world) flushTo(to func(*store.BranchComponent) push.Destination) push.Report {
	w.t.Helper()
	report, err := w.pusher.Flush(w.t.Context(), w.Branch, to)
	gittest.Must(w.t, err)
	return report
}

// state lists what is served in Czech, with a star for what is pending, and the statuses
// of the journal.
func (w *world) state() string {
	w.t.Helper()
	var texts, edits []string
	w.EachUnit(func(_ *catalog.Component, tr *catalog.Translation, u *catalog.Unit) {
		if tr.Language == "cs" {
			texts = append(texts, u.Target+map[bool]string{true: "*"}[u.Pending]+map[bool]string{true: "?"}[u.HasSuggestion])
		}
	})
	w.EachComponent(func(ctx context.Context, snap *store.Snapshot, c *store.ComponentRow) error {
		list, _, err := snap.Edits(ctx, store.EditQuery{Components: []int64{c.ID}, Kind: store.EditText, Limit: 100})
		for _, e := range list {
			edits = append(edits, strings.TrimSpace(string(e.Status)+" "+e.Reason))
		}
		return err
	})
	return strings.Join(texts, " ") + " | " + strings.Join(edits, ", ")
}

func (w *world) want(state, when string) {
	w.t.Helper()
	if diff := cmp.Diff(state, w.state()); diff != "" {
		w.t.Errorf("%s (-want +got)\n%s", when, diff)
	}
	w.Verify()
}

// at shows a branch: author, subject and files of its newest commit.
func (w *world) at(branch string) string {
	w.t.Helper()
	return gittest.RunGit(w.t, w.up.Dir, "log", "-1", "--format=%an <%ae> %s", "--name-only", branch)
}

// TestDirect edits, flushes to the branch itself, and pulls: the edit is there once.
func TestDirect(t *testing.T) {
	w := newWorld(t, catalog.ComponentSettings{Edits: catalog.Edits{Mode: catalog.PushDirect, Flush: time.Hour}})
	w.edit("One", "Jedna")
	w.want("Jedna* Dvě | pending", "edited")
	if due, err := w.pusher.Due(t.Context(), w.Branch, true); err != nil || due {
		t.Errorf("due at once: %v", err)
	}
	w.Clock = w.Clock.Add(2 * time.Hour)
	if due, err := w.pusher.Due(t.Context(), w.Branch, true); err != nil || !due {
		t.Errorf("not due after two hours: %v", err)
	}
	_, last := w.ChangesAfter(0)
	if report := w.flush(); report.Commits != 1 || report.Edits != 1 {
		t.Errorf("%+v", report)
	}
	w.want("Jedna Dvě | flushed", "flushed")
	if text, _ := w.ChangesAfter(last); text != "" {
		t.Errorf("our own commit makes entries:\n%s", text)
	}
	if got, want := w.at("main"), "Jana Nováková <jana@example.org> Translate into Czech (2 of 2)\n\npo/cs.po"; got != want {
		t.Errorf("main:\n%s\nwant\n%s", got, want)
	}
	diff := gittest.RunGit(t, w.up.Dir, "diff", "--unified=0", "main~1", "main")
	if n := strings.Count(diff, "\n+") - 1; n != 3 { // the string, two lines of the header
		t.Errorf("%d lines changed:\n%s", n, diff)
	}
	head := w.at("main")
	if report := w.flush(); report.Commits != 0 || w.at("main") != head {
		t.Errorf("nothing is pending: %+v", report)
	}
	// Somebody else is faster, in another string and in the same one.
	w.edit("One", "Jednička")
	w.edit("Two", "Dvojka")
	w.up.Push("Other", gittest.Files{"po/cs.po": strings.Replace(strings.Replace(file, "msgstr \"\"\n\nmsgid \"Two", "msgstr \"Jeden\"\n\nmsgid \"Two", 1), "", "", 1)}, w.head("main"))
	w.flush()
	w.want("Jeden? Dvojka | flushed, conflict conflict, flushed", "after a conflict")
}

// TestDueByFirstChange: whoever corrects a text again and again does not put its push off, and
// a text that a branch of ours has had waits anew.
func TestDueByFirstChange(t *testing.T) {
	w := newWorld(t, catalog.ComponentSettings{PushBranch: "l10n", Edits: catalog.Edits{Mode: catalog.PushBranch, Flush: time.Hour}})
	due := func(when string, want bool) {
		t.Helper()
		if got, err := w.pusher.Due(t.Context(), w.Branch, true); err != nil || got != want {
			t.Errorf("%s: due %v, %v", when, got, err)
		}
	}
	for i := range 4 {
		w.edit("One", fmt.Sprint("Jedna ", i))
		w.Clock = w.Clock.Add(20 * time.Minute)
		due(fmt.Sprint("correction ", i), i > 1)
	}
	w.flush()
	w.edit("One", "Jedna")
	due("another text than the one that was pushed", false)
	w.Clock = w.Clock.Add(time.Hour)
	due("later", true)
}

// TestPushedIsNews: what is pushed to a branch of ours does not wait any more, which answers
// that are kept must not hide.
func TestPushedIsNews(t *testing.T) {
	w := newWorld(t, catalog.ComponentSettings{PushBranch: "l10n", Edits: catalog.Edits{Mode: catalog.PushBranch}})
	w.edit("One", "Jedna")
	var component int64
	var to store.Place
	w.EachComponent(func(_ context.Context, _ *store.Snapshot, c *store.ComponentRow) error {
		component, to = c.ID, store.PlaceOf(&c.Component, c.Project.Slug)
		return nil
	})
	for _, want := range []struct {
		before    int
		unchanged bool
	}{{1, false}, {0, true}} {
		var basis store.Basis
		gittest.Must(t, w.DB.Read(t.Context(), func(ctx context.Context, snap *store.Snapshot) (err error) {
			if n, _, _, err := snap.Unpushed(ctx, component, to); err != nil || n != want.before {
				t.Errorf("%d edits wait, want %d: %v", n, want.before, err)
			}
			basis, err = snap.Basis(ctx)
			return err
		}))
		if w.flush(); w.DB.Unchanged(&basis) != want.unchanged {
			t.Errorf("%d edits were pushed: the same answers as before: %v", want.before, !want.unchanged)
		}
	}
}

func (w *world) head(branch string) object.Hash {
	w.t.Helper()
	h, err := object.ReadRef(w.up.Dir, "refs/heads/"+branch)
	gittest.Must(w.t, err)
	return h
}

// TestBranch flushes to a branch of our own, which is merged in some ways.
func TestBranch(t *testing.T) {
	w := newWorld(t, catalog.ComponentSettings{PushBranch: "l10n", Edits: catalog.Edits{Mode: catalog.PushBranch}})
	main := w.head("main")
	w.edit("One", "Jedna")
	w.flush()
	w.want("Jedna* Dvě | pending", "flushed")
	first := w.head("l10n")
	if w.head("main") != main {
		t.Error("main has moved")
	}
	w.flush()
	if w.head("l10n") != first {
		t.Error("a flush without anything new moves the branch")
	}
	w.edit("Two", "Dvojka")
	w.flush()
	second := w.head("l10n")
	w.up.Push("Merger", gittest.Files{"po/cs.po": gittest.RunGit(t, w.up.Dir, "cat-file", "blob", "l10n:po/cs.po") + "\n"}, main) // squashed
	w.Sync()
	w.want("Jedna Dvojka | flushed, flushed", "squashed")
	w.edit("One", "Jednička")
	w.flush()
	if parent := gittest.RunGit(t, w.up.Dir, "rev-parse", "l10n~1"); parent != w.head("main").String() || w.head("l10n") == second {
		t.Errorf("the branch is not on top of main: %s", parent)
	}
	w.up.Remove("l10n")
	w.edit("One", "Jedenáct")
	w.flush()
	w.want("Jedenáct* Dvojka | flushed, flushed, pending", "after its removal")
	// Commits of others are not overwritten.
	theirs := w.up.Commit("Other", gittest.Files{"x": "y"}, w.head("l10n"))
	w.up.Set("l10n", theirs)
	w.edit("Two", "Dva")
	_, err := w.pusher.Flush(t.Context(), w.Branch, func(*store.BranchComponent) push.Destination { return w.to })
	if err == nil || !strings.Contains(err.Error(), "not of this server") || w.head("l10n") != theirs {
		t.Errorf("a branch of others: %v", err)
	}
}

// pushProblem is what the component says of the last push.
func (w *world) pushProblem() (problem string) {
	w.EachComponent(func(_ context.Context, _ *store.Snapshot, c *store.ComponentRow) error {
		problem = c.PushProblem.Words
		return nil
	})
	return problem
}

// TestWhyPending: a held edit says why until it has another text, or is taken; a component
// says why the last push failed until one succeeds, which is tried although nothing is due.
// That another process was faster, or this one was stopped, is no failure.
func TestWhyPending(t *testing.T) {
	w := newWorld(t, catalog.ComponentSettings{PushBranch: "l10n", Edits: catalog.Edits{Mode: catalog.PushBranch, Gate: true, Flush: time.Hour}})
	const why = "msgstr: begins with a line feed and the msgid does not, or the other way round"
	w.edit("One", "\nJedna")
	w.edit("Two", "Dva")
	for range 2 {
		w.flush()
		w.want("\nJedna* Dva* | pending "+why+", pending", "held")
	}
	w.edit("One", "\nJednička")
	w.want("\nJednička* Dva* | pending, pending", "another text")
	w.edit("One", "Jedna")
	for _, c := range []struct {
		err  error
		want string
	}{
		{fmt.Errorf("faster: %w", catalog.ErrConflict), ""},
		{errors.New("push https://jana:hunter2@example.org/r.git: refused"), "flush: push https://example.org/r.git: refused"},
		{fmt.Errorf("faster: %w", catalog.ErrConflict), "flush: push https://example.org/r.git: refused"},
		{context.DeadlineExceeded, "flush: context deadline exceeded"},
		{nil, ""},
	} {
		w.pusher.SetStop(func(bool) error { return c.err })
		if _, err := w.pusher.Flush(t.Context(), w.Branch, func(*store.BranchComponent) push.Destination { return w.to }); !errors.Is(err, c.err) {
			t.Errorf("flush: %v, want %v", err, c.err)
		}
		due, err := w.pusher.Due(t.Context(), w.Branch, true)
		if got := w.pushProblem(); got != c.want || due != (c.want != "") || err != nil {
			t.Errorf("after %v: %q, due: %v, %v", c.err, got, due, err)
		}
	}
	w.want("Jedna* Dva* | pending, pending", "taken")
	w.Read(func(ctx context.Context, s *store.Snapshot) error { // failures in a row are one event
		list, err := s.Changes(ctx, store.ChangeQuery{Actions: []catalog.Action{catalog.ActionFailedPush}, Limit: 10})
		if len(list) != 1 || list[0].Event["error"] != "failed" || list[0].Component != "app" {
			t.Errorf("events: %+v", list)
		}
		return err
	})
}

// TestBranchWithNothingLeft: a branch of our own whose edits were taken back, are done, or
// wait for their string is removed, once, however often the process ends meanwhile.
func TestBranchWithNothingLeft(t *testing.T) {
	w := newWorld(t, catalog.ComponentSettings{PushBranch: "l10n", Edits: catalog.Edits{Mode: catalog.PushBranch}})
	to := func(*store.BranchComponent) push.Destination { return w.to }
	there := func(when string, want bool) {
		t.Helper()
		w.flush()
		_, err := object.ReadRef(w.up.Dir, "refs/heads/l10n")
		looked, lookErr := w.pusher.Requested(t.Context(), w.Branch)
		if (err == nil) != want || looked != want || lookErr != nil {
			t.Errorf("%s: the branch: %v; it is looked at: %v, %v; want %v", when, err, looked, lookErr, want)
		}
	}
	discard := func() {
		w.EachUnit(func(c *catalog.Component, tr *catalog.Translation, u *catalog.Unit) {
			if u.Pending {
				_, err := w.Editor.Discard(t.Context(), c.ID, anna, "reset", false, func(e *store.Edit) bool { return e.TranslationID == tr.ID })
				gittest.Must(t, err)
			}
		})
	}
	for _, after := range []bool{false, true} {
		w.edit("One", "Jedna")
		there("pushed", true)
		discard()
		w.pusher.SetStop(func(at bool) error {
			if at == after {
				return context.Canceled
			}
			return nil
		})
		if _, err := w.pusher.Flush(t.Context(), w.Branch, to); !errors.Is(err, context.Canceled) {
			t.Errorf("no crash: %v", err)
		}
		w.newPusher()
		there("taken back", false)
	}
	w.edit("One", "Jedna")
	there("pushed", true)
	w.up.Push("Merger", gittest.Files{"po/cs.po": strings.Replace(file, "msgstr \"\"\n\nmsgid \"Two", "msgstr \"Jedna\"\n\nmsgid \"Two", 1)}, w.head("main"))
	there("done", false)
	w.edit("Two", "Dva")
	there("pushed", true)
	w.up.Push("Other", gittest.Files{"po/cs.po": strings.Replace(file, "\nmsgid \"Two\"\nmsgstr \"Dvě\"\n", "", 1)}, w.head("main"))
	there("the string is away", false)
	w.up.Push("Other", gittest.Files{"po/cs.po": file}, w.head("main"))
	w.Sync()
	if due, err := w.pusher.Due(t.Context(), w.Branch, true); err != nil || !due {
		t.Errorf("the string is back, and its edit is not due: %v", err)
	}
	there("the string is back", true)
	// A file that is broken for a while says nothing about its edits.
	w.up.Push("Other", gittest.Files{"po/cs.po": "msgid \""}, w.head("main"))
	there("the file is broken", true)
	theirs := w.up.Commit("Other", gittest.Files{"x": "y"}, w.head("l10n"))
	w.up.Set("l10n", theirs)
	discard()
	if _, err := w.pusher.Flush(t.Context(), w.Branch, to); err == nil || w.head("l10n") != theirs {
		t.Errorf("what others pushed was removed: %v", err)
	}
	w.Verify()
}

// TestSharedBranch: what one component has on a branch of ours stays when another one, of
// another mode, has nothing for it.
func TestSharedBranch(t *testing.T) {
	s := catalog.ComponentSettings{PushBranch: "l10n", LanguageRegex: "^[^.]+$", Edits: catalog.Edits{Mode: catalog.PushBranch}}
	w := newWorld(t, s)
	other := s
	other.Filemask, other.Edits.Mode = "web/*.po", catalog.PushRequest
	w.up.Push("Other", gittest.Files{"po/cs.po": file, "web/de.po": file}, w.head("main"))
	w.Configure(w.up.Dir, "", map[string]catalog.ComponentSettings{"app": s, "web": other})
	w.Sync()
	w.edit("One", "Jedna")
	w.flush()
	first := w.head("l10n")
	w.flush()
	if w.head("l10n") != first {
		t.Error("the branch has moved")
	}
}

// fakeForge is a forge with one request.
type fakeForge struct {
	forge.Request
	draft  forge.Draft
	opened int
}

func (f *fakeForge) Find(context.Context, string, string) (forge.Request, bool, error) {
	return f.Request, f.State == forge.Open, nil
}

func (f *fakeForge) Open(_ context.Context, d forge.Draft) (forge.Request, error) {
	f.opened++
	f.draft, f.Request = d, forge.Request{Number: f.opened, State: forge.Open, URL: fmt.Sprint("https://forge/", f.opened), Title: d.Title, Body: d.Body, Base: d.Base}
	return f.Request, nil
}

func (f *fakeForge) Update(_ context.Context, r forge.Request) (forge.Request, error) {
	f.Title, f.Body = r.Title, r.Body
	return f.Request, nil
}

func (f *fakeForge) Close(context.Context, int) error {
	f.State = forge.Closed
	return nil
}

func (f *fakeForge) Read(context.Context, int) (forge.Request, error) { return f.Request, nil }

func (f *fakeForge) List(context.Context, string) ([]forge.Request, bool, error) {
	return nil, false, nil
}

// TestRequestWithNothingLeft: when the edits of an open request are taken back, or came to
// the branch in another way, the request is closed, and the next edit gets one of its own.
func TestRequestWithNothingLeft(t *testing.T) {
	f := &fakeForge{}
	w := newWorld(t, catalog.ComponentSettings{Edits: catalog.Edits{Mode: catalog.PushRequest}})
	w.to.Forge = f
	w.edit("One", "Jedna")
	w.flush()
	w.EachUnit(func(c *catalog.Component, tr *catalog.Translation, u *catalog.Unit) {
		if tr.Language == "cs" && u.Source == "One" {
			_, err := w.Editor.Discard(t.Context(), c.ID, anna, "reset", false, func(e *store.Edit) bool { return e.TranslationID == tr.ID })
			gittest.Must(t, err)
		}
	})
	w.flush()
	w.want(" Dvě | discarded reset", "taken back")
	if f.State != forge.Closed || f.opened != 1 {
		t.Errorf("the request is open: %+v", f)
	}
	w.edit("Two", "Dva")
	w.flush()
	if f.opened != 2 || strings.Contains(f.Body, "Jedna") {
		t.Errorf("a new request: %+v", f)
	}
	w.up.Push("Other", gittest.Files{"po/cs.po": strings.Replace(file, "Dvě", "Dva", 1)}, w.head("main"))
	w.flush()
	w.want(" Dva | discarded reset, flushed", "done in another way")
	if got, err := w.pusher.Requested(t.Context(), w.Branch); f.State != forge.Closed || got || err != nil {
		t.Errorf("the request is open: %+v, %v, %v", f, got, err)
	}
}

// TestRequest flushes to a request, which is updated, closed, and opened anew for what
// is restored.
func TestRequest(t *testing.T) {
	f := &fakeForge{}
	w := newWorld(t, catalog.ComponentSettings{Edits: catalog.Edits{Mode: catalog.PushRequest}, PullMessage: "News from {{ site_title }}\r\n\r\nSee {{ url }}."})
	w.to.Forge = f
	w.edit("One", "Jedna")
	w.flush()
	if f.draft.Head != "repoglot/demo/app" || f.draft.Base != "main" || f.Title != "News from repoglot" || !strings.Contains(f.Body, "Jedna") || f.opened != 1 {
		t.Errorf("%+v", f)
	}
	requested := func(want bool) {
		t.Helper()
		if got, err := w.pusher.Requested(t.Context(), w.Branch); err != nil || got != want {
			t.Errorf("edits wait in a request: %v, %v", got, err)
		}
	}
	requested(true)
	w.edit("Two", "Dvo  jka")
	w.flush()
	if f.opened != 1 || !strings.Contains(f.Body, "| `cs` | `One` | – | `Jedna` |  |\n| `cs` | `Two` | `Dvě` | `Dvo  jka` | `double_space` |") {
		t.Errorf("not updated in place: %+v", f)
	}
	w.edit("Two", "Dva") // after the request was last updated
	f.State = forge.Closed
	_, last := w.ChangesAfter(0)
	w.flush()
	w.want("? Dva* | conflict the request 1 was closed without a merge, pending", "closed")
	text, _ := w.ChangesAfter(last)
	if lines := strings.Split(text, "\n"); len(lines) != 3 || !strings.HasPrefix(text, "59 ") || !strings.HasSuffix(lines[0], "map[edit_conflict:1]") ||
		!strings.HasPrefix(lines[1], "18 app ") || !strings.HasSuffix(lines[1], "map[request:2 url:https://forge/2]") {
		t.Errorf("entries of a closed request, and of the next one:\n%s", text)
	}
	if f.opened != 2 || strings.Contains(f.Body, "Jedna") {
		t.Errorf("the rest: %+v", f)
	}
	w.edit("One", "Jedna") // restored
	w.flush()
	if !strings.Contains(f.Body, "Jedna") || f.opened != 2 {
		t.Errorf("restored: %+v", f)
	}
	w.up.Push("Merger", gittest.Files{"po/cs.po": gittest.RunGit(t, w.up.Dir, "cat-file", "blob", "repoglot/demo/app:po/cs.po") + "\n"}, w.head("main"), w.head("repoglot/demo/app"))
	f.State = forge.Merged
	w.flush()
	w.want("Jedna Dva | conflict the request 1 was closed without a merge, flushed, flushed", "merged")
	requested(false)
}

// TestForeignCommits: what others push to our branch is not overwritten before it is merged,
// in whatever way, and then edits go on without anybody's help.
func TestForeignCommits(t *testing.T) {
	for _, how := range []string{"merged", "squashed", "closed", "merged without a request"} {
		t.Run(how, func(t *testing.T) {
			f := &fakeForge{}
			s := catalog.ComponentSettings{PushBranch: "l10n", Edits: catalog.Edits{Mode: catalog.PushRequest}}
			if how == "merged without a request" {
				s.Edits.Mode = catalog.PushBranch
			}
			w := newWorld(t, s)
			w.to.Forge = f
			to := func(*store.BranchComponent) push.Destination { return w.to }
			w.edit("One", "Jedna")
			w.flush()
			files := gittest.Files{"po/cs.po": gittest.RunGit(t, w.up.Dir, "cat-file", "blob", "l10n:po/cs.po") + "\n", "other": "mended"}
			main := w.head("main")
			theirs := w.up.Commit("Other", files, w.head("l10n"))
			w.up.Set("l10n", theirs)
			w.edit("Two", "Dva")
			for range 2 {
				_, err := w.pusher.Flush(t.Context(), w.Branch, to)
				if !errors.Is(err, push.ErrForeign) || w.head("l10n") != theirs || strings.Contains(err.Error(), "merge the request 1") != (s.Edits.Mode == catalog.PushRequest) {
					t.Fatalf("not merged: %v", err)
				}
			}
			w.want("Jedna* Dva* | pending, pending", "before")
			switch f.State = forge.Merged; how {
			case "squashed":
				w.up.Push("Other", files, main)
			case "closed":
				f.State = forge.Closed
				_, err := w.pusher.Flush(t.Context(), w.Branch, to)
				if !errors.Is(err, push.ErrForeign) || w.head("l10n") != theirs {
					t.Errorf("closed: %v", err)
				}
				w.want("? Dva* | conflict the request 1 was closed without a merge, pending", "closed")
				return
			default:
				w.up.Push("Other", files, main, theirs)
			}
			w.flush()
			w.want("Jedna Dva* | flushed, pending", "after")
			if parent := gittest.RunGit(t, w.up.Dir, "rev-parse", "l10n~1"); parent != w.head("main").String() {
				t.Errorf("the branch is on %s", parent)
			}
		})
	}
}

// TestDetachedHead: without a branch there is nothing to push to, which is said.
func TestDetachedHead(t *testing.T) {
	up := gittest.NewUpstream[object.Hash](t)
	head := up.Push("Other", gittest.Files{"po/cs.po": file})
	gittest.Must(t, os.WriteFile(filepath.Join(up.Dir, "HEAD"), []byte(head.String()+"\n"), 0o600))
	w := worldOf(t, up, catalog.ComponentSettings{Edits: catalog.Edits{Mode: catalog.PushDirect}})
	w.edit("One", "Jedna")
	_, err := w.pusher.Flush(t.Context(), w.Branch, func(*store.BranchComponent) push.Destination { return w.to })
	if err == nil || !strings.Contains(err.Error(), "no branch") {
		t.Errorf("%v", err)
	}
	if _, err := object.ReadRef(w.up.Dir, "refs/heads/HEAD"); err == nil {
		t.Error("a branch HEAD was made")
	}
}
