package api

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/lang"
	"github.com/repoglot/repoglot/catalog/store"
)

// at is the time of the first pull of the test world; every step is an hour
// later than the one before.
var at = time.Date(2026, 3, 4, 5, 6, 7, 123456000, time.UTC)

const (
	head1 = "1111111111111111111111111111111111111111"
	head2 = "2222222222222222222222222222222222222222"
	blob  = "c623b0093f07aed55804464df7dfa1ad3ef5bebd"
)

// world is a filled store.
type world struct {
	tb   testing.TB
	db   *store.DB
	path string           // of the database
	ids  map[string]int64 // "project/component" → component id
	head map[int64]string
}

// openWorld makes an empty store in a directory of the test.
func openWorld(tb testing.TB) *world {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), "db.sqlite")
	db, err := store.Open(tb.Context(), path, store.Options{})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := db.Close(); err != nil {
			tb.Error(err)
		}
	})
	return &world{tb: tb, db: db, path: path, ids: map[string]int64{}, head: map[int64]string{}}
}

// projectDefaults and componentDefaults are those of decision 33.
func projectDefaults(name string) catalog.ProjectSettings {
	return catalog.ProjectSettings{Name: name, SetLanguageTeam: true, EnableHooks: true}
}

func componentDefaults(name string) catalog.ComponentSettings {
	return catalog.ComponentSettings{
		Name: name, VCS: "git", Filemask: "po/*.po", FileFormat: "po", NewLang: "add",
		SourceLanguage: "en", LanguageRegex: "^[^.]+$", Priority: 100, MergeStyle: "merge",
		EditTemplate: true, AllowTranslationPropagation: true, EnableSuggestions: true,
		AutoLockError: true, GlossaryColor: "silver",
	}
}

func (w *world) configure(projects []catalog.Project, components []store.ComponentSpec) {
	w.tb.Helper()
	ctx := w.tb.Context()
	if err := w.db.Configure(ctx, projects, components, nil); err != nil {
		w.tb.Fatal(err)
	}
	for _, spec := range components {
		rows, err := w.db.Branch(ctx, spec.Repo, spec.Branch)
		if err != nil {
			w.tb.Fatal(err)
		}
		for i := range rows {
			w.ids[rows[i].Project.Slug+"/"+rows[i].Slug] = rows[i].ID
		}
	}
}

// file is one translation to import.
type file struct {
	language, code, name string
	source               bool
	forms                int
	formula              string
	units                []catalog.Unit
}

// imports stores the first state of a component: its files, a unit each, and
// an entry 31 by the author for every unit unless the author is "".
func (w *world) imports(component, repo, author string, files ...file) {
	w.tb.Helper()
	w.importsBranch(component, repo, "main", author, files...)
}

func (w *world) importsBranch(component, repo, branch, author string, files ...file) {
	w.tb.Helper()
	id := w.ids[component]
	w.step(id, repo, branch, head1, func(ctx context.Context, tx *store.StepTx) error {
		event := store.Delta{ComponentID: id, Commit: head1, CommitTime: at.Truncate(time.Second), Entries: []store.Entry{{Action: catalog.ActionCreateComponent}}}
		if err := tx.AddDelta(ctx, event); err != nil {
			return err
		}
		sources := map[catalog.Identity]int64{}
		for i := range files {
			if err := importFile(ctx, tx, id, &files[i], sources, author); err != nil {
				return fmt.Errorf("%s: %w", files[i].name, err)
			}
		}
		return nil
	})
}

func (w *world) step(component int64, repo, branch, head string, fn func(context.Context, *store.StepTx) error) {
	w.tb.Helper()
	n := len(w.head)
	if w.head[component] != "" {
		n += 10
	}
	info := store.StepInfo{
		Repo: repo, Branch: branch, Components: []int64{component}, From: w.head[component], To: head,
		Tracking: branch, At: at.Add(time.Duration(n) * time.Hour),
		Commit: &catalog.Commit{
			Hash: head, Author: "Jáne Döe", Committer: "Karel", AuthorTime: at.Add(-time.Hour).Truncate(time.Second), CommitTime: at.Truncate(time.Second),
			Message: "Translate\n\nSigned-off-by: Karel",
		},
	}
	if _, err := w.db.Step(w.tb.Context(), info, fn); err != nil {
		w.tb.Fatal(err)
	}
	w.head[component] = head
}

