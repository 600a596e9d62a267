package push_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/edit"
	"github.com/repoglot/repoglot/catalog/flush"
	"github.com/repoglot/repoglot/catalog/store"
	"github.com/repoglot/repoglot/gitsource/forge"
	"github.com/repoglot/repoglot/gitsource/gittest"
	"github.com/repoglot/repoglot/poparse"
	"github.com/repoglot/repoglot/poparse/msgmerge"
)

// potOf is a template with strings.
func potOf(ids ...string) string {
	var b strings.Builder
	b.WriteString("msgid \"\"\nmsgstr \"\"\n\"Content-Type: text/plain; charset=UTF-8\\n\"\n")
	for i, id := range ids {
		fmt.Fprintf(&b, "\n#: main.c:%d\nmsgid %q\nmsgstr \"\"\n", i+1, id)
	}
	return b.String()
}

// template pushes a new version of the template, with the file as it is.
func (w *world) template(ids ...string) {
	w.t.Helper()
	now := gittest.RunGit(w.t, w.up.Dir, "show", "main:po/cs.po") + "\n"
	w.up.Push("Other", gittest.Files{"po/cs.po": now, "po/app.pot": potOf(ids...)}, w.head("main"))
	w.Sync()
}

func newUpdateWorld(t *testing.T, mode catalog.PushMode, u catalog.Update) (*world, catalog.Component) {
	t.Helper()
	u.On = true
	return newFileWorld(t, catalog.ComponentSettings{PushBranch: map[bool]string{true: "l10n"}[mode != catalog.PushDirect], AddonMessage: "Update by {{ addon_name }}", Edits: catalog.Edits{Mode: mode, Flush: time.Hour, Update: u}})
}

func (w *world) due() bool {
	w.t.Helper()
	due, err := w.pusher.Due(w.t.Context(), w.Branch, true)
	gittest.Must(w.t, err)
	return due
}

func (w *world) file(branch string) string {
	w.t.Helper()
	return gittest.RunGit(w.t, w.up.Dir, "show", branch+":po/cs.po")
}

// TestUpdate updates a file after the edits of people, in a commit of the server's, with a
// crash after the push: once, and not again while the template's strings stay.
func TestUpdate(t *testing.T) {
	w, _ := newUpdateWorld(t, catalog.PushDirect, catalog.Update{})
	if w.flush(); w.due() {
		t.Error("due although the file has all strings")
	}
	w.edit("One", "Jedna")
	w.template("One", "Two", "Three is a new string")
	if !w.due() {
		t.Error("not due after a new template")
	}
	w.crashes()
	w.want("Jedna Dvě  | flushed", "updated")
	if got, want := w.at("main"), "repoglot <noreply@example.org> Update by msgmerge\n\npo/cs.po"; got != want {
		t.Errorf("main:\n%s\nwant\n%s", got, want)
	}
	if text := w.file("main"); !strings.Contains(text, "#: main.c:3\nmsgid \"Three is a new string\"\nmsgstr \"\"") {
		t.Errorf("the file:\n%s", text)
	}
	head := w.head("main").String()
	for range 2 {
		if w.flush(); w.due() || w.head("main").String() != head {
			t.Errorf("again due %v, at %s", w.due(), w.at("main"))
		}
	}
	w.template("Two", "One", "Three is a new string") // no string changes
	if w.flush(); w.due() || w.at("main") == head || strings.Contains(w.at("main"), "msgmerge") {
		t.Errorf("updated without a reason: %s", w.at("main"))
	}
	w.Verify()
}

