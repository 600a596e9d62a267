package push_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/edit"
	"github.com/repoglot/repoglot/catalog/editing"
	"github.com/repoglot/repoglot/catalog/push"
	"github.com/repoglot/repoglot/catalog/store"
	"github.com/repoglot/repoglot/gitsource/forge"
	"github.com/repoglot/repoglot/gitsource/gittest"
	"github.com/repoglot/repoglot/gitsource/object"
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
	due, err := w.pusher.Due(w.t.Context(), w.Branch, true)
	gittest.Must(w.t, err)
	gittest.Must(w.t, w.DB.Read(w.t.Context(), func(ctx context.Context, snap *store.Snapshot) error {
		list, err := snap.PendingFiles(ctx, component)
		for _, e := range list {
			files += map[bool]string{false: "+", true: "-"}[e.Kind == store.EditRemoveFile] + e.Path + "@" + e.Pushed.Branch + " "
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
	gittest.Must(t, w.Editor.AddTranslation(t.Context(), c.ID, "de", anna))
	if err := w.Editor.AddTranslation(t.Context(), c.ID, "de", anna); !errors.Is(err, edit.ErrNotAdded) {
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
		gittest.Must(t, w.Editor.RemoveTranslation(t.Context(), c.ID, &cs, anna))
	}
	w.wantFiles("removed", c.ID, true, "-po/cs.po@")
	w.crashes()
	w.wantFiles("pushed", c.ID, false, "")
	if got := gittest.RunGit(t, w.up.Dir, "log", "-2", "--format=%an", "--name-status", "main"); got != "Anna\n\nD\tpo/cs.po\nAnna\n\nA\tpo/de.po" {
		t.Errorf("commits:\n%s", got)
	}
	said := map[catalog.Action]string{}
	gittest.Must(t, w.DB.Read(t.Context(), func(ctx context.Context, snap *store.Snapshot) error {
		list, err := snap.Changes(ctx, store.ChangeQuery{Limit: 1000})
		for i := range list {
			if c := &list[i]; c.Username == "anna" {
				said[c.Action] += c.Event["file"]
			}
		}
		return err
	}))
	if said[catalog.ActionAddedLanguage] != "po/de.po" || said[catalog.ActionRemoveTranslation] != "po/cs.po" {
		t.Errorf("Anna's entries are %v", said)
	}
}

// TestAddedMeanwhile: a language that a pull brings between the look and the write is not added.
func TestAddedMeanwhile(t *testing.T) {
	w, c := newFileWorld(t, catalog.ComponentSettings{Edits: catalog.Edits{Mode: catalog.PushDirect, Flush: time.Hour}})
	now, pulled := w.Editor.Now, false
	w.Editor.Now = func() time.Time { // asked after the look
		if !pulled {
			pulled = true
			w.up.Push("Other", gittest.Files{"po/cs.po": file, "po/de.po": file, "po/app.pot": strings.Replace(file, "Dvě", "", 1)}, w.head("main"))
			w.Sync()
		}
		return now()
	}
	if err := w.Editor.AddTranslation(t.Context(), c.ID, "de", anna); !pulled || !errors.Is(err, edit.ErrNotAdded) {
		t.Errorf("added although it is there: %v, %v", pulled, err)
	}
	w.wantFiles("afterwards", c.ID, false, "")
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
	gittest.Must(t, w.Editor.AddTranslation(t.Context(), c.ID, "de", anna))
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
	gittest.Must(t, w.Editor.AddTranslation(t.Context(), c.ID, "ja", anna))
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
	gittest.Must(t, w.Editor.AddTranslation(t.Context(), c.ID, "de", anna))
	s.Filemask = "l10n/*.po"
	head := w.up.Push("Other", gittest.Files{"l10n/cs.po": file, "po/app.pot": file}, w.head("main"))
	w.Configure(w.up.Dir, "", map[string]catalog.ComponentSettings{"app": s})
	w.Sync()
	w.flush()
	if w.head("main") != head {
		t.Error("something was pushed")
	}
	w.wantFiles("with another filemask", c.ID, false, "")
	gittest.Must(t, w.Editor.AddTranslation(t.Context(), c.ID, "de", anna))
	w.wantFiles("added again", c.ID, true, "+l10n/de.po@")
}

// fileEdits returns all edits of files of a component, one a line.
func (w *world) fileEdits(component int64) (text string) {
	w.t.Helper()
	gittest.Must(w.t, w.DB.Read(w.t.Context(), func(ctx context.Context, snap *store.Snapshot) error {
		list, _, err := snap.Edits(ctx, store.EditQuery{Components: []int64{component}, Limit: 100})
		for _, e := range list {
			if e.Kind == store.EditText {
				continue
			}
			text += strings.TrimSpace(fmt.Sprintf("%d %s%s %s %s", e.ID, map[bool]string{false: "+", true: "-"}[e.Kind == store.EditRemoveFile], e.Path, e.Status, e.Reason)) + "\n"
		}
		return err
	}))
	return text
}

// TestFilesEnd: no edit of a file is pending for ever.
func TestFilesEnd(t *testing.T) {
	s := catalog.ComponentSettings{PushBranch: "l10n", NewBase: "po/app.pot", LanguageRegex: "^[^.]+$", Edits: catalog.Edits{Mode: catalog.PushBranch}}
	w, c := newFileWorld(t, s)
	want := func(when, edits string) {
		t.Helper()
		w.flush()
		if got := w.fileEdits(c.ID); got != edits {
			t.Errorf("%s:\n%swant\n%s", when, got, edits)
		}
		w.Verify()
	}
	add := func(code string) {
		t.Helper()
		gittest.Must(t, w.Editor.AddTranslation(t.Context(), c.ID, code, anna))
	}
	push := func(files gittest.Files) {
		pot := strings.Replace(file, "Dvě", "", 1)
		all := gittest.Files{"po/cs.po": file, "po/app.pot": pot}
		for path, text := range files {
			if all[path] = text; text == "" {
				delete(all, path)
			}
		}
		w.up.Push("Other", all, w.head("main"))
	}
	add("de")
	want("pushed", "1 +po/de.po pending\n")
	push(gittest.Files{"po/de.po": "msgid \""})
	list := "1 +po/de.po flushed the repository has the file, which is not served\n"
	want("merged, and broken", list)
	add("ru")
	want("pushed", list+"2 +po/ru.po pending\n")
	push(gittest.Files{"po/ru_RU.po": file, "po/de.po": file})
	list += "2 +po/ru.po discarded the repository has the language in po/ru_RU.po\n"
	want("the language is in another file", list)
	add("ja")
	push(gittest.Files{"po/app.pot": "msgid \""})
	list3 := list + "3 +po/ja.po pending po/ja.po: "
	w.flush()
	if got := w.fileEdits(c.ID); !strings.HasPrefix(got, list3) {
		t.Errorf("without a template:\n%s", got)
	}
	expire := func(at time.Time, ended, forgotten int) {
		t.Helper()
		if e, f, err := w.Editor.Expire(t.Context(), at); err != nil || e != ended || f != forgotten {
			t.Errorf("at %s: %d ended, %d forgotten, %v; want %d, %d", at, e, f, err, ended, forgotten)
		}
	}
	start := w.Clock
	expire(start.Add(editing.KeepAway-time.Minute), 0, 1) // the second
	expire(start.Add(editing.KeepAway+time.Hour), 1, 0)
	if got := w.fileEdits(c.ID); !strings.Contains(got, "3 +po/ja.po discarded it could not be done for 90 days: po/ja.po: ") {
		t.Errorf("90 days later:\n%s", got)
	}
	expire(start.Add(2*editing.KeepAway), 0, 0) // the newest stays
	push(nil)
	w.flush()
	add("fr")
	expire(start.Add(2*editing.KeepAway), 0, 1)
	list = "1 +po/de.po flushed the repository has the file, which is not served\n4 +po/fr.po "
	want("later", list+"pending\n")
	s.LanguageRegex = "^(cs|de)$"
	w.Configure(w.up.Dir, "", map[string]catalog.ComponentSettings{"app": s})
	want("it is no language any more", list+"discarded the filemask and language_regex do not select po/fr.po\n")
}

// TestFilesTakenBack: a language that is taken back while its push is under way is not
// added, and one that is added meanwhile has its own reason: each attempt has the files
// that are wanted then.
func TestFilesTakenBack(t *testing.T) {
	w, c := newFileWorld(t, catalog.ComponentSettings{Edits: catalog.Edits{Mode: catalog.PushDirect}})
	gittest.Must(t, w.Editor.AddTranslation(t.Context(), c.ID, "de", anna))
	during := meanwhile(func() {
		done, err := w.Editor.Discard(t.Context(), c.ID, anna, "taken back", false, func(*store.Edit) bool { return true })
		if err != nil || done.Edits != 1 {
			t.Errorf("%+v taken back: %v", done, err)
		}
		gittest.Must(t, w.Editor.AddTranslation(t.Context(), c.ID, "fr", anna))
		w.up.Push("Other", gittest.Files{"po/cs.po": file, "po/app.pot": strings.Replace(file, "Dvě", "", 1), "other": "y"}, w.head("main"))
	})
	_, err := w.pusher.Flush(t.Context(), w.Branch, func(*store.BranchComponent) push.Destination { return push.Destination{Signer: &during} })
	gittest.Must(t, err)
	if got := gittest.RunGit(t, w.up.Dir, "ls-tree", "--name-only", "main:po"); got != "app.pot\ncs.po\nfr.po" {
		t.Errorf("main has %q", got)
	}
	if got, want := w.fileEdits(c.ID), "1 +po/de.po discarded taken back\n2 +po/fr.po flushed\n"; got != want {
		t.Errorf("edits:\n%s\nwant\n%s", got, want)
	}
}

// newGlossary is a world whose component is a glossary.
func newGlossary(t *testing.T, s catalog.ComponentSettings) (w *world, c catalog.Component, cs catalog.Translation) {
	t.Helper()
	s.IsGlossary = true
	w = newWorld(t, s)
	w.Sync()
	w.EachUnit(func(owner *catalog.Component, tr *catalog.Translation, _ *catalog.Unit) {
		if c = *owner; tr.Language == "cs" {
			cs = *tr
		}
	})
	return w, c, cs
}

func term(source, target string) edit.NewString {
	return edit.NewString{Source: source, Text: edit.Text{Target: target, State: catalog.StateTranslated}, Author: anna}
}

// TestStrings adds a string to a glossary, with a crash after the push: it is there once,
// as its author's commit, before the edits of other strings.
func TestStrings(t *testing.T) {
	w, c, cs := newGlossary(t, catalog.ComponentSettings{Edits: catalog.Edits{Mode: catalog.PushDirect, Flush: time.Hour}})
	gittest.Must(t, w.Editor.AddString(t.Context(), c.ID, &cs, term("Branch", "Větev")))
	gittest.Must(t, w.Editor.AddString(t.Context(), c.ID, &cs, term("Tag", "Značka")))
	var invalid *edit.InvalidError
	for _, source := range []string{"Branch", "One", "", "a\x00"} {
		if err := w.Editor.AddString(t.Context(), c.ID, &cs, term(source, "Jiná")); !errors.As(err, &invalid) || invalid.Field != "source" {
			t.Errorf("added %q: %v", source, err)
		}
	}
	w.edit("One", "Jedna")
	w.wantFiles("added", c.ID, true, "+po/cs.po@ +po/cs.po@")
	w.crashes()
	w.wantFiles("pushed", c.ID, false, "")
	want := strings.Replace(file, "msgid \"One\"\nmsgstr \"\"", "msgid \"One\"\nmsgstr \"Jedna\"", 1) + "\nmsgid \"Branch\"\nmsgstr \"Větev\"\n\nmsgid \"Tag\"\nmsgstr \"Značka\"\n"
	_, got, _ := strings.Cut(gittest.RunGit(t, w.up.Dir, "show", "main:po/cs.po"), "\n\n")
	if _, want, _ = strings.Cut(want, "\n\n"); got != strings.TrimSpace(want) {
		t.Errorf("the file:\n%s\nwant\n%s", got, want)
	}
	if got := gittest.RunGit(t, w.up.Dir, "log", "-3", "--format=%an", "main"); !strings.HasSuffix(got, "Anna\nAnna") {
		t.Errorf("authors: %s", got)
	}
}

// TestStringsOfRequests: a string waits on our branch until it is merged. One that the
// repository gets otherwise is done, and one whose file cannot take it says why.
func TestStringsOfRequests(t *testing.T) {
	f := &fakeForge{}
	w, c, cs := newGlossary(t, catalog.ComponentSettings{PushBranch: "l10n", Edits: catalog.Edits{Mode: catalog.PushRequest}})
	w.to.Forge = f
	gittest.Must(t, w.Editor.AddString(t.Context(), c.ID, &cs, term("Branch", "Větev")))
	w.flush()
	w.wantFiles("pushed", c.ID, false, "+po/cs.po@l10n")
	first := w.head("l10n")
	if w.flush(); w.head("l10n") != first || f.opened != 1 {
		t.Errorf("the branch moves for nothing, %d requests", f.opened)
	}
	w.up.Push("Other", gittest.Files{"po/cs.po": file + "\nmsgid \"Branch\"\nmsgstr \"Haluz\"\n"}, w.head("main"))
	f.State = forge.Merged
	w.flush()
	w.wantFiles("there", c.ID, false, "")
	w.up.Push("Other", gittest.Files{"po/cs.po": strings.NewReplacer("UTF-8", "ISO-8859-2", "Dvě", "Dve").Replace(file)}, w.head("main"))
	gittest.Must(t, w.Editor.AddString(t.Context(), c.ID, &cs, term("Flag", "国")))
	w.flush()
	if got, want := w.fileEdits(c.ID), "1 +po/cs.po flushed the repository has the string with another text\n2 +po/cs.po pending po/cs.po: add a string: "; !strings.HasPrefix(got, want) || !strings.Contains(got, "ISO-8859-2") {
		t.Errorf("edits:\n%s", got)
	}
}

// TestOddPaths adds a language where no file can be: it says why, and expires. Nobody else's
// edits wait for it, be they in a path that git takes and we would not make.
func TestOddPaths(t *testing.T) {
	gittest.NeedGit(t)
	up := gittest.NewUpstream[object.Hash](t)
	odd := "web:v2\u200c"
	files := gittest.Files{"po/cs/app.po": file, "po/pt/app.po": file, "po/pt_BR": "->pt", odd + "/po/cs/app.po": file, "app.pot": file}
	up.Push("Other", files)
	s := catalog.ComponentSettings{Filemask: "po/*/app.po", NewBase: "app.pot", LanguageRegex: "^[^.]+$", Edits: catalog.Edits{Mode: catalog.PushDirect}}
	w := worldOf(t, up, s)
	web := s
	web.Filemask = odd + "/po/*/app.po"
	w.Configure(up.Dir, "", map[string]catalog.ComponentSettings{"app": s, "web": web})
	w.Sync()
	var app int64
	w.EachComponent(func(_ context.Context, _ *store.Snapshot, c *store.ComponentRow) error {
		if c.Slug == "app" {
			app = c.ID
		}
		return nil
	})
	if err := w.Editor.AddTranslation(t.Context(), app, "pt_BR", anna); !errors.Is(err, edit.ErrNotAdded) {
		t.Errorf("below a symlink: %v", err)
	}
	files["po/de/app.po/x"] = "y" // somebody was faster
	gittest.Must(t, w.Editor.AddTranslation(t.Context(), app, "de", anna))
	w.up.Push("Other", files, w.head("main"))
	w.edit("One", "Jedna") // in both
	report := w.flush()
	if report.Edits != 2 || !strings.Contains(fmt.Sprint(report.Held), "no file can be written here") {
		t.Errorf("%+v", report)
	}
	w.want("Jedna Dvě Jedna Dvě | flushed, flushed", "flushed")
	w.wantFiles("flushed", app, true, "+po/de/app.po@")
	w.Clock = w.Clock.Add(editing.KeepAway + time.Hour)
	_, _, err := w.Editor.Expire(t.Context(), w.Clock)
	gittest.Must(t, err)
	w.wantFiles("expired", app, false, "")
	// A file that somebody replaced by a symlink is gone.
	w.EachUnit(func(c *catalog.Component, tr *catalog.Translation, u *catalog.Unit) {
		if c.ID == app && tr.Language == "pt" && u.Source == "One" {
			gittest.Must(t, w.Editor.RemoveTranslation(t.Context(), app, tr, anna))
		}
	})
	files["po/pt/app.po"] = "->../cs/app.po"
	w.up.Push("Other", files, w.head("main"))
	w.flush()
	w.wantFiles("replaced", app, false, "")
}

// TestRemoveAlias removes a language that its file and LINGUAS spell in another way: the
// project's spelling counts, also in messages.
func TestRemoveAlias(t *testing.T) {
	w, c := newFileWorld(t, catalog.ComponentSettings{
		DeleteMessage: "Remove {{ language_code }}", CommitMessage: "Edit {{ language_code }}",
		Edits: catalog.Edits{Mode: catalog.PushDirect, Flush: time.Hour},
	})
	w.up.Push("Chinese", gittest.Files{
		"po/zh_CN.po": file, "po/app.pot": strings.Replace(file, "Dvě", "", 1), "po/LINGUAS": "cs\nzh_CN\n",
	}, w.head("main"))
	w.Sync()
	var chinese catalog.Translation
	w.EachUnit(func(_ *catalog.Component, tr *catalog.Translation, u *catalog.Unit) {
		if tr.Language != "zh_Hans" {
			return
		}
		if chinese = *tr; u.Source == "One" {
			_, err := w.Editor.Edit(t.Context(), c.ID, tr.ID, anna, []edit.Request{{UnitID: u.ID, Target: []string{"X"}, State: catalog.StateTranslated}})
			gittest.Must(t, err)
		}
	})
	w.flush()
	gittest.Must(t, w.Editor.RemoveTranslation(t.Context(), c.ID, &chinese, anna))
	w.flush()
	if got := gittest.RunGit(t, w.up.Dir, "show", "main:po/LINGUAS"); strings.TrimSpace(got) != "cs" {
		t.Errorf("LINGUAS is %q", got)
	}
	if got := gittest.RunGit(t, w.up.Dir, "log", "-2", "--format=%s", "main"); got != "Remove zh_CN\nEdit zh_CN" {
		t.Errorf("commits:\n%s", got)
	}
}

// TestRequestOfFiles: the text of a request names the languages that it adds.
func TestRequestOfFiles(t *testing.T) {
	w, c := newFileWorld(t, catalog.ComponentSettings{PushBranch: "l10n", Edits: catalog.Edits{Mode: catalog.PushRequest}})
	f := &fakeForge{}
	gittest.Must(t, w.Editor.AddTranslation(t.Context(), c.ID, "de", anna))
	_, err := w.pusher.Flush(t.Context(), w.Branch, func(*store.BranchComponent) push.Destination { return push.Destination{Forge: f} })
	gittest.Must(t, err)
	if !strings.HasSuffix(f.draft.Body, "- adds the language `de`: `po/de.po`") {
		t.Errorf("the request says %q", f.draft.Body)
	}
}
