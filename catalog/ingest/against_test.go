package ingest_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/catalogtest"
	"github.com/repoglot/repoglot/catalog/edit"
	"github.com/repoglot/repoglot/catalog/query"
	"github.com/repoglot/repoglot/catalog/store"
	"github.com/repoglot/repoglot/gitsource/gittest"
	"github.com/repoglot/repoglot/poparse"
	"github.com/repoglot/repoglot/poparse/gettexttest"
	"github.com/repoglot/repoglot/testrepos"
	"github.com/repoglot/repoglot/testrepos/testsize"
)

// drawnFile draws a PO file of few strings: with and without plurals, contexts, marks,
// obsolete entries.
func drawnFile(r *rand.Rand, template bool) string {
	var b strings.Builder
	b.WriteString("msgid \"\"\nmsgstr \"Content-Type: text/plain; charset=UTF-8\\n\"\n\"Plural-Forms: nplurals=2; plural=n != 1;\\n\"\n")
	for _, id := range []string{"one", "two words", "three", "four more words", "five"} {
		for _, ctx := range []string{"", "menu"} {
			if r.IntN(3) == 0 || ctx != "" && r.IntN(2) == 0 {
				continue
			}
			old := ""
			if r.IntN(6) == 0 && !template {
				old = "#~ "
			}
			text := ""
			if r.IntN(3) > 0 && !template {
				text = "x" + fmt.Sprint(r.IntN(3))
				if r.IntN(4) == 0 {
					b.WriteString("\n#, fuzzy")
				}
			}
			b.WriteString("\n")
			if old == "" {
				fmt.Fprintf(&b, "#: a.c:%d\n", r.IntN(2))
			}
			if ctx != "" {
				fmt.Fprintf(&b, "%smsgctxt %q\n", old, ctx)
			}
			fmt.Fprintf(&b, "%smsgid %q\n", old, id)
			if n := r.IntN(5); n < 2 {
				fmt.Fprintf(&b, "%smsgid_plural %q\n%[1]smsgstr[0] %[3]q\n%[1]smsgstr[1] %[3]q\n", old, fmt.Sprint(id, "s", n), text)
			} else {
				fmt.Fprintf(&b, "%smsgstr %q\n", old, text)
			}
		}
	}
	return b.String()
}

// recount counts a file against a template, both as texts, by nothing but its entries.
func recount(t *testing.T, text, template string, has bool) catalog.Progress {
	t.Helper()
	type id struct{ context, msgid string }
	entries := func(text string) map[id]*poparse.Entry {
		f, err := poparse.Parse("x.po", []byte(text))
		must(t, err)
		all := map[id]*poparse.Entry{}
		for e := range f.Live() {
			if e.ID != "" {
				all[id{e.Context, e.ID}] = e
			}
		}
		return all
	}
	words := func(e *poparse.Entry) int64 {
		return int64(catalog.CountWords(e.ID, false) + catalog.CountWords(e.IDPlural, false))
	}
	p := catalog.Progress{Files: 1, Bare: 1}
	file := entries(text)
	pot := map[id]*poparse.Entry{}
	if has {
		pot, p.Bare = entries(template), 0
	}
	done := int64(0)
	for key, e := range file {
		in, known := pot[key]
		changed := known && (in.IDPlural != e.IDPlural || in.HasPlural != e.HasPlural)
		p.Total++
		empty := !slices.ContainsFunc(e.Str, func(s string) bool { return s != "" })
		switch {
		case changed:
			p.Changed++
			p.Words += words(in)
			continue
		case e.Fuzzy && !empty:
			p.Fuzzy++
		case !slices.Contains(e.Str, ""):
			p.Translated++
			done += words(e)
		}
		p.Words += words(e)
	}
	for key, e := range pot {
		if file[key] == nil {
			p.Missing++
			p.Total++
			p.Words += words(e)
		}
	}
	p.WordsLeft = p.Words - done
	return p
}

// againstWorld draws commits of a component whose template comes, goes and moves on.
type againstWorld struct {
	*rand.Rand
	files map[string]string
}

func (a *againstWorld) commit(t *testing.T, repo *testrepos.Repo) {
	next := map[string]string{}
	for _, name := range []string{"po/app.pot", "po/en.po", "po/cs.po", "po/de.po", "po/fr.po"} {
		if a.IntN(3) == 0 && a.files[name] != "" || name == "po/fr.po" && a.IntN(3) == 0 {
			continue
		}
		switch {
		case a.IntN(5) == 0 && name != "po/cs.po" && a.files[name] != "":
			repo.Commit(t, testrepos.Change{Delete: []string{name}})
			delete(a.files, name)
		default:
			next[name] = drawnFile(a.Rand, strings.HasSuffix(name, ".pot"))
		}
	}
	maps.Copy(a.files, next)
	next["README"] = fmt.Sprint(a.Int64())
	repo.Commit(t, testrepos.Change{Files: next})
}

// want recounts every file of a component by language.
func (a *againstWorld) want(t *testing.T, s *catalog.ComponentSettings) map[string]catalog.Progress {
	template, has := a.files[s.NewBase]
	if !has {
		template, has = a.files["po/en.po"]
	}
	if s.LanguageRegex != "" && a.files[s.NewBase] == "" {
		template, has = "", false
	}
	all := map[string]catalog.Progress{}
	for name, text := range a.files {
		language := strings.TrimSuffix(filepath.Base(name), ".po")
		if language == "en" || filepath.Ext(name) == ".pot" {
			continue
		}
		all[language] = recount(t, text, template, has)
	}
	return all
}

