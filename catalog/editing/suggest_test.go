package editing_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/edit"
	"github.com/repoglot/repoglot/catalog/store"
	"github.com/repoglot/repoglot/testrepos"
	"github.com/repoglot/repoglot/testrepos/testsize"
)

// TestSuggestionEntries: suggesting, accepting and rejecting make the entries 4, 7 and 26,
// by who did that; only what was accepted is a change of the translation.
func TestSuggestionEntries(t *testing.T) {
	w, _ := editable(t, map[string]string{"po/cs.po": po("One", "", "Two", "Dvě")})
	texts := w.Targets()
	petr := edit.Author{Name: "Petr", Email: "petr@example.org"}
	u := w.UnitOf("cs", "One")
	component := u.ID / catalog.UnitsPerComponent
	last := func() (author string) {
		w.EachUnit(func(_ *catalog.Component, tr *catalog.Translation, _ *catalog.Unit) {
			if tr.ID == u.TranslationID {
				author = tr.LastAuthor
			}
		})
		return author
	}
	suggest := func(target string) *store.Edit {
		t.Helper()
		id, err := w.Editor.Suggest(t.Context(), component, u.TranslationID, petr, edit.Request{UnitID: u.ID, Target: []string{target}, State: catalog.StateTranslated})
		must(t, err)
		return &store.Edit{ID: id, UnitID: u.ID}
	}
	before := last()
	_, entries := w.ChangesAfter(0)
	first, second := suggest("Jedna"), suggest("Jednička")
	must(t, w.Editor.AnswerSuggestion(t.Context(), component, u.TranslationID, jana, edit.Answer{ID: second.ID, UnitID: u.ID}))
	wantEntries(w, entries, "4 ", "4 ", "26 ")
	equal(t, before, last(), "last_author after suggestions")
	w.Verify()
	_, entries = w.ChangesAfter(0)
	must(t, w.Editor.AnswerSuggestion(t.Context(), component, u.TranslationID, jana, edit.Answer{ID: first.ID, UnitID: u.ID, Accept: true}))
	wantEntries(w, entries, "7 ")
	equal(t, "Petr", last(), "last_author after one was accepted")
	if u := w.UnitOf("cs", "One"); u.Target != "Jedna" || !u.Pending {
		t.Errorf("accepted: %+v", u)
	}
	entriesLeadToUnits(w, texts)
	w.Verify()
}

// TestSuggestionBecomesServed: a suggestion whose text the string gets in another way, by
// an edit or by a pull, ends in the journal, too: nobody can answer it any more.
func TestSuggestionBecomesServed(t *testing.T) {
	w, repo := editable(t, map[string]string{"po/cs.po": po("One", "", "Two", "Dvě")})
	suggest := func(source, target string) {
		t.Helper()
		u := w.UnitOf("cs", source)
		_, err := w.Editor.Suggest(t.Context(), u.ID/catalog.UnitsPerComponent, u.TranslationID, jana, edit.Request{UnitID: u.ID, Target: []string{target}, State: catalog.StateTranslated})
		must(t, err)
	}
	suggest("One", "Jedna")
	suggest("One", "Jednička")
	suggest("Two", "Dvojka")
	must(t, w.Write("One", catalog.StateTranslated, "Jedna"))
	repo.Commit(t, testrepos.Change{Files: map[string]string{"po/cs.po": po("One", "", "Two", "Dvojka")}})
	w.Sync()
	for _, want := range []string{`"Jedna" 20 by 1 the string has this text`, `"Dvojka" 20 by 1 the string has this text`, `"Jedna" 20 by 1 ` + "\n", `suggested One: "" → "Jednička"`} {
		if got := w.Journal(); strings.Count(got, want) != 1 || strings.Count(got, "suggested ") != 1 {
			t.Errorf("the journal lacks %s:\n%s", want, got)
		}
	}
	w.Verify()
}