// TestUpdateQuiet: files wait until the template was quiet.
func TestUpdateQuiet(t *testing.T) {
	w, _ := newUpdateWorld(t, catalog.PushDirect, catalog.Update{After: time.Hour})
	for _, ids := range [][]string{{"One", "Two", "A third one"}, {"One", "Two", "A third one", "And a fourth"}} {
		w.Clock = w.Clock.Add(50 * time.Minute)
		if w.template(ids...); w.due() {
			t.Error("due at once")
		}
		if w.flush(); strings.Contains(w.file("main"), "third") {
			t.Error("updated at once")
		}
	}
	w.Clock = w.Clock.Add(61 * time.Minute)
	if !w.due() {
		t.Error("not due after an hour")
	}
	if w.flush(); !strings.Contains(w.file("main"), "fourth") || strings.Count(gittest.RunGit(t, w.up.Dir, "log", "--format=%s", "main"), "msgmerge") != 1 {
		t.Errorf("one commit is wanted:\n%s", w.file("main"))
	}
	w.Verify()
}

// TestUpdateLosesStrings: a template that lost most of its strings, or cannot be read, updates
// nothing before an admin wants it, and holds up no edit.
func TestUpdateLosesStrings(t *testing.T) {
	w, c := newUpdateWorld(t, catalog.PushDirect, catalog.Update{NoFuzzyMatching: true})
	w.template("Something else", "Another one")
	w.edit("One", "Jedna")
	w.Clock = w.Clock.Add(2 * time.Hour)
	if report := w.flush(); report.Commits != 1 || len(report.Held) != 1 {
		t.Errorf("%+v", report)
	}
	if strings.Contains(w.file("main"), "#~") {
		t.Errorf("strings were lost:\n%s", w.file("main"))
	}
	_, files := w.waits(c.ID)
	if files != "+po/app.pot@" {
		t.Errorf("what waits: %s", files)
	}
	gittest.Must(t, w.Editor.NoteTemplate(t.Context(), c.ID, edit.UpdateWished, anna))
	if w.flush(); strings.Contains(w.file("main"), "#~") {
		t.Error("a wish alone is no force")
	}
	gittest.Must(t, w.Editor.AddTranslation(t.Context(), c.ID, "de", anna)) // has all strings of the template
	w.flush()
	if w.flush(); strings.Contains(w.file("main"), "#~") {
		t.Error("a new file makes up for what the others would lose")
	}
	gittest.Must(t, w.Editor.NoteTemplate(t.Context(), c.ID, edit.UpdateForced, anna))
	if w.flush(); !strings.Contains(w.file("main"), "#~ msgid \"Two\"") {
		t.Errorf("forced:\n%s", w.file("main"))
	}
	w.wantFiles("forced", c.ID, false, "")
}

// TestUpdateBroken: a file that msgmerge refuses is named, with its line, as one that cannot be
// updated, once; the others are updated, and so is it when it is mended.
func TestUpdateBroken(t *testing.T) {
	w, c := newUpdateWorld(t, catalog.PushDirect, catalog.Update{})
	good := w.file("main") + "\n"
	for _, tt := range []struct{ more, reason string }{
		{"\nmsgid \"One\"\nmsgstr \"again\"\n", "po/cs.po:13: "}, {"\ndomain \"other\"\n\nmsgid \"Of another\"\nmsgstr \"\"\n", "po/cs.po:15: "},
	} {
		w.up.Push("Other", gittest.Files{"po/cs.po": good + tt.more, "po/de.po": good, "po/app.pot": potOf("One", "Two", "Three"+tt.reason)}, w.head("main"))
		w.Sync()
		for n := range 2 {
			report := w.flush()
			if report.Commits != 1-n || len(report.Held) != 1 || len(report.Told) != 1-n {
				t.Errorf("%d: %+v", n, report)
			}
			if german := gittest.RunGit(t, w.up.Dir, "show", "main:po/de.po"); !strings.Contains(german, "Three") || strings.Contains(w.file("main"), "Three") {
				t.Errorf("the files are\n%s\n%s", german, w.file("main"))
			}
			w.Read(func(ctx context.Context, snap *store.Snapshot) error {
				stuck, err := snap.AwaySince(ctx, w.Clock, true)
				if len(stuck) != 1 || stuck[0].Path != "po/cs.po" || stuck[0].Kind != store.EditUpdateFile || !strings.Contains(stuck[0].Reason, tt.reason) {
					t.Errorf("what cannot be done: %+v", stuck)
				}
				return err
			})
		}
		w.up.Push("Other", gittest.Files{"po/cs.po": good, "po/de.po": gittest.RunGit(t, w.up.Dir, "show", "main:po/de.po") + "\n", "po/app.pot": potOf("One", "Two", "Three"+tt.reason)}, w.head("main"))
		w.Sync()
		if w.flush(); !strings.Contains(w.file("main"), "Three") {
			t.Errorf("mended, it is\n%s", w.file("main"))
		}
		w.wantFiles("mended", c.ID, false, "")
	}
}

