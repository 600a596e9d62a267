package push_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/repoglot/repoglot/api"
	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/edit"
	"github.com/repoglot/repoglot/catalog/query"
	"github.com/repoglot/repoglot/catalog/store"
	"github.com/repoglot/repoglot/gitsource/gittest"
)

// translate translates a string that the Czech file lacks, and returns its unit.
func (w *world) translate(source string, state catalog.State, target ...string) (id int64, err error) {
	w.t.Helper()
	var of catalog.Unit
	var component int64
	czech := map[int64]int64{}
	w.EachUnit(func(c *catalog.Component, tr *catalog.Translation, u *catalog.Unit) {
		if tr.IsSource && u.Source == source {
			component, of = c.ID, *u
		}
		if tr.Language == "cs" {
			czech[c.ID] = tr.ID
		}
	})
	list := []edit.Request{{SourceID: of.ID, Target: target, State: state}}
	_, err = w.Editor.Edit(w.t.Context(), component, czech[component], edit.Author{Name: "Jana Nováková", Email: "jana@example.org"}, list)
	return list[0].UnitID, err
}

// lacks says how many strings the Czech file lacks.
func (w *world) lacks() (n int64) {
	w.t.Helper()
	w.EachComponent(func(ctx context.Context, snap *store.Snapshot, c *store.ComponentRow) error {
		all, err := snap.Translations(ctx, c.ID)
		for i := range all {
			if all[i].Language == "cs" {
				found, err := snap.Search(ctx, store.SearchQuery{Components: map[int64]*store.ComponentRow{c.ID: c}, TranslationID: all[i].ID, Missing: true, Expr: query.All})
				if err != nil {
					return err
				}
				n = found.Count()
			}
		}
		return err
	})
	return n
}

func newMissingWorld(t *testing.T, mode catalog.PushMode, ids ...string) *world {
	t.Helper()
	w, _ := newFileWorld(t, catalog.ComponentSettings{PushBranch: map[bool]string{true: "l10n"}[mode != catalog.PushDirect], Edits: catalog.Edits{Mode: mode, Flush: time.Hour}})
	w.template(ids...)
	return w
}

