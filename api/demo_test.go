package api

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/catalogtest"
	"github.com/repoglot/repoglot/catalog/store"
)

// head1 and head2 are the commits of a component's first two steps; blobID is
// the id of every file.
const (
	head1  = "1111111111111111111111111111111111111111"
	head2  = "2222222222222222222222222222222222222222"
	blobID = "c623b0093f07aed55804464df7dfa1ad3ef5bebd"
)

// writer is a store that is filled with units written by hand.
type writer struct {
	*catalogtest.Store
	// IDs are the ids of the configured components, by project/component.
	IDs map[string]int64
	// Heads are the commits of the components' last steps.
	Heads map[int64]string
}

// newWriter opens an empty store.
func newWriter(tb testing.TB) *writer {
	tb.Helper()
	return &writer{Store: catalogtest.Open(tb), IDs: map[string]int64{}, Heads: map[int64]string{}}
}

// projectDefaults and componentDefaults are the settings of a configuration
// that sets names only (docs/compatibility.md#defaults).
func projectDefaults(name string) catalog.ProjectSettings {
	return catalog.ProjectSettings{Name: name, SetLanguageTeam: true, EnableHooks: true}
}

// componentDefaults are the settings of a component; see projectDefaults.
func componentDefaults(name string) catalog.ComponentSettings {
	return catalog.ComponentSettings{
		Name: name, VCS: "git", Filemask: "po/*.po", FileFormat: "po", NewLang: "add",
		SourceLanguage: "en", LanguageRegex: "^[^.]+$", Priority: 100, MergeStyle: "merge",
		EditTemplate: true, AllowTranslationPropagation: true, EnableSuggestions: true,
		AutoLockError: true, GlossaryColor: "silver",
	}
}

// Configure configures the store.
func (w *writer) Configure(projects []catalog.Project, components []store.ComponentSpec) {
	w.TB.Helper()
	ctx := w.TB.Context()
	if err := w.DB.Configure(ctx, projects, components, nil); err != nil {
		w.TB.Fatal(err)
	}
	for _, spec := range components {
		rows, err := w.DB.Branch(ctx, spec.Repo, spec.Branch)
		if err != nil {
			w.TB.Fatal(err)
		}
		for i := range rows {
			w.IDs[rows[i].Project.Slug+"/"+rows[i].Slug] = rows[i].ID
		}
	}
}

// Token makes an access token, for some projects or for all.
func (w *writer) Token(name string, scope catalog.Scope, projects ...string) string {
	w.TB.Helper()
	secret, err := w.DB.Access().CreateToken(w.TB.Context(), catalog.Token{Name: name, Scope: scope, Projects: catalog.Names(projects...), Created: catalogtest.Now()})
	if err != nil {
		w.TB.Fatal(err)
	}
	return secret
}

// Step makes a step of one component.
func (w *writer) Step(component int64, repo, branch, head string, fn func(context.Context, *store.StepTx) error) {
	w.TB.Helper()
	n := len(w.Heads)
	if w.Heads[component] != "" {
		n += 10
	}
	info := store.StepInfo{
		Repo: repo, Branch: branch, Components: []int64{component}, From: w.Heads[component], To: head,
		Tracking: branch, At: catalogtest.Now().Add(time.Duration(n) * time.Hour),
		Commit: &catalog.Commit{
			Hash: head, Author: "Jáne Döe", Committer: "Karel", AuthorTime: catalogtest.Now().Add(-time.Hour).Truncate(time.Second), CommitTime: catalogtest.Now().Truncate(time.Second),
			Message: "Translate\n\nSigned-off-by: Karel",
		},
	}
	if _, err := w.DB.Step(w.TB.Context(), info, fn); err != nil {
		w.TB.Fatal(err)
	}
	w.Heads[component] = head
}

// Import stores the first state of a component on branch main: its files, a
// unit each, and an entry "new unit" by the author for every unit unless the
// author is "".
func (w *writer) Import(component, repo, author string, files ...poFile) {
	w.TB.Helper()
	w.ImportBranch(component, repo, "main", author, files...)
}