// TestUpdateOfRequests: one request has the update and the edits and says what it brings; a
// closed one is not offered again before the template's strings change.
func TestUpdateOfRequests(t *testing.T) {
	f := &fakeForge{}
	w, c := newUpdateWorld(t, catalog.PushRequest, catalog.Update{})
	w.to.Forge = f
	w.template("One", "Two", "Three is a new string")
	w.flush()
	w.wantFiles("offered", c.ID, false, "+po/cs.po@l10n")
	if f.opened != 1 || !strings.Contains(f.Body, "`po/cs.po` (`cs`): 1 new, 0 reworded, 0 gone") {
		t.Errorf("%d requests: %s", f.opened, f.Body)
	}
	w.edit("One", "Jedna")
	w.flush()
	if text := w.file("l10n"); f.opened != 1 || !strings.Contains(text, "Jedna") || !strings.Contains(text, "Three") {
		t.Errorf("%d requests, of which the branch has\n%s", f.opened, text)
	}
	first := w.head("l10n")
	if w.flush(); w.head("l10n") != first {
		t.Error("the branch moves for nothing")
	}
	f.State = forge.Closed
	w.flush()
	w.wantFiles("closed", c.ID, false, "")
	for _, ids := range [][]string{{"Two", "One", "Three is a new string"}, {"One", "Two", "Three is a new string"}} {
		w.template(ids...)
		w.flush()
		w.wantFiles("refused", c.ID, false, "")
	}
	w.template("One", "Two", "Three is a new string", "Four")
	w.flush()
	w.wantFiles("other strings", c.ID, false, "+po/cs.po@l10n")
	f.State = forge.Merged
	w.up.Set("main", w.head("l10n"))
	w.flush()
	w.wantFiles("merged", c.ID, false, "")
	if f.opened != 2 || !strings.Contains(w.file("main"), "Four") {
		t.Errorf("%d requests\n%s", f.opened, w.file("main"))
	}
}

// TestUpdatedTwice: what was updated is as the template wants it, and Compare knows what becomes
// of the strings.
func TestUpdatedTwice(t *testing.T) {
	words := rapid.SampledFrom([]string{"One", "Two", "One file", "One file was read", "Two files were read", "%d of them"})
	rapid.Check(t, func(t *rapid.T) {
		var file strings.Builder
		file.WriteString(potOf())
		for _, id := range rapid.SliceOfDistinct(words, rapid.ID).Draw(t, "file") {
			fmt.Fprintf(&file, "\n%smsgid %q\nmsgstr %q\n", rapid.SampledFrom([]string{"", "#, fuzzy\n", "# note\n", "#, c-format\n"}).Draw(t, "flags"), id, rapid.SampledFrom([]string{"", "x", "%d x"}).Draw(t, "text"))
		}
		template, err := poparse.Parse("a.pot", []byte(potOf(rapid.SliceOfDistinct(words, rapid.ID).Draw(t, "template")...)))
		if err != nil {
			t.Fatal(err)
		}
		together, err := msgmerge.NewTemplate(template)
		if err != nil {
			t.Fatal(err)
		}
		o := msgmerge.Options{Previous: rapid.Bool().Draw(t, "previous"), NoFuzzyMatching: rapid.Bool().Draw(t, "no fuzzy"), NoLocation: rapid.Bool().Draw(t, "no location")}
		once, did, err := flush.Update("a.po", []byte(file.String()), together, o)
		if err != nil {
			t.Fatal(err)
		}
		would, err := flush.Compare("a.po", []byte(file.String()), together, o)
		did.Added, did.Reworded, did.Taken = did.Added+did.Reworded, 0, 0
		if would != did {
			t.Fatalf("Compare %+v (%v), Update %+v", would, err, did)
		}
		twice, u, err := flush.Update("a.po", once, together, o)
		if err != nil || !u.Same || u.Changed() || !bytes.Equal(once, twice) {
			t.Fatalf("%v, %+v\n%s\nbecomes\n%s", err, u, once, twice)
		}
	})
}

