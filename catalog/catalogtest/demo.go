package catalogtest

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store"
)

// The repositories of Demo and ImportBig.
const (
	RepoApp    = "https://example.org/app.git"
	RepoDocs   = "https://example.org/docs.git"
	RepoHidden = "https://example.org/hidden.git"
	RepoSecret = "https://example.org/secret.git"
	RepoBig    = "https://example.org/big.git"
)

// OddUnits are Czech units with every field, character and state that is easy
// to serve wrongly.
func OddUnits() []catalog.Unit {
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

// NumberedUnits are n Czech units, "Message 1" and so on.
func NumberedUnits(n int) []catalog.Unit {
	units := make([]catalog.Unit, n)
	for i := range units {
		units[i] = catalog.Unit{Source: fmt.Sprintf("Message %d", i+1), Target: fmt.Sprintf("Zpráva %d", i+1), State: 20, Location: fmt.Sprintf("src/m.c:%d", 10*i)}
	}
	return units
}

// Demo is a store with some of everything:
//
//	demo/app      en cs cs_CZ de sr@latin, all imported; entries in cs and cs_CZ
//	demo/docs     never imported
//	demo/hidden   private
//	secret/lib    in a private project
//	secret/open   public in a private project
//	demo/man-a-b  made by a discovery, never imported
func Demo(tb testing.TB) *Writer {
	tb.Helper()
	w := NewWriter(tb)
	w.Configure(demoProjects(), demoComponents())
	odd := append(OddUnits(), NumberedUnits(36)...)
	german := []catalog.Unit{{Source: "Open", Context: "menu", Target: "Öffnen", State: 20}}
	w.Import("demo/app", RepoApp, "Jáne Döe",
		SourceFile(odd),
		CzechFile(odd),
		File{Language: "cs_CZ", Name: "po/cs_CZ.po", Forms: 3, Formula: CzechFormula, Units: OddUnits()[:2]},
		File{Language: "de", Code: "de_DE", Name: "po/de_DE.po", Forms: 2, Formula: "n != 1", Units: german},
		File{Language: "sr@latin", Name: "po/sr@latin.po", Forms: 3, Formula: "0"},
	)
	w.Import("demo/hidden", RepoHidden, "Mallory", SourceFile(NumberedUnits(3)))
	w.Import("secret/lib", RepoSecret, "Mallory", SourceFile(NumberedUnits(2)))
	w.demoSecondStep()
	return w
}

func demoProjects() []catalog.Project {
	demo := catalog.Project{Slug: "demo", Settings: ProjectDefaults("Demo <project>")}
	demo.Settings.Web = "https://example.org/?a=1&b=2"
	secret := catalog.Project{Slug: "secret", Settings: ProjectDefaults("Secret")}
	secret.Settings.Access = catalog.AccessPrivate
	return []catalog.Project{demo, secret}
}

func demoComponents() []store.ComponentSpec {
	app := ComponentDefaults("App")
	app.License, app.NewBase = "GPL-3.0-or-later", "po/app.pot"
	app.Push = "https://git.example.org/push.git"
	app.CommitMessage = "Translated\n\n{{ stats.translated_percent }} %\r\n"
	hidden := ComponentDefaults("")
	hidden.Access = catalog.AccessPrivate
	open := ComponentDefaults("Open")
	open.Access = catalog.AccessPublic
	found := ComponentDefaults("Manual a.b")
	found.Filemask = "man/*/a.b.po"
	found.Discovery = catalog.Discovery{Slug: "man-{component}", Name: "Manual {component}", Filemask: "man/*/{component}.po"}
	return []store.ComponentSpec{
		{Project: "demo", Slug: "app", Settings: app, Repo: RepoApp, Branch: "main"},
		{Project: "demo", Slug: "docs", Settings: ComponentDefaults(""), Repo: RepoDocs, Branch: "main"},
		{Project: "demo", Slug: "hidden", Settings: hidden, Repo: RepoHidden, Branch: "main"},
		{Project: "secret", Slug: "lib", Settings: ComponentDefaults(""), Repo: RepoSecret, Branch: "main"},
		{Project: "secret", Slug: "open", Settings: open, Repo: RepoSecret, Branch: "release"},
		{Project: "demo", Slug: "man-a-b", Settings: found, Repo: RepoApp, Branch: "man", Template: "man-{component}"},
	}
}

// demoSecondStep updates one Czech string, removes another, removes the German
// file and records a broken one.
func (w *Writer) demoSecondStep() {
	w.TB.Helper()
	id := w.IDs["demo/app"]
	w.Step(id, RepoApp, "main", Head2, func(ctx context.Context, tx *store.StepTx) error {
		all, err := tx.Translations(ctx, id)
		if err != nil {
			return err
		}
		if err := demoUpdateCzech(ctx, tx, id, TranslationOf(all, "cs")); err != nil {
			return err
		}
		german := TranslationOf(all, "de")
		german.Removed = true
		if err := tx.PutTranslation(ctx, german); err != nil {
			return err
		}
		return tx.AddDelta(ctx, store.Delta{ComponentID: id, Commit: Head2, CommitTime: Now(), Entries: []store.Entry{
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
	user, err := tx.User(ctx, "Karel", "karel@example.org", Now())
	if err != nil {
		return err
	}
	return tx.AddDelta(ctx, store.Delta{
		ComponentID: component, TranslationID: t.ID, AuthorID: user, Commit: Head2, CommitTime: Now(),
		Entries: []store.Entry{
			{Action: catalog.ActionStringRepoUpdate, UnitID: updated, State: 20, OldState: 20, Target: u.Target, Old: "Otevřít"},
			{Action: catalog.ActionStringRemove, UnitID: removed, State: catalog.StateAbsent, OldState: 20, Target: "Zpráva 36", Old: "Zpráva 36"},
		},
	})
}