func importFile(ctx context.Context, tx *store.StepTx, component int64, f *file, sources map[catalog.Identity]int64, author string) error {
	t := catalog.Translation{
		ComponentID: component, Language: f.language, FileCode: cmp.Or(f.code, f.language), Filename: f.name,
		Revision: blob, IsSource: f.source, PluralNumber: max(f.forms, 1), PluralFormula: cmp.Or(f.formula, "0"),
	}
	var h catalog.Hasher
	for i := range f.units {
		u := &f.units[i]
		u.Identity = h.Identity(u.Source, u.Context)
		u.Position = i + 1
		u.Words, u.Chars = catalog.CountWords(u.Source, false), catalog.CountChars(u.Source)
		u.Priority = cmp.Or(u.Priority, 100)
		u.Created = at.Add(-time.Hour)
		u.SourceID = sources[u.Identity]
		t.Stats.AddUnit(u)
	}
	if err := tx.PutTranslation(ctx, &t); err != nil {
		return err
	}
	if err := tx.PutFile(ctx, store.File{TranslationID: t.ID, Blob: blob, Modified: at.Add(-time.Hour), Data: []byte("# " + f.name + "\n")}); err != nil {
		return err
	}
	added := make([]store.FingerprintedUnit, len(f.units))
	for i := range f.units {
		u := &f.units[i]
		u.TranslationID = t.ID
		added[i] = store.FingerprintedUnit{Unit: u, Text: h.Text(u.Target, u.State), Meta: h.Meta(u.Note, u.Flags)}
	}
	if err := tx.AddUnits(ctx, added); err != nil {
		return err
	}
	placed := make([]catalog.UnitPosition, len(f.units))
	for i := range f.units {
		u := &f.units[i]
		placed[i] = catalog.UnitPosition{ID: u.ID, Position: u.Position, Location: u.Location}
		if f.source {
			sources[u.Identity] = u.ID
		}
	}
	if err := tx.PutLayout(ctx, t.ID, placed); err != nil {
		return err
	}
	if author == "" {
		return nil
	}
	return addEntries(ctx, tx, component, &t, author, catalog.ActionNewUnit, f.units)
}