// TestUploadBesideManySuggestions uploads suggestions: a string that has as many as it can
// have is skipped, and the others get theirs.
func TestUploadBesideManySuggestions(t *testing.T) {
	w, _ := editable(t, map[string]string{"po/cs.po": po("One", "", "Two", "")})
	u := w.UnitOf("cs", "One")
	component := u.ID / catalog.UnitsPerComponent
	for i := range 50 {
		_, err := w.Editor.Suggest(t.Context(), component, u.TranslationID, jana, edit.Request{UnitID: u.ID, Target: []string{fmt.Sprint(i)}, State: catalog.StateTranslated})
		must(t, err)
	}
	counts, err := w.Editor.Upload(t.Context(), component, u.TranslationID, jana, []byte(po("One", "Jedna", "Two", "Dvě")), edit.UploadOptions{Method: edit.Suggest})
	if err != nil || counts.Accepted != 1 || counts.Skipped != 1 || !w.UnitOf("cs", "Two").HasSuggestion {
		t.Errorf("%+v, %v", counts, err)
	}
	w.Verify()
}

// TestEmptiedPluralIsNoSuggestion: an edit that emptied a plural, and was refused for
// another text, has no text to suggest.
func TestEmptiedPluralIsNoSuggestion(t *testing.T) {
	file := func(text string) map[string]string {
		return map[string]string{"po/cs.po": po("One", "") + "\nmsgid \"%d file\"\nmsgid_plural \"%d files\"\nmsgstr[0] \"" + text + "\"\nmsgstr[1] \"b\"\nmsgstr[2] \"c\"\n"}
	}
	w, repo := editable(t, file("a"))
	const source = "%d file" + catalog.FormSeparator + "%d files"
	must(t, w.Write(source, catalog.StateEmpty, "", "", ""))
	pullCommit(w, repo, testrepos.Change{Files: file("A")})
	if u := w.UnitOf("cs", source); u.HasSuggestion || !strings.HasPrefix(u.Target, "A") {
		t.Errorf("%+v, journal %s", u, w.Journal())
	}
	w.Verify()
}

// TestUploadMissing uploads texts for strings that the file lacks and the template has: they
// count and are stored as those of others, by each method but replace, which changes what the
// file has. What neither has is not found.
func TestUploadMissing(t *testing.T) {
	for method, want := range map[edit.Method]struct {
		counts edit.Counts
		two    edit.Text
	}{
		edit.Translate: {edit.Counts{NotFound: 1, Accepted: 3, Total: 5}, edit.Text{Target: "Dvě", State: catalog.StateTranslated}},
		edit.Fuzzy:     {edit.Counts{NotFound: 1, Accepted: 3, Total: 5}, edit.Text{Target: "Dvě", State: catalog.StateFuzzy}},
		edit.Suggest:   {edit.Counts{NotFound: 1, Accepted: 3, Total: 5}, edit.Text{}},
		edit.Replace:   {edit.Counts{Accepted: 1, Total: 5}, edit.Text{}},
	} {
		t.Run(string(method), func(t *testing.T) {
			const header = "msgid \"\"\nmsgstr \"Content-Type: text/plain; charset=UTF-8\\nPlural-Forms: nplurals=2; plural=n != 1;\\n\"\n"
			plural := func(texts ...string) string {
				s := "\nmsgid \"%d file\"\nmsgid_plural \"%d files\"\n"
				for i, text := range texts {
					s += fmt.Sprintf("msgstr[%d] %q\n", i, text)
				}
				return s
			}
			entry := func(id, text string) string { return fmt.Sprintf("\nmsgid %q\nmsgstr %q\n", id, text) }
			w, _ := app(t, catalog.ComponentSettings{NewBase: "po/app.pot", EnableSuggestions: true, Edits: catalog.Edits{Mode: catalog.PushDirect}}, map[string]string{
				"po/app.pot": header + entry("One", "") + entry("Two", "") + entry("Three", "") + plural("", ""), "po/cs.po": header + entry("One", ""),
			})
			u := w.UnitOf("cs", "One")
			upload := header + entry("One", "Jedna") + entry("Two", "Dvě") + entry("Three", "") + entry("Four", "Čtyři") + plural("%d soubor", "%d soubory")
			counts, err := w.Editor.Upload(t.Context(), u.ID/catalog.UnitsPerComponent, u.TranslationID, jana, []byte(upload), edit.UploadOptions{Method: method})
			must(t, err)
			equal(t, want.counts, counts, "counts")
			var two edit.Text
			w.EachUnit(func(_ *catalog.Component, tr *catalog.Translation, u *catalog.Unit) {
				if tr.Language == "cs" && u.Source == "Two" {
					two = edit.Text{Target: u.Target, State: u.State}
				}
			})
			equal(t, want.two, two, "a missing string")
			suggested := 0
			if method == edit.Suggest {
				suggested = 3
			}
			equal(t, suggested, strings.Count(w.Journal(), "suggested "), "suggestions in the journal")
			w.Verify()
		})
	}
}