// ImportBranch is Import for any branch.
func (w *writer) ImportBranch(component, repo, branch, author string, files ...poFile) {
	w.TB.Helper()
	id := w.IDs[component]
	w.Step(id, repo, branch, head1, func(ctx context.Context, tx *store.StepTx) error {
		event := store.Delta{ComponentID: id, Commit: head1, CommitTime: catalogtest.Now().Truncate(time.Second), Entries: []store.Entry{{Action: catalog.ActionCreateComponent}}}
		if err := tx.AddDelta(ctx, event); err != nil {
			return err
		}
		sources := map[catalog.Identity]int64{}
		for i := range files {
			if err := importFile(ctx, tx, id, &files[i], sources, author); err != nil {
				return fmt.Errorf("%s: %w", files[i].Name, err)
			}
		}
		return nil
	})
}

// poFile is one translation to import.
type poFile struct {
	// Language is the language's code; Code is the code in the file's name,
	// "" for the same.
	Language, Code string
	// Name is the path of the file.
	Name string
	// Source says that this is the translation of the source language.
	Source bool
	// Forms is the number of plural forms, 0 for one; Formula selects one, ""
	// for "0".
	Forms   int
	Formula string
	Units   []catalog.Unit
}

// czechFormula selects one of three plural forms.
const czechFormula = "(n==1) ? 0 : (n>=2 && n<=4) ? 1 : 2"

// czechFile is po/cs.po with units.
func czechFile(units []catalog.Unit) poFile {
	return poFile{Language: "cs", Name: "po/cs.po", Forms: 3, Formula: czechFormula, Units: units}
}

// sourceFile is po/app.pot with the sources of units.
func sourceFile(units []catalog.Unit) poFile {
	source := slices.Clone(units)
	for i := range source {
		source[i].Target = source[i].Source
		source[i].State = catalog.StateReadOnly
		source[i].PreviousSource = ""
	}
	return poFile{Language: "en", Name: "po/app.pot", Source: true, Forms: 2, Formula: "n != 1", Units: source}
}

// importFile stores one file of a component in a step. The first file must be the
// source file: importFile adds the ids of its units to sources, and reads them from
// there for the other files.
func importFile(ctx context.Context, tx *store.StepTx, component int64, f *poFile, sources map[catalog.Identity]int64, author string) error {
	t := catalog.Translation{
		ComponentID: component, Language: f.Language, FileCode: cmp.Or(f.Code, f.Language), Filename: f.Name,
		Revision: blobID, IsSource: f.Source, HasTemplate: f.Source, PluralNumber: max(f.Forms, 1), PluralFormula: cmp.Or(f.Formula, "0"),
	}
	var h catalog.Hasher
	for i := range f.Units {
		u := &f.Units[i]
		u.Identity = h.Identity(u.Source, u.Context)
		u.Position = i + 1
		u.Words, u.Chars = catalog.CountWords(u.Source, false), catalog.CountChars(u.Source)
		u.Priority = cmp.Or(u.Priority, 100)
		u.Created = catalogtest.Now().Add(-time.Hour)
		u.SourceID = sources[u.Identity]
		t.Stats.AddUnit(u)
	}
	if err := tx.PutTranslation(ctx, &t); err != nil {
		return err
	}
	if err := tx.PutFile(ctx, store.File{TranslationID: t.ID, Blob: blobID, Modified: catalogtest.Now().Add(-time.Hour), Data: []byte("# " + f.Name + "\n")}); err != nil {
		return err
	}
	added := make([]store.FingerprintedUnit, len(f.Units))
	for i := range f.Units {
		u := &f.Units[i]
		u.TranslationID = t.ID
		added[i] = store.FingerprintedUnit{Unit: u, Text: h.Text(u.Target, u.State), Meta: h.Meta(u.Note, u.Flags)}
	}
	if err := tx.AddUnits(ctx, added); err != nil {
		return err
	}
	placed := make([]catalog.UnitPosition, len(f.Units))
	for i := range f.Units {
		u := &f.Units[i]
		placed[i] = catalog.UnitPosition{ID: u.ID, Position: u.Position, Location: u.Location}
		if f.Source {
			sources[u.Identity] = u.ID
		}
	}
	if err := tx.PutLayout(ctx, t.ID, placed); err != nil {
		return err
	}
	if author == "" {
		return nil
	}
	return addEntries(ctx, tx, component, &t, author, catalog.ActionNewUnit, f.Units)
}