// TestUpdatePer: with request_per each request updates the files of its language; that of
// authors has one of the server's own, after which those of people are as before.
func TestUpdatePer(t *testing.T) {
	const own = "l10n/f3fe1cbefb64b9d0"
	for per, want := range map[catalog.RequestPer]struct{ branches, requests []string }{
		catalog.PerLanguage: {
			[]string{"l10n/cs: po/cs.po web/cs.po", "l10n/de: po/de.po web/de.po"},
			[]string{`open l10n/cs "News (Czech)"`, `open l10n/de "News (German)"`},
		},
		catalog.PerAuthor: {
			[]string{petrs + ": po/de.po web/cs.po", janas + ": po/cs.po", own + ": po/cs.po po/de.po web/cs.po web/de.po"},
			[]string{"open " + petrs + ` "News (Petr)"`, "open " + janas + ` "News (Jana)"`, "open " + own + ` "News (repoglot)"`},
		},
	} {
		t.Run(string(per), func(t *testing.T) {
			w := newKeysWorld(t, per)
			settings := keysSettings(per)
			for slug, s := range settings {
				s.NewBase, s.Edits.Update.On = "app.pot", true
				settings[slug] = s
			}
			w.up.Push("Other", gittest.Files{"app.pot": potOf("One", "Two", "Three is a new string"), "po/cs.po": file, "po/de.po": file, "web/cs.po": file, "web/de.po": file}, w.head("main"))
			w.Configure(w.up.Dir, "", settings)
			w.Sync()
			w.flush()
			w.wants("branches", w.branches(), want.branches)
			w.wants("requests", w.requests(), want.requests)
			heads := gittest.RunGit(t, w.up.Dir, "for-each-ref")
			if w.flush(); gittest.RunGit(t, w.up.Dir, "for-each-ref") != heads {
				t.Error("branches move for nothing")
			}
			w.wants("problems", w.fake.Problems(), nil)
			w.Verify()
		})
	}
}

// TestUpdateAgain: a file that lacks strings of a template that stays is updated again, wherever it
// is, but not for ever, and not if its update was refused.
func TestUpdateAgain(t *testing.T) {
	w, c := newUpdateWorld(t, catalog.PushDirect, catalog.Update{After: time.Hour})
	w.template("One", "Two", "Three is a new string")
	w.due()
	w.Clock = w.Clock.Add(2 * time.Hour)
	w.flush()
	whole, without := w.file("main")+"\n", strings.Replace(file, "Dvě", "Dvě!", 1)
	push := func(n int) {
		w.up.Push("Other", gittest.Files{"po/cs.po": strings.Replace(without, "!", strings.Repeat("!", n), 1), "po/app.pot": potOf("One", "Two", "Three is a new string")}, w.head("main"))
		w.Sync()
		if w.due() {
			t.Error("due at once")
		}
	}
	for n := 1; n <= 3; n++ {
		push(2 * n)
		w.Clock = w.Clock.Add(40 * time.Minute)
		push(2*n + 1) // the template is quiet
		w.Clock = w.Clock.Add(40 * time.Minute)
		w.flush()
		if has := strings.Contains(w.file("main"), "Three"); has != (n < 3) || w.due() {
			t.Errorf("after %d times the file has the string %t, due %t", n, has, w.due())
		}
	}
	for _, text := range []string{"read", "read again"} {
		w.Clock = w.Clock.Add(2 * time.Hour)
		w.flush()
		w.up.Push("Other", gittest.Files{"po/cs.po": w.file("main") + "\n", "po/app.pot": potOf("One", "Two", "Three is a new string"), "README": text}, w.head("main"))
		w.Sync()
		w.due()
	}
	if _, files := w.waits(c.ID); files != "" {
		t.Errorf("what was compared is compared again: %s", files)
	}
	gittest.Must(t, w.Editor.NoteTemplate(t.Context(), c.ID, edit.UpdateWished, anna))
	if w.flush(); !strings.Contains(w.file("main"), "Three") {
		t.Error("not updated although an admin wishes it")
	}
	w.up.Push("Other", gittest.Files{"po/cs.po": whole, "po/app.pot": potOf("Two", "One", "Three is a new string")}, w.head("main"))
	w.Sync()
	w.due()
	w.Clock = w.Clock.Add(2 * time.Hour)
	if w.flush(); w.due() || strings.Contains(w.at("main"), "msgmerge") {
		t.Errorf("updated without a reason: %s", w.at("main"))
	}
	w.Verify()
}