// addEntries writes one delta about units, by the author.
func addEntries(ctx context.Context, tx *store.StepTx, component int64, t *catalog.Translation, author string, action catalog.Action, units []catalog.Unit) error {
	user, err := tx.User(ctx, author, strings.ToLower(author)+"@example.org", at)
	if err != nil {
		return err
	}
	d := store.Delta{ComponentID: component, TranslationID: t.ID, AuthorID: user, Commit: head1, CommitTime: at.Truncate(time.Second)}
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

// sourceOf makes the source translation of units.
func sourceOf(units []catalog.Unit) file {
	source := slices.Clone(units)
	for i := range source {
		source[i].Target = source[i].Source
		source[i].State = catalog.StateReadOnly
		source[i].PreviousSource = ""
	}
	return file{language: "en", name: "po/app.pot", source: true, forms: 2, formula: "n != 1", units: source}
}

const czech = "(n==1) ? 0 : (n>=2 && n<=4) ? 1 : 2"

// richUnits are the odd strings; their Czech translation.
func richUnits() []catalog.Unit {
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

func manyUnits(n int) []catalog.Unit {
	units := make([]catalog.Unit, n)
	for i := range units {
		units[i] = catalog.Unit{Source: fmt.Sprintf("Message %d", i+1), Target: fmt.Sprintf("Zpráva %d", i+1), State: 20, Location: fmt.Sprintf("src/m.c:%d", 10*i)}
	}
	return units
}

const (
	repoApp    = "https://example.org/app.git"
	repoDocs   = "https://example.org/docs.git"
	repoHidden = "https://example.org/hidden.git"
	repoSecret = "https://example.org/secret.git"
)

// demoWorld is what most tests read:
//
//	demo/app      en cs cs_CZ de sr@latin, all imported; entries in cs and cs_CZ
//	demo/docs     never imported
//	demo/hidden   private
//	secret/lib    in a private project
//	secret/open   public in a private project
//	demo/man-a-b  made by a discovery, never imported
func demoWorld(tb testing.TB) *world {
	tb.Helper()
	w := openWorld(tb)
	demo := catalog.Project{Slug: "demo", Settings: projectDefaults("Demo <project>")}
	demo.Settings.Web = "https://example.org/?a=1&b=2"
	secret := catalog.Project{Slug: "secret", Settings: projectDefaults("Secret")}
	secret.Settings.Access = catalog.AccessPrivate
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
	w.configure([]catalog.Project{demo, secret}, []store.ComponentSpec{
		{Project: "demo", Slug: "app", Settings: app, Repo: repoApp, Branch: "main"},
		{Project: "demo", Slug: "docs", Settings: componentDefaults(""), Repo: repoDocs, Branch: "main"},
		{Project: "demo", Slug: "hidden", Settings: hidden, Repo: repoHidden, Branch: "main"},
		{Project: "secret", Slug: "lib", Settings: componentDefaults(""), Repo: repoSecret, Branch: "main"},
		{Project: "secret", Slug: "open", Settings: open, Repo: repoSecret, Branch: "release"},
		{Project: "demo", Slug: "man-a-b", Settings: found, Repo: repoApp, Branch: "man", Template: "man-{component}"},
	})
	rich := append(richUnits(), manyUnits(36)...)
	german := []catalog.Unit{{Source: "Open", Context: "menu", Target: "Öffnen", State: 20}}
	w.imports("demo/app", repoApp, "Jáne Döe",
		sourceOf(rich),
		file{language: "cs", name: "po/cs.po", forms: 3, formula: czech, units: rich},
		file{language: "cs_CZ", name: "po/cs_CZ.po", forms: 3, formula: czech, units: richUnits()[:2]},
		file{language: "de", code: "de_DE", name: "po/de_DE.po", forms: 2, formula: "n != 1", units: german},
		file{language: "sr@latin", name: "po/sr@latin.po", forms: 3, formula: "0"},
	)
	w.imports("demo/hidden", repoHidden, "Mallory", sourceOf(manyUnits(3)))
	w.imports("secret/lib", repoSecret, "Mallory", sourceOf(manyUnits(2)))
	w.secondStep()
	return w
}

// secondStep updates one Czech string, removes another, drops the German file
// and records a broken one.
func (w *world) secondStep() {
	w.tb.Helper()
	id := w.ids["demo/app"]
	w.step(id, repoApp, "main", head2, func(ctx context.Context, tx *store.StepTx) error {
		all, err := tx.Translations(ctx, id)
		if err != nil {
			return err
		}
		if err := updateCzech(ctx, tx, id, translationOf(all, "cs")); err != nil {
			return err
		}
		german := translationOf(all, "de")
		german.Removed = true
		if err := tx.PutTranslation(ctx, german); err != nil {
			return err
		}
		return tx.AddDelta(ctx, store.Delta{ComponentID: id, Commit: head2, CommitTime: at, Entries: []store.Entry{
			{Action: catalog.ActionRemoveTranslation, Event: map[string]string{"language": "de"}},
			{Action: catalog.ActionParseError, Event: map[string]string{"file": "po/fr.po", "line": "7", "message": "unclosed \""}},
		}})
	})
}

func translationOf(all []catalog.Translation, language string) *catalog.Translation {
	for i := range all {
		if all[i].Language == language {
			return &all[i]
		}
	}
	return nil
}

func updateCzech(ctx context.Context, tx *store.StepTx, component int64, t *catalog.Translation) error {
	placed, err := tx.Layout(ctx, t.ID)
	if err != nil {
		return err
	}
	updated, removed := placed[3].ID, placed[len(placed)-1].ID
	var h catalog.Hasher
	u := catalog.Unit{ID: updated, TranslationID: t.ID, Target: "Otevři", State: 20, Priority: 100}
	if err := tx.UpdateUnits(ctx, []store.FingerprintedUnit{{Unit: &u, Text: h.Text(u.Target, u.State), Meta: h.Meta("", "")}}); err != nil {
		return err
	}
	if err := tx.RemoveUnits(ctx, []int64{removed}); err != nil {
		return err
	}
	if err := tx.PutLayout(ctx, t.ID, placed[:len(placed)-1]); err != nil {
		return err
	}
	t.Stats.Total.Units--
	t.Stats.Total.Words -= 2
	t.Stats.Translated.Units--
	t.Stats.Translated.Words -= 2
	if err := tx.PutTranslation(ctx, t); err != nil {
		return err
	}
	user, err := tx.User(ctx, "Karel", "karel@example.org", at)
	if err != nil {
		return err
	}
	return tx.AddDelta(ctx, store.Delta{
		ComponentID: component, TranslationID: t.ID, AuthorID: user, Commit: head2, CommitTime: at,
		Entries: []store.Entry{
			{Action: catalog.ActionStringRepoUpdate, UnitID: updated, State: 20, OldState: 20, Target: u.Target, Old: "Otevřít"},
			{Action: catalog.ActionStringRemove, UnitID: removed, State: catalog.StateAbsent, OldState: 20, Target: "Zpráva 36", Old: "Zpráva 36"},
		},
	})
}

// serve makes a Server over the world whose answers are held against
// openapi.yaml; opts may leave DB and Languages away.
func (w *world) serve(opts Options) *Server {
	w.tb.Helper()
	s := w.bare(opts)
	if t, ok := w.tb.(*testing.T); ok { // a fuzz test may not report from here
		Validated(t, s)
	}
	return s
}

// bare makes a Server whose answers nobody looks at.
func (w *world) bare(opts Options) *Server {
	w.tb.Helper()
	table, err := lang.New()
	if err != nil {
		w.tb.Fatal(err)
	}
	opts.DB, opts.Languages = w.db, table
	if opts.Logger == nil {
		opts.Logger = slog.New(slog.NewTextHandler(testLog{w.tb}, &slog.HandlerOptions{Level: slog.LevelError}))
	}
	if opts.Now == nil {
		opts.Now = func() time.Time { return at }
	}
	return New(opts)
}

// testLog writes to the test's log.
type testLog struct{ tb testing.TB }

func (l testLog) Write(line []byte) (int, error) {
	l.tb.Helper()
	l.tb.Logf("%s", line)
	return len(line), nil
}

const repoBig = "https://example.org/big.git"

// bigWorld imports big/big: n units of one language with an entry each.
func (w *world) bigWorld(n int) {
	w.tb.Helper()
	w.configure([]catalog.Project{{Slug: "big", Settings: projectDefaults("Big")}}, []store.ComponentSpec{
		{Project: "big", Slug: "big", Settings: componentDefaults("Big"), Repo: repoBig, Branch: "main"},
	})
	units := manyUnits(n)
	w.imports("big/big", repoBig, "Jane", sourceOf(units), file{language: "cs", name: "po/cs.po", forms: 3, formula: czech, units: units})
}