// TestMissing translates a string that the file lacks: it is a unit at once, is pushed as an
// entry at its place with the template's references, and comes back as what is served.
func TestMissing(t *testing.T) {
	w := newMissingWorld(t, catalog.PushDirect, "One", "Between", "Two")
	w.want(" Dvě | ", "pulled")
	_, last := w.ChangesAfter(0)
	id, err := w.translate("Between", catalog.StateTranslated, "Mezi")
	if gittest.Must(t, err); id == 0 || w.lacks() != 0 {
		t.Errorf("unit %d, %d strings are missing", id, w.lacks())
	}
	w.want(" Dvě Mezi* | pending", "translated")
	if text, _ := w.ChangesAfter(last); strings.Count(text, "\n") != 1 || !strings.HasPrefix(text, "31 app/cs by jana-novakova (Jana Nováková) in  at") || !strings.Contains(text, `"Between" / "": -1 "" -> 20 "Mezi"`) {
		t.Errorf("entries:\n%s", text)
	}
	if _, err := w.translate("Between", catalog.StateTranslated, "Jinak"); err == nil || !strings.Contains(err.Error(), edit.ErrChanged.Error()) {
		t.Errorf("twice: %v", err)
	}
	_, last = w.ChangesAfter(0)
	w.template("One", "Between", "Two", "More") // a pull keeps it
	w.want(" Dvě Mezi* | pending", "pulled again")
	before := w.file("main")
	if report := w.flush(); report.Commits != 1 || report.Edits != 1 {
		t.Errorf("%+v", report)
	}
	w.want(" Dvě Mezi | flushed", "flushed")  // by id
	w.WantEntries(last, "31 app/en by other") // of the template
	if got := w.UnitOf("cs", "Between"); got.ID != id {
		t.Errorf("the unit is %d, was %d", got.ID, id)
	}
	want := strings.Replace(before, "\nmsgid \"Two\"", "\n#: main.c:2\nmsgid \"Between\"\nmsgstr \"Mezi\"\n\nmsgid \"Two\"", 1)
	want = strings.Replace(want, "2020-01-01 00:00+0000", "2025-01-01 12:07+0000", 1)
	want = strings.Replace(want, "Nobody", "Jana Nováková <jana@example.org>", 1)
	if diff := cmp.Diff(want, w.file("main")); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// TestMissingCharset: a string that the charset of its file lacks cannot be written, and is refused
// at once; the others are taken.
func TestMissingCharset(t *testing.T) {
	w := newMissingWorld(t, catalog.PushDirect, "One", "Two")
	latin := strings.Replace(w.file("main")+"\n", "charset=UTF-8", "charset=ISO-8859-1", 1)
	latin = strings.Replace(latin, "Dv\u011b", "Dve", 1)
	w.up.Push("Other", gittest.Files{"po/cs.po": latin, "po/app.pot": potOf("One", "Two", "Caf\u00e9", "\u201cQuoted\u201d")}, w.head("main"))
	w.Sync()
	_, err := w.translate("\u201cQuoted\u201d", catalog.StateTranslated, "Citace")
	if invalid, ok := errors.AsType[*edit.InvalidError](err); !ok || invalid.Field != "target" || !strings.Contains(invalid.Message, "ISO-8859-1") || w.lacks() != 2 {
		t.Errorf("%v, %d strings are missing", err, w.lacks())
	}
	cs := w.UnitOf("cs", "Two")
	counts, err := w.Editor.Upload(t.Context(), cs.ID/catalog.UnitsPerComponent, cs.TranslationID, anna, []byte(potOf("One")+"\nmsgid \"\u201cQuoted\u201d\"\nmsgstr \"Citace\"\n\nmsgid \"Caf\u00e9\"\nmsgstr \"Bistro\"\n"), edit.UploadOptions{Method: edit.Translate})
	if gittest.Must(t, err); counts.Accepted != 1 || counts.NotFound != 1 {
		t.Errorf("uploaded: %+v", counts)
	}
	if w.flush(); !strings.Contains(w.file("main"), "msgid \"Caf\xe9\"\nmsgstr \"Bistro\"") {
		t.Errorf("the file is\n%s", w.file("main"))
	}
}

// TestMissingArrives has the string come to the file while its translation waits, and go again.
func TestMissingArrives(t *testing.T) {
	const header = "msgid \"\"\nmsgstr \"\"\n\"Content-Type: text/plain; charset=UTF-8\\n\"\n\nmsgid \"One\"\nmsgstr \"\"\n"
	for _, tt := range []struct {
		name, entry  string
		overrule     bool
		pulled, then string // states when it was pulled, and when what is left was flushed
		entries      string // actions
	}{
		{"untranslated", "#: a.c:1\nmsgid \"New\"\nmsgstr \"\"\n", false, " Nový* | pending", " Nový | flushed", ""},
		{"fuzzy", "#, fuzzy\nmsgid \"New\"\nmsgstr \"Staré\"\n", false, " Nový* | pending", " Nový | flushed", ""},
		{"with our text", "msgid \"New\"\nmsgstr \"Nový\"\n", false, " Nový | flushed", " Nový | flushed", ""},
		{"with our text, fuzzy", "#, fuzzy\nmsgid \"New\"\nmsgstr \"Nový\"\n", false, " Nový | flushed", " Nový | flushed", "59"},
		{"with another", "msgid \"New\"\nmsgstr \"Novej\"\n", false, " Novej? | conflict conflict", " Novej? | conflict conflict", "59"},
		{"with another, overruled", "msgid \"New\"\nmsgstr \"Novej\"\n", true, " Nový* | pending", " Nový | flushed", ""},
		{"with a plural", "msgid \"New\"\nmsgid_plural \"News\"\nmsgstr[0] \"\"\n", false, " \x1e\x1e\x1e\x1e | pending", " \x1e\x1e\x1e\x1e | pending gone", "31 63"},
		{"obsolete", "#~ msgid \"New\"\n#~ msgstr \"Staré\"\n", false, " Nový* | pending", " Nový | flushed", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w, _ := newFileWorld(t, catalog.ComponentSettings{Edits: catalog.Edits{Mode: catalog.PushDirect, Flush: time.Hour, Overrule: tt.overrule}})
			w.up.Push("Other", gittest.Files{"po/cs.po": header, "po/app.pot": potOf("One", "New")}, w.head("main"))
			w.Sync()
			id, err := w.translate("New", catalog.StateTranslated, "Nový")
			gittest.Must(t, err)
			w.want(" Nový* | pending", "translated")
			_, last := w.ChangesAfter(0)
			w.up.Push("Other", gittest.Files{"po/cs.po": header + "\n" + tt.entry, "po/app.pot": potOf("One", "New")}, w.head("main"))
			w.Sync()
			w.want(tt.pulled, "pulled")
			text, now := w.ChangesAfter(last)
			var actions []string
			for line := range strings.Lines(text) {
				if action, _, _ := strings.Cut(line, " "); strings.Contains(line, "app/cs") {
					actions = append(actions, action)
				}
			}
			if got := strings.Join(actions, " "); got != tt.entries {
				t.Errorf("entries %s, want %s:\n%s", got, tt.entries, text)
			}
			w.flush()
			w.want(tt.then, "flushed")
			if text, _ := w.ChangesAfter(now); text != "" {
				t.Errorf("our own commit makes entries:\n%s", text)
			}
			if tt.name == "with a plural" { // another string for us, and the same for gettext
				return
			}
			if got := w.UnitOf("cs", "New"); got.ID != id {
				t.Errorf("unit %d was %d", got.ID, id)
			}
			if strings.Contains(w.file("main"), "#~") {
				t.Errorf("the obsolete entry is still there:\n%s", w.file("main"))
			}
		})
	}
}