// TestReviewed: an accepted text is an edit by whoever wrote it, with the reviewer; one that the
// reviewer changed is the reviewer's, with its first author; a later text has no reviewer. What
// somebody says about it is in the journal.
func TestReviewed(t *testing.T) {
	w, _ := editable(t, map[string]string{"po/cs.po": po("One", "", "Two", "", "Three", "")})
	petr := edit.Author{Name: "Petr", Email: "petr@example.org", Person: 7}
	answer := func(source string, by edit.Author, a edit.Answer) store.Edit {
		t.Helper()
		u := w.UnitOf("cs", source)
		component := u.ID / catalog.UnitsPerComponent
		id, err := w.Editor.Suggest(t.Context(), component, u.TranslationID, petr, edit.Request{UnitID: u.ID, Target: []string{"Text " + source}, State: catalog.StateTranslated})
		must(t, err)
		a.ID, a.UnitID = id, u.ID
		must(t, w.Editor.AnswerSuggestion(t.Context(), component, u.TranslationID, by, a))
		w.Verify()
		pending, err := store.Get(t.Context(), w.DB, (*store.Snapshot).PendingTexts, component)
		must(t, err)
		for _, e := range pending {
			if e.UnitID == u.ID {
				return e
			}
		}
		e, err := store.Get(t.Context(), w.DB, (*store.Snapshot).EditByID, id)
		must(t, err)
		return e
	}
	people := func(e store.Edit) string {
		var names []string
		for _, a := range e.Authors {
			names = append(names, a.Name)
		}
		return fmt.Sprintf("%s by %s, reviewed by %q <%s>", e.Ours.Target, strings.Join(names, " and "), e.Reviewer.Name, e.Reviewer.Email)
	}
	equal(t, `Text One by Petr, reviewed by "Jana Nováková" <jana@example.org>`, people(answer("One", jana, edit.Answer{Accept: true})), "accepted")
	equal(t, `Dvě by Petr and Jana Nováková, reviewed by "" <>`, people(answer("Two", jana, edit.Answer{Accept: true, Target: []string{"Dvě"}})), "accepted with changes")
	rejected := answer("Three", jana, edit.Answer{Why: "too long"})
	equal(t, "rejected: too long", rejected.Reason, "reason")
	equal(t, `Text Three by Petr, reviewed by "" <>`, people(answer("Three", petr, edit.Answer{Accept: true})), "accepted by its author")
	u := w.UnitOf("cs", "One")
	_, err := w.Editor.Edit(t.Context(), u.ID/catalog.UnitsPerComponent, u.TranslationID, petr, []edit.Request{{UnitID: u.ID, Target: []string{"Jedna"}, State: catalog.StateTranslated}})
	must(t, err)
	pending, err := store.Get(t.Context(), w.DB, (*store.Snapshot).PendingTexts, u.ID/catalog.UnitsPerComponent)
	must(t, err)
	equal(t, `Jedna by Petr, reviewed by "" <>`, people(pending[0]), "changed later")
	var own []store.Edit
	must(t, w.DB.Read(t.Context(), func(ctx context.Context, snap *store.Snapshot) (err error) {
		own, _, err = snap.Edits(ctx, store.EditQuery{Components: []int64{u.ID / catalog.UnitsPerComponent}, Person: 7, Limit: 50})
		return err
	}))
	equal(t, 6, len(own), "what a person wrote") // four suggestions, and what became of two and of the edit of one
}