// TestUpdateMoved: a file that is moved while its update waits in a request is updated where it is.
func TestUpdateMoved(t *testing.T) {
	f := &fakeForge{}
	w, c := newUpdateWorld(t, catalog.PushRequest, catalog.Update{})
	w.to.Forge = f
	w.template("One", "Two", "Three is a new string")
	w.flush()
	w.wantFiles("offered", c.ID, false, "+po/cs.po@l10n")
	now := gittest.RunGit(t, w.up.Dir, "show", "main:po/cs.po") + "\n"
	w.up.Push("Other", gittest.Files{"po/cs_CZ.po": now, "po/app.pot": potOf("One", "Two", "Three is a new string")}, w.head("main"))
	w.Sync()
	if !w.due() {
		t.Error("not due")
	}
	w.flush()
	w.wantFiles("moved", c.ID, false, "+po/cs_CZ.po@l10n")
	if text := gittest.RunGit(t, w.up.Dir, "show", "l10n:po/cs_CZ.po"); !strings.Contains(text, "Three") {
		t.Errorf("the branch has\n%s", text)
	}
	tip := w.head("l10n")
	if w.flush(); w.head("l10n") != tip || w.due() {
		t.Error("the branch moves for nothing")
	}
}

// TestUpdateOfMany: files that would get very many strings are not updated before an admin wants it.
func TestUpdateOfMany(t *testing.T) {
	w, c := newUpdateWorld(t, catalog.PushDirect, catalog.Update{})
	w.pusher.SetMost(1)
	w.template("One", "Two", "Three", "Four")
	if report := w.flush(); report.Commits != 0 || len(report.Held) != 1 {
		t.Errorf("%+v", report)
	}
	gittest.Must(t, w.Editor.NoteTemplate(t.Context(), c.ID, edit.UpdateForced, anna))
	if w.flush(); !strings.Contains(w.file("main"), "Four") {
		t.Error("not updated although it is forced")
	}
}