// addEntries stores one commit of an author, with an entry for each unit.
func addEntries(ctx context.Context, tx *store.StepTx, component int64, t *catalog.Translation, author string, action catalog.Action, units []catalog.Unit) error {
	user, err := tx.User(ctx, author, strings.ToLower(author)+"@example.org", catalogtest.Now())
	if err != nil {
		return err
	}
	d := store.Delta{ComponentID: component, TranslationID: t.ID, AuthorID: user, Commit: head1, CommitTime: catalogtest.Now().Truncate(time.Second)}
	for i := range units {
		u := &units[i]
		e := store.Entry{Action: action, UnitID: u.ID, State: u.State, OldState: catalog.StateAbsent, Target: u.Target}
		if action == catalog.ActionStringRemove {
			e.State, e.OldState, e.Old = catalog.StateAbsent, u.State, u.Target
		}
		d.Entries = append(d.Entries, e)
	}
	return tx.AddDelta(ctx, d)
}

// translationOf returns the translation into a language, or nil.
func translationOf(all []catalog.Translation, language string) *catalog.Translation {
	for i := range all {
		if all[i].Language == language {
			return &all[i]
		}
	}
	return nil
}

// The repositories of demoWorld and ImportBig.
const (
	repoApp    = "https://example.org/app.git"
	repoDocs   = "https://example.org/docs.git"
	repoHidden = "https://example.org/hidden.git"
	repoSecret = "https://example.org/secret.git"
	repoBig    = "https://example.org/big.git"
)

// oddUnits are Czech units with every field, character and state that is easy
// to serve wrongly.
func oddUnits() []catalog.Unit {
	sep := catalog.FormSeparator
	return []catalog.Unit{
		{Source: "Hello, <b>world</b> & all!\n", Target: "Ahoj, <b>světe</b> & vy!\n", State: 20, Location: "src/a.c:1, src/b.c:2", Note: "TRANSLATORS: one\ntwo", Flags: "c-format, no-wrap"},
		{Source: "%d banana" + sep + "%d bananas", Target: "%d banán" + sep + "%d banány" + sep + "%d banánů", State: 20, Location: "src/a.c:3"},
		{Source: "%d file" + sep + "%d files", Target: "", State: 0},
		{Source: "Open", Context: "menu", Target: "Otevřít", State: 20},
		{Source: "New text", Target: "Starý text", PreviousSource: "Old text", State: 10},
		{Source: "", Context: "empty source", Target: "něco", State: 20},
		{Source: "Untranslated", State: 0},
		{Source: "Do not touch", Target: "Do not touch", State: 100, Flags: "priority:120, read-only", Priority: 120},
		{Source: "quote\" back\\slash\ttab\u2028line 日本語 👍", Target: "\u0001control", State: 20},
	}
}

// numberedUnits are n Czech units, "Message 1" and so on.
func numberedUnits(n int) []catalog.Unit {
	units := make([]catalog.Unit, n)
	for i := range units {
		units[i] = catalog.Unit{Source: fmt.Sprintf("Message %d", i+1), Target: fmt.Sprintf("Zpráva %d", i+1), State: 20, Location: fmt.Sprintf("src/m.c:%d", 10*i)}
	}
	return units
}

// demoWorld is a store with some of everything:
//
//	demo/app      en cs cs_CZ de sr@latin, all imported; entries in cs and cs_CZ
//	demo/docs     never imported
//	demo/hidden   private
//	secret/lib    in a private project
//	secret/open   public in a private project
//	demo/man-a-b  made by a discovery, never imported
func demoWorld(tb testing.TB) *writer {
	tb.Helper()
	w := newWriter(tb)
	w.Configure(demoProjects(), demoComponents())
	odd := append(oddUnits(), numberedUnits(36)...)
	german := []catalog.Unit{{Source: "Open", Context: "menu", Target: "Öffnen", State: 20}}
	w.Import("demo/app", repoApp, "Jáne Döe",
		sourceFile(odd),
		czechFile(odd),
		poFile{Language: "cs_CZ", Name: "po/cs_CZ.po", Forms: 3, Formula: czechFormula, Units: oddUnits()[:2]},
		poFile{Language: "de", Code: "de_DE", Name: "po/de_DE.po", Forms: 2, Formula: "n != 1", Units: german},
		poFile{Language: "sr@latin", Name: "po/sr@latin.po", Forms: 3, Formula: "0"},
	)
	w.Import("demo/hidden", repoHidden, "Mallory", sourceFile(numberedUnits(3)))
	w.Import("secret/lib", repoSecret, "Mallory", sourceFile(numberedUnits(2)))
	w.demoSecondStep()
	return w
}

func demoProjects() []catalog.Project {
	demo := catalog.Project{Slug: "demo", Settings: projectDefaults("Demo <project>")}
	demo.Settings.Web = "https://example.org/?a=1&b=2"
	secret := catalog.Project{Slug: "secret", Settings: projectDefaults("Secret")}
	secret.Settings.Access = catalog.AccessPrivate
	return []catalog.Project{demo, secret}
}