// againstComponents have a template, a file of the source language, or none.
func againstComponents(history catalog.History) map[string]catalog.ComponentSettings {
	return map[string]catalog.ComponentSettings{
		"pot":    {NewBase: "po/app.pot", History: history, Edits: catalog.Edits{Mode: catalog.PushDirect}},
		"source": {History: history},
		"none":   {LanguageRegex: "^(cs|de|fr)$", History: history},
	}
}

// progressOf is what is kept of every translation, by component and language.
func progressOf(w *catalogtest.Puller) map[string]map[string]catalog.Progress {
	all := map[string]map[string]catalog.Progress{}
	w.EachComponent(func(ctx context.Context, snap *store.Snapshot, c *store.ComponentRow) error {
		all[c.Slug] = map[string]catalog.Progress{}
		sums, err := snap.SumsByComponent(ctx, []int64{c.ID})
		for i := range sums {
			if s := &sums[i]; !s.Source {
				all[c.Slug][s.Language] = s.Progress
				equalLists(ctx, w, snap, c, s)
			}
		}
		return err
	})
	return all
}

// equalLists: the lists have as many strings as are counted.
func equalLists(ctx context.Context, w *catalogtest.Puller, snap *store.Snapshot, c *store.ComponentRow, s *store.ComponentSum) {
	rows, err := snap.TranslationsIn(ctx, []int64{c.ID}, []string{s.Language})
	must(w.TB, err)
	missing, count := missingStrings(ctx, w, snap, c, rows[0].ID, query.All, 0, 100)
	changed, err := snap.Changed(ctx, c.ID, rows[0].ID, 0, 100)
	must(w.TB, err)
	equal(w.TB, [3]int64{s.Progress.Missing, s.Progress.Missing, s.Progress.Changed}, [3]int64{int64(len(missing)), count, int64(len(changed))}, "missing and changed strings in lists")
}

// TestAgainstTemplate: for drawn components, by import, replay and pull, people see what a
// plain recount of the files against the template says, and a verification finds the same.
func TestAgainstTemplate(t *testing.T) {
	for seed := range uint64(testsize.Of(1, 5, 24)) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			a := &againstWorld{rand.New(rand.NewPCG(seed, 47)), map[string]string{}}
			repo := testrepos.Empty(t)
			a.commit(t, repo)
			check := func(w *catalogtest.Puller, what string) {
				t.Helper()
				got := progressOf(w)
				for slug, s := range againstComponents(catalog.History{}) {
					equal(t, a.want(t, &s), got[slug], "%s: %s", what, slug)
				}
				w.Verify()
			}
			pulled := synced(t, repo.Path(), againstComponents(catalog.History{Full: true}))
			for n := range 8 {
				check(pulled, fmt.Sprintf("pull %d", n))
				a.commit(t, repo)
				pulled.Sync()
			}
			check(pulled, "the last pull")
			check(synced(t, repo.Path(), againstComponents(catalog.History{})), "import")
			replayed := catalogtest.NewPuller(t, repo.Path(), againstComponents(catalog.History{Full: true}))
			replayed.Syncer.SetBatch(5)
			replayed.Sync()
			check(replayed, "replay")
		})
	}
}

// TestAgainstEdits: an edit changes what people see, but not that of a string which the
// template has with another msgid_plural.
func TestAgainstEdits(t *testing.T) {
	repo := repoWith(t, map[string]string{
		"po/app.pot": po("One", "") + "\nmsgid \"File\"\nmsgid_plural \"Files\"\nmsgstr[0] \"\"\nmsgstr[1] \"\"\n",
		"po/cs.po":   po("One", "", "File", "", "Mine", ""),
	})
	w := synced(t, repo.Path(), againstComponents(catalog.History{}))
	want := catalog.Progress{Files: 1, Total: 3, Changed: 1, Words: 4, WordsLeft: 4}
	equal(t, want, progressOf(w)["pot"]["cs"], "before")
	for _, source := range []string{"One", "File", "Mine"} {
		var u catalog.Unit
		w.EachUnit(func(c *catalog.Component, tr *catalog.Translation, each *catalog.Unit) {
			if c.Slug == "pot" && tr.Language == "cs" && each.Source == source {
				u = *each
			}
		})
		by := edit.Author{Name: "Jana Nováková", Email: "jana@example.org"}
		_, err := w.Editor.Edit(t.Context(), u.ID/catalog.UnitsPerComponent, u.TranslationID, by, []edit.Request{{UnitID: u.ID, Target: []string{"x"}, State: catalog.StateTranslated}})
		must(t, err)
	}
	want.Translated, want.WordsLeft = 2, 2
	equal(t, want, progressOf(w)["pot"]["cs"], "after")
	w.Verify()
}

// TestWithoutTemplate: without a template a file counts as msgfmt --statistics says, and
// nothing is missing.
func TestWithoutTemplate(t *testing.T) {
	gittest.Need(t, "msgfmt")
	r := rand.New(rand.NewPCG(48, 48))
	files := map[string]string{}
	for _, language := range []string{"cs", "de", "fr", "pl", "sk"} {
		files["po/"+language+".po"] = drawnFile(r, false)
	}
	repo := repoWith(t, files)
	got := progressOf(synced(t, repo.Path(), map[string]catalog.ComponentSettings{"app": {}}))["app"]
	for name := range files {
		p := got[strings.TrimSuffix(filepath.Base(name), ".po")]
		equal(t, [3]int64{0, 0, 1}, [3]int64{p.Missing, p.Changed, p.Bare}, "%s", name)
		counts, _ := gettexttest.Msgfmt(t, []byte(files[name]))
		equal(t, counts, gettexttest.Counts{Translated: int(p.Translated), Fuzzy: int(p.Fuzzy), Untranslated: int(p.Left() - p.Fuzzy)}, "%s", name)
	}
}