// TestMissingLeaves: the template loses the string, and gets it again.
func TestMissingLeaves(t *testing.T) {
	w := newMissingWorld(t, catalog.PushDirect, "One", "New", "Two")
	id, err := w.translate("New", catalog.StateTranslated, "Nový")
	gittest.Must(t, err)
	_, last := w.ChangesAfter(0)
	w.template("One", "Two")
	w.want(" Dvě | pending", "left the template")
	w.WantEntries(last, "63 app/en", "63 app/cs")
	before := w.file("main")
	if w.flush(); w.file("main") != before {
		t.Errorf("written although the template lacks it:\n%s", w.file("main"))
	}
	w.template("New", "One", "Two")
	w.want(" Dvě Nový* | pending gone", "came back")
	w.flush()
	w.want(" Dvě Nový | flushed", "flushed")
	if got := w.UnitOf("cs", "New"); got.ID != id {
		t.Errorf("unit %d was %d", got.ID, id)
	}
	if text := w.file("main"); strings.Index(text, `"New"`) > strings.Index(text, `"One"`) {
		t.Errorf("not before the first one:\n%s", text)
	}
}

// TestMissingTakenBack: taken back, the string is missing again; its unit keeps the id.
func TestMissingTakenBack(t *testing.T) {
	for _, mode := range []catalog.PushMode{catalog.PushDirect, catalog.PushBranch} {
		w := newMissingWorld(t, mode, "One", "New", "Two", "Newer")
		id, err := w.translate("New", catalog.StateTranslated, "Nový")
		gittest.Must(t, err)
		_, err = w.translate("Newer", catalog.StateFuzzy, "Novější")
		gittest.Must(t, err)
		w.want(" Dvě Nový* Novější* | pending, pending", "translated")
		if mode == catalog.PushBranch {
			w.flush()
		}
		_, last := w.ChangesAfter(0)
		w.takeBack(2)
		w.want(" Dvě | discarded taken back, discarded taken back", "taken back")
		if w.WantEntries(last, "63 app/cs", "63 app/cs"); w.lacks() != 2 {
			t.Errorf("%d strings are missing", w.lacks())
		}
		_, last = w.ChangesAfter(0)
		w.edit("New", "nothing") // there is no such unit
		again, err := w.translate("New", catalog.StateTranslated, "Nový znovu")
		if gittest.Must(t, err); again != id {
			t.Errorf("unit %d was %d", again, id)
		}
		w.WantEntries(last, "31 app/cs")
		if mode == catalog.PushDirect {
			w.edit("New", "Nový") // another text
			w.crashes()
			w.want(" Dvě Nový | discarded taken back, discarded taken back, flushed", "flushed")
			continue
		}
		w.flush()
		w.up.Push("Other", gittest.Files{"po/cs.po": w.file("l10n") + "\n", "po/app.pot": potOf("One", "New", "Two", "Newer")}, w.head("main"))
		w.Sync()
		w.want(" Dvě Nový znovu | discarded taken back, discarded taken back, flushed", "merged")
	}
}