func demoComponents() []store.ComponentSpec {
	app := componentDefaults("App")
	app.License, app.NewBase = "GPL-3.0-or-later", "po/app.pot"
	app.Push = "https://git.example.org/push.git"
	app.CommitMessage = "Translated\n\n{{ stats.translated_percent }} %\r\n"
	hidden := componentDefaults("")
	hidden.Access = catalog.AccessPrivate
	open := componentDefaults("Open")
	open.Access = catalog.AccessPublic
	found := componentDefaults("Manual a.b")
	found.Filemask = "man/*/a.b.po"
	found.Discovery = catalog.Discovery{Slug: "man-{component}", Name: "Manual {component}", Filemask: "man/*/{component}.po"}
	return []store.ComponentSpec{
		{Project: "demo", Slug: "app", Settings: app, Repo: repoApp, Branch: "main"},
		{Project: "demo", Slug: "docs", Settings: componentDefaults(""), Repo: repoDocs, Branch: "main"},
		{Project: "demo", Slug: "hidden", Settings: hidden, Repo: repoHidden, Branch: "main"},
		{Project: "secret", Slug: "lib", Settings: componentDefaults(""), Repo: repoSecret, Branch: "main"},
		{Project: "secret", Slug: "open", Settings: open, Repo: repoSecret, Branch: "release"},
		{Project: "demo", Slug: "man-a-b", Settings: found, Repo: repoApp, Branch: "man", Template: "man-{component}"},
	}
}

// demoSecondStep updates one Czech string, removes another, removes the German
// file and records a broken one.
func (w *writer) demoSecondStep() {
	w.TB.Helper()
	id := w.IDs["demo/app"]
	w.Step(id, repoApp, "main", head2, func(ctx context.Context, tx *store.StepTx) error {
		all, err := tx.Translations(ctx, id)
		if err != nil {
			return err
		}
		if err := demoUpdateCzech(ctx, tx, id, translationOf(all, "cs")); err != nil {
			return err
		}
		german := translationOf(all, "de")
		german.Removed = true
		if err := tx.PutTranslation(ctx, german); err != nil {
			return err
		}
		return tx.AddDelta(ctx, store.Delta{ComponentID: id, Commit: head2, CommitTime: catalogtest.Now(), Entries: []store.Entry{
			{Action: catalog.ActionRemoveTranslation, Event: map[string]string{"language": "de"}},
			{Action: catalog.ActionParseError, Event: map[string]string{"file": "po/fr.po", "line": "7", "message": "unclosed \""}},
		}})
	})
}

func demoUpdateCzech(ctx context.Context, tx *store.StepTx, component int64, t *catalog.Translation) error {
	placed, err := tx.Layout(ctx, t.ID)
	if err != nil {
		return err
	}
	updated, removed := placed[3].ID, placed[len(placed)-1].ID
	var h catalog.Hasher
	u := catalog.Unit{ID: updated, TranslationID: t.ID, Target: "Otevři", State: 20, Priority: 100}
	t.Stats.Total.Units--
	t.Stats.Total.Words -= 2
	t.Stats.Translated.Units--
	t.Stats.Translated.Words -= 2
	if err := errors.Join(
		tx.UpdateUnits(ctx, []store.FingerprintedUnit{{Unit: &u, Text: h.Text(u.Target, u.State), Meta: h.Meta("", "")}}),
		tx.RemoveUnits(ctx, []int64{removed}),
		tx.PutLayout(ctx, t.ID, placed[:len(placed)-1]),
		tx.PutTranslation(ctx, t),
	); err != nil {
		return err
	}
	user, err := tx.User(ctx, "Karel", "karel@example.org", catalogtest.Now())
	if err != nil {
		return err
	}
	return tx.AddDelta(ctx, store.Delta{
		ComponentID: component, TranslationID: t.ID, AuthorID: user, Commit: head2, CommitTime: catalogtest.Now(),
		Entries: []store.Entry{
			{Action: catalog.ActionStringRepoUpdate, UnitID: updated, State: 20, OldState: 20, Target: u.Target, Old: "Otevřít"},
			{Action: catalog.ActionStringRemove, UnitID: removed, State: catalog.StateAbsent, OldState: 20, Target: "Zpráva 36", Old: "Zpráva 36"},
		},
	})
}