// TestUpdateStopped: an update that found not all similar strings says so in its commit and its
// request, and as the reason of its edit when it is merged.
func TestUpdateStopped(t *testing.T) {
	f := &fakeForge{}
	w, c := newUpdateWorld(t, catalog.PushRequest, catalog.Update{})
	w.to.Forge = f
	long := func(what string) (ids []string) {
		for i := range 120 {
			ids = append(ids, strings.Repeat(fmt.Sprint(what, i, " "), 4096/len(fmt.Sprint(what, i, " "))))
		}
		return ids
	}
	var texts strings.Builder
	for _, id := range long("x") {
		fmt.Fprintf(&texts, "\nmsgid %q\nmsgstr \"text\"\n", id)
	}
	w.up.Push("Other", gittest.Files{"po/app.pot": potOf(append(long("x"), "One", "Two")...), "po/cs.po": w.file("main") + texts.String()}, w.head("main"))
	w.Sync()
	w.template(append(long("y"), "One", "Two")...)
	gittest.Must(t, w.Editor.NoteTemplate(t.Context(), c.ID, edit.UpdateForced, anna))
	w.flush()
	if text := gittest.RunGit(t, w.up.Dir, "log", "-1", "--format=%B", "l10n"); !strings.HasPrefix(text, "Update by msgmerge\n\nThere are too many strings to find all similar ones") {
		t.Errorf("the commit does not say that the update stopped:\n%s", text)
	}
	if !strings.Contains(f.Body, "119 new, 1 reworded, 119 gone") || !strings.Contains(f.Body, "too many to find all similar ones") {
		t.Errorf("the request does not say that the update stopped:\n%s", f.Body)
	}
	for _, status := range []store.EditStatus{store.EditPending, store.EditFlushed} {
		w.flush()
		w.Read(func(ctx context.Context, snap *store.Snapshot) error {
			list, _, err := snap.Edits(ctx, store.EditQuery{Components: []int64{c.ID}, Kind: store.EditUpdateFile, Limit: 10})
			if len(list) != 1 || list[0].Status != status || list[0].Reason != edit.UpdateStopped {
				t.Errorf("the update does not say that it stopped: %+v", list)
			}
			stuck, more := snap.AwaySince(ctx, w.Clock, true)
			if len(stuck) > 0 || w.due() {
				t.Errorf("it counts as one that cannot be done: %+v", stuck)
			}
			return errors.Join(err, more)
		})
		if f.State == forge.Open {
			f.State = forge.Merged
			w.up.Set("main", w.head("l10n"))
		}
	}
}

// TestUpdateElsewhere: a template of another branch updates files, and makes those of new
// languages; the file of its path in the branch of the translations counts for nothing.
func TestUpdateElsewhere(t *testing.T) {
	s := catalog.ComponentSettings{AddonMessage: "Update by {{ addon_name }}", Edits: catalog.Edits{Mode: catalog.PushDirect, Flush: time.Hour, Update: catalog.Update{On: true}}}
	w, c := newFileWorld(t, s)
	code := func(ids ...string) {
		main := w.head("main")
		w.up.Push("Other", gittest.Files{"po/app.pot": potOf(ids...)}, main)
		gittest.RunGit(t, w.up.Dir, "update-ref", "refs/heads/code", "main")
		gittest.RunGit(t, w.up.Dir, "update-ref", "refs/heads/main", main.String())
	}
	code("One", "Two")
	s.NewBase, s.LanguageRegex, s.TemplateBranch = "po/app.pot", "^[^.]+$", "code"
	w.Configure(w.up.Dir, "", map[string]catalog.ComponentSettings{"app": s})
	w.Sync()
	w.flush()
	code("One", "Two", "Three")
	w.Sync()
	head := w.head("main")
	if !w.due() {
		t.Error("not due after a new template")
	}
	w.crashes()
	if text := w.file("main"); !strings.Contains(text, "msgid \"Three\"\nmsgstr \"\"") {
		t.Errorf("the file:\n%s", text)
	}
	if w.due() || w.head("main") == head {
		t.Errorf("due %v, at %s", w.due(), w.at("main"))
	}
	gittest.Must(t, w.Editor.AddTranslation(t.Context(), c.ID, "de", anna))
	w.flush()
	if text := gittest.RunGit(t, w.up.Dir, "show", "main:po/de.po"); !strings.Contains(text, "msgid \"Three\"") {
		t.Errorf("the new file:\n%s", text)
	}
	s.Edits.Update.On = false
	w.Configure(w.up.Dir, "", map[string]catalog.ComponentSettings{"app": s})
	code("One", "Between", "Two", "Three")
	w.Sync()
	_, err := w.translate("Between", catalog.StateTranslated, "Mezi")
	gittest.Must(t, err)
	w.flush()
	if text := w.file("main"); !strings.Contains(text, "#: main.c:2\nmsgid \"Between\"\nmsgstr \"Mezi\"") {
		t.Errorf("the file:\n%s", text)
	}
	w.Verify()
}