// TestMissingArrivesTakenBack: what was taken back after it was sent, and arrives all the same,
// is untranslated by whoever took it back.
func TestMissingArrivesTakenBack(t *testing.T) {
	w := newMissingWorld(t, catalog.PushBranch, "One", "New", "Two")
	_, err := w.translate("New", catalog.StateTranslated, "Nový")
	gittest.Must(t, err)
	w.flush()
	sent := w.file("l10n") + "\n"
	w.takeBack(1)
	w.want(" Dvě | discarded taken back", "taken back")
	w.up.Push("Other", gittest.Files{"po/cs.po": sent, "po/app.pot": potOf("One", "New", "Two")}, w.head("main"))
	w.Sync()
	w.want(" Dvě * | discarded taken back, pending", "arrived")
}

// TestMissingEverywhere: one string is translated into many languages at once, by an editor each,
// over HTTP: an entry and a commit for each.
func TestMissingEverywhere(t *testing.T) {
	codes := strings.Fields("af ar az be bg bn br bs ca da de el eo es et eu fa fi fr ga gl gu he hi hr hu hy id is it ja ka kk km kn ko ky lt lv mk ml mn mr ms my ne nl nn pa pl pt ro ru si sk sl sq sr sv sw ta te")[:60]
	w, _ := newFileWorld(t, catalog.ComponentSettings{Edits: catalog.Edits{Mode: catalog.PushDirect, Flush: time.Hour}})
	files := gittest.Files{"po/app.pot": potOf("One", "New", "Two")}
	for _, code := range codes {
		files["po/"+code+".po"] = potOf("One", "Two")
	}
	w.up.Push("Other", files, w.head("main"))
	w.Sync()
	_, last := w.ChangesAfter(0)
	at := w.Clock.Add(time.Minute)
	server := httptest.NewServer(api.New(api.Options{DB: w.DB, Languages: w.Languages, Edits: w.NewEditor(w.Syncer, func() time.Time { return at })}))
	defer server.Close()
	secrets := make([]string, len(codes))
	for i, code := range codes {
		var err error
		secrets[i], err = w.DB.Access().CreateToken(t.Context(), catalog.Token{
			Name: "editor-" + code, Scope: catalog.ScopeWrite, AuthorName: "Editor of " + code, AuthorEmail: code + "@example.org", Created: time.Now(),
		})
		gittest.Must(t, err)
	}
	begin, answers := make(chan struct{}), make(chan string)
	for i, code := range codes {
		go func() {
			<-begin
			r, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL+"/api/translations/demo/app/"+code+"/units/", strings.NewReader(`{"source": "New", "target": "new in `+code+`"}`))
			r.Header.Set("Content-Type", "application/json")
			r.Header.Set("Authorization", "Token "+secrets[i])
			resp, err := server.Client().Do(r)
			if err != nil {
				answers <- code + ": " + err.Error()
				return
			}
			defer resp.Body.Close()
			text, _ := io.ReadAll(resp.Body)
			if answer := string(text); resp.StatusCode != http.StatusOK || !strings.Contains(answer, `"target":["new in `+code+`"]`) {
				answers <- fmt.Sprint(code, ": ", resp.StatusCode, " ", answer)
				return
			}
			answers <- ""
		}()
	}
	close(begin)
	for range codes {
		if problem := <-answers; problem != "" {
			t.Error(problem)
		}
	}
	before := w.head("main").String()
	if report := w.flush(); report.Commits != len(codes) || report.Edits != len(codes) {
		t.Errorf("%+v", report)
	}
	var entries []string // our own commits make none
	w.Read(func(ctx context.Context, snap *store.Snapshot) error {
		list, err := snap.Changes(ctx, store.ChangeQuery{AfterID: last, Limit: 1000})
		for i := range list {
			entries = append(entries, fmt.Sprint(list[i].Action, " ", list[i].Language, " ", list[i].AuthorName, ": ", list[i].Target))
		}
		return err
	})
	log := gittest.RunGit(t, w.up.Dir, "log", "--format=%an", "--numstat", before+"..main")
	for _, code := range codes {
		if want := "Editor of " + code + "\n\n4\t0\tpo/" + code + ".po"; strings.Count(log, want) != 1 {
			t.Errorf("no %q in\n%s", want, log)
		}
		if want := fmt.Sprintf("31 %s Editor of %s: new in %s", code, code, code); len(entries) != len(codes) || !slices.Contains(entries, want) {
			t.Errorf("no %q among %d entries: %q", want, len(entries), entries)
		}
	}
	w.Verify()
}