// TestStrangersFill: accounts without a role fill no journal: each has 200 suggestions that wait in
// a project, all together 5,000, and 500 within 24 hours; whoever has a role, a token, and
// edits go on. What was answered makes room.
func TestStrangersFill(t *testing.T) {
	texts := []string{}
	for i := range 600 {
		texts = append(texts, fmt.Sprintf("String %d", i), "")
	}
	w, _ := editable(t, map[string]string{"po/cs.po": po(texts...)})
	u := w.UnitOf("cs", "String 0")
	component := u.ID / catalog.UnitsPerComponent
	upload := func(by edit.Author, n int) (edit.Counts, error) {
		var mine []string
		for i := range n {
			mine = append(mine, fmt.Sprintf("String %d", i), fmt.Sprintf("Text %d of %s", i, by.Name))
		}
		return w.Editor.Upload(t.Context(), component, u.TranslationID, by, []byte(po(mine...)), edit.UploadOptions{Method: edit.Suggest})
	}
	people := testsize.Of(3, 26, 26)
	began := time.Now()
	for i := range people {
		by := edit.Author{Name: fmt.Sprintf("Stranger %d", i), Person: int64(100 + i), Stranger: true}
		counts, err := upload(by, 210)
		if i >= 25 {
			if err == nil || !strings.Contains(err.Error(), "5000 suggestions by people without a role wait") {
				t.Errorf("stranger %d: %+v, %v", i, counts, err)
			}
			continue
		}
		must(t, err)
		if counts.Accepted != 200 || counts.Skipped != 10 || len(counts.Problems) != 1 || !strings.Contains(counts.Problems[0], "200 suggestions of yours wait") {
			t.Errorf("stranger %d: %+v", i, counts)
		}
		var bound *edit.BoundError
		by.Name += " again"
		if _, err = upload(by, 220); !errors.As(err, &bound) || !bound.Until.IsZero() {
			t.Errorf("stranger %d again: %v", i, err)
		}
	}
	t.Logf("%d strangers tried for %v", people, time.Since(began).Round(time.Millisecond))
	began = time.Now()
	counts, err := upload(edit.Author{Name: "Jana", Person: 7}, 510)
	must(t, err)
	if counts.Accepted != 500 || !strings.Contains(counts.Problems[0], "You made 500 suggestions within 24 hours") {
		t.Errorf("somebody with a role: %+v", counts)
	}
	counts, err = upload(edit.Author{Name: "A token", Person: -7}, 510)
	must(t, err)
	equal(t, 510, counts.Accepted, "of a token")
	t.Logf("two others suggested for %v", time.Since(began).Round(time.Millisecond))
	began = time.Now()
	_, err = w.Editor.Edit(t.Context(), component, u.TranslationID, jana, []edit.Request{{UnitID: u.ID, Target: []string{"Řetězec"}, State: catalog.StateTranslated}})
	must(t, err)
	t.Logf("an edit took %v", time.Since(began).Round(time.Millisecond))
	n, err := w.Editor.RejectOf(t.Context(), 100, jana, "spam")
	must(t, err)
	equal(t, 200, n, "rejected")
	counts, err = upload(edit.Author{Name: "Again", Person: 100, Stranger: true}, 210)
	must(t, err)
	equal(t, 200, counts.Accepted, "after that")
	w.Verify()
}