// TestPreviousOfMissing: a text that was made for a similar string, and is kept as needing
// editing, has that string as its previous one: served, in the file, and after the pull of it.
// What is translated after all has none.
func TestPreviousOfMissing(t *testing.T) {
	w := newMissingWorld(t, catalog.PushDirect, "One", "Between", "Two", "Beyond")
	u := w.UnitOf("cs", "Two")
	var list []edit.Request
	for _, source := range []string{"Between", "Beyond"} {
		list = append(list, edit.Request{SourceID: w.UnitOf("en", source).ID, Target: []string{"Něco"}, State: catalog.StateFuzzy, Previous: "Betwixt"})
	}
	edits := func(list ...edit.Request) {
		t.Helper()
		_, err := w.Editor.Edit(t.Context(), u.ID/catalog.UnitsPerComponent, u.TranslationID, edit.Author{Name: "Jana"}, list)
		gittest.Must(t, err)
	}
	edits(list...)
	edits(edit.Request{UnitID: list[0].UnitID, Target: []string{"Mezi"}, State: catalog.StateFuzzy}, edit.Request{UnitID: list[1].UnitID, Target: []string{"Za"}, State: catalog.StateTranslated})
	edits(edit.Request{UnitID: list[1].UnitID, Target: []string{"Za"}, State: catalog.StateFuzzy})
	check := func(what string) {
		t.Helper()
		a, b := w.UnitOf("cs", "Between"), w.UnitOf("cs", "Beyond")
		if a.Target != "Mezi" || a.PreviousSource != "Betwixt" || b.Target != "Za" || b.PreviousSource != "" {
			t.Errorf("%s: %q for %q, %q for %q", what, a.Target, a.PreviousSource, b.Target, b.PreviousSource)
		}
		w.Verify()
	}
	check("edited")
	w.template("One", "Between", "Two", "Beyond", "More")
	check("pulled")
	w.flush()
	check("flushed")
	if file := w.file("main"); strings.Count(file, "#| ") != 1 || !strings.Contains(file, "#, fuzzy\n#| msgid \"Betwixt\"\nmsgid \"Between\"\nmsgstr \"Mezi\"\n") {
		t.Error(file)
	}
}
