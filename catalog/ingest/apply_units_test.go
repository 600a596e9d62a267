package ingest_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"golang.org/x/text/encoding/charmap"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/catalogtest"
	"github.com/repoglot/repoglot/testrepos"
)

// fieldEdits has two versions of a file for every field of catalog.Unit that
// comes from a file. The string One differs only in that field and in the
// fields that follow from it.
var fieldEdits = map[string][2]string{
	"Source":          {"msgid \"One\"\nmsgstr \"Jedna\"\n", "msgid \"Won\"\nmsgstr \"Jedna\"\n"},
	"Context":         {"msgctxt \"a\"\nmsgid \"One\"\nmsgstr \"Jedna\"\n", "msgctxt \"b\"\nmsgid \"One\"\nmsgstr \"Jedna\"\n"},
	"Target":          {"msgid \"One\"\nmsgstr \"Jedna\"\n", "msgid \"One\"\nmsgstr \"Jeden\"\n"},
	"State":           {"msgid \"One\"\nmsgstr \"Jedna\"\n", "#, fuzzy\nmsgid \"One\"\nmsgstr \"Jedna\"\n"},
	"PreviousSource":  {"#, fuzzy\n#| msgid \"1\"\nmsgid \"One\"\nmsgstr \"Jedna\"\n", "#, fuzzy\n#| msgid \"I\"\nmsgid \"One\"\nmsgstr \"Jedna\"\n"},
	"Note":            {"#. a button\nmsgid \"One\"\nmsgstr \"Jedna\"\n", "#. a menu\nmsgid \"One\"\nmsgstr \"Jedna\"\n"},
	"TranslatorBytes": {"#. is it?\n#. a button\nmsgid \"One\"\nmsgstr \"Jedna\"\n", "# is it?\n#. a button\nmsgid \"One\"\nmsgstr \"Jedna\"\n"},
	"Flags":           {"#, c-format\nmsgid \"One\"\nmsgstr \"Jedna\"\n", "#, no-wrap\nmsgid \"One\"\nmsgstr \"Jedna\"\n"},
	"Priority":        {"#, priority:1, priority:2\nmsgid \"One\"\nmsgstr \"Jedna\"\n", "#, priority:2, priority:1\nmsgid \"One\"\nmsgstr \"Jedna\"\n"},
	"Position":        {"msgid \"One\"\nmsgstr \"Jedna\"\n\nmsgid \"Two\"\nmsgstr \"\"\n", "msgid \"Two\"\nmsgstr \"\"\n\nmsgid \"One\"\nmsgstr \"Jedna\"\n"},
	"Location":        {"#: a.c:1\nmsgid \"One\"\nmsgstr \"Jedna\"\n", "#: a.c:2\nmsgid \"One\"\nmsgstr \"Jedna\"\n"},
}

// otherFields are the fields of catalog.Unit that follow from others or do not
// come from a file.
var otherFields = []string{
	"ID", "TranslationID", "SourceID", "Identity", "Comment", "Words", "Chars", "Failing", "HasSuggestion", "Pending", "Removed", "Created",
}

// TestFieldsAreStored edits each field of a unit alone. A pull, and a replay
// with both versions in one batch, store what an import stores.
func TestFieldsAreStored(t *testing.T) {
	for i := range reflect.TypeFor[catalog.Unit]().NumField() {
		name := reflect.TypeFor[catalog.Unit]().Field(i).Name
		if _, ok := fieldEdits[name]; ok == slices.Contains(otherFields, name) {
			t.Errorf("Unit.%s: add an edit of it alone to fieldEdits, or the field to otherFields", name)
		}
	}
	for name, versions := range fieldEdits {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			repo := repoWith(t, map[string]string{"po/cs.po": poHead + versions[0]})
			pulled := synced(t, repo.Path(), map[string]catalog.ComponentSettings{"app": {}})
			before, _ := unitOne(pulled)
			repo.Commit(t, testrepos.Change{Files: map[string]string{"po/cs.po": poHead + versions[1]}})
			pulled.Sync()
			replayed := synced(t, repo.Path(), map[string]catalog.ComponentSettings{"app": {History: catalog.History{Full: true}}})
			imported := synced(t, repo.Path(), map[string]catalog.ComponentSettings{"app": {}})
			want, wantSource := unitOne(imported)
			alone := cmpopts.IgnoreFields(catalog.Unit{}, append(slices.Clone(otherFields), name)...)
			if diff := cmp.Diff(before, want, alone); diff != "" {
				t.Errorf("the edit changes more than %s (-before +after):\n%s", name, diff)
			}
			stored := cmpopts.IgnoreFields(catalog.Unit{}, "ID", "TranslationID", "SourceID", "Created")
			if cmp.Equal(before, want, stored) {
				t.Error("the edit changes nothing")
			}
			for road, w := range map[string]*catalogtest.Puller{"pulled": pulled, "replayed": replayed} {
				w.Verify()
				got, source := unitOne(w)
				if diff := cmp.Diff(want, got, stored); diff != "" {
					t.Errorf("imported and %s differ (-imported +%s):\n%s", road, road, diff)
				}
				if name == "Priority" {
					continue // part of Flags: its order alone does not reach the source unit
				}
				if diff := cmp.Diff(wantSource, source, stored); diff != "" {
					t.Errorf("imported and %s differ in the source unit (-imported +%s):\n%s", road, road, diff)
				}
			}
		})
	}
}

// unitOne returns the unit of the translation cs that has a target, and its
// source unit.
func unitOne(w *catalogtest.Puller) (found, source catalog.Unit) {
	w.TB.Helper()
	sources := map[int64]catalog.Unit{}
	w.EachUnit(func(_ *catalog.Component, t *catalog.Translation, u *catalog.Unit) {
		switch {
		case t.IsSource:
			sources[u.ID] = *u
		case u.Target != "":
			found = *u
		}
	})
	source, ok := sources[found.SourceID]
	if !ok {
		w.TB.Fatal("there is no translated unit with a source unit")
	}
	return found, source
}

// TestRepeatedEntryShiftsPositions: a repeated entry is not served, and the
// entries after it move.
func TestRepeatedEntryShiftsPositions(t *testing.T) {
	w, repo := app(t, catalog.ComponentSettings{}, map[string]string{"po/cs.po": po("One", "Jedna", "Two", "Dvě")})
	repo.Commit(t, testrepos.Change{Files: map[string]string{"po/cs.po": po("One", "Jedna", "One", "Jeden", "Two", "Dvě")}})
	equal(t, int64(0), w.Sync().Changes, "entries")
	fresh := synced(t, repo.URL(), map[string]catalog.ComponentSettings{"app": {LanguageRegex: "^[^.]+$"}})
	equal(t, servedUnits(fresh), servedUnits(w), "pulling and importing differ (-import +pull)")
}

// TestNothingChanged: a file that is reordered or rewrapped, or that gets
// another encoding or other comments, makes no entry
// (docs/compatibility.md#change-entries), pulled or replayed. The last commit,
// which changes one string, makes one.
func TestNothingChanged(t *testing.T) {
	head := func(charset string) string {
		return "msgid \"\"\nmsgstr \"Content-Type: text/plain; charset=" + charset + "\\n\"\n\n"
	}
	const (
		long    = "msgid \"A long sentence that goes on\"\nmsgstr \"Dlouhá věta, která pokračuje\"\n\n"
		wrapped = "msgid \"\"\n\"A long sentence \"\n\"that goes on\"\nmsgstr \"\"\n\"Dlouhá věta, \"\n\"která pokračuje\"\n\n"
		plural  = "msgid \"%d file\"\nmsgid_plural \"%d files\"\nmsgstr[0] \"%d soubor\"\nmsgstr[1] \"%d soubory\"\n\n"
		empty   = "msgctxt \"menu\"\nmsgid \"Open\"\nmsgstr \"\"\n\n"
	)
	latin2, err := charmap.ISO8859_2.NewEncoder().String(head("ISO-8859-2") + long + plural + empty)
	must(t, err)
	versions := []struct{ name, text string }{
		{"first", head("UTF-8") + long + plural + empty},
		{"reordered", head("UTF-8") + empty + plural + long},
		{"rewrapped", head("UTF-8") + wrapped + plural + empty},
		{"encoded otherwise", latin2},
		{"commented", head("UTF-8") + "# translator\n#. extracted\n#: src/a.c:7\n" + long + "#: src/b.c:9\n" + plural + empty + "#~ msgid \"Gone\"\n#~ msgstr \"Pryč\"\n"},
		{"other references and flags", head("UTF-8") + "#: src/z.c:1\n#, no-wrap\n" + long + plural + empty},
		{"with CR LF and another header", "# Title\r\nmsgid \"\"\r\nmsgstr \"Last-Translator: X\\n\"\r\n\"Content-Type: text/plain; charset=UTF-8\\n\"\r\n\r\nmsgid \"A long sentence that goes on\"\r\nmsgstr \"Dlouhá věta, která pokračuje\"\r\n\r\n" + plural + empty},
		{"with a form that is not shown", head("UTF-8") + long + strings.TrimSuffix(plural, "\n") + "msgstr[2] \"\"\nmsgstr[3] \"%d souborem\"\n\n" + empty},
		{"with another one", head("UTF-8") + long + strings.TrimSuffix(plural, "\n") + "msgstr[2] \"\"\nmsgstr[3] \"%d soubory\"\n\n" + empty},
		{"changed", head("UTF-8") + long + plural + "msgctxt \"menu\"\nmsgid \"Open\"\nmsgstr \"Otevřít\"\n\n"},
	}
	repo := testrepos.Empty(t)
	var hashes []string
	names := map[string]string{}
	for _, v := range versions {
		hash := repo.Commit(t, testrepos.Change{Branch: "main", Message: v.name, Files: map[string]string{"po/cs.po": v.text}})
		hashes = append(hashes, hash)
		names[hash] = v.name
	}
	settings := map[string]catalog.ComponentSettings{"app": {History: catalog.History{Full: true}}}
	for _, road := range []string{"replayed", "pulled"} {
		t.Run(road, func(t *testing.T) {
			if road == "pulled" {
				repo.Branch(t, "main", hashes[0])
			}
			w := synced(t, repo.URL(), settings)
			if road == "pulled" {
				for _, hash := range hashes[1:] {
					repo.Branch(t, "main", hash)
					w.Sync()
				}
			}
			got := map[string]int{}
			w.EachChange(0, func(c *catalog.Change) { got[names[c.Commit]]++ })
			// 51, 48 and three strings in two languages; then the one string.
			if want := map[string]int{"first": 8, "changed": 1}; fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("entries %v, want %v", got, want)
			}
		})
	}
}

// TestEntriesHaveShownForms: entries have the forms that the unit shows
// (docs/compatibility.md#plurals), pulled or replayed. A difference in others
// makes no entry.
func TestEntriesHaveShownForms(t *testing.T) {
	file := func(rule string, forms ...string) string {
		text := poHead
		if rule != "" {
			text = strings.Replace(poHead, "msgstr \"", "msgstr \"Plural-Forms: "+rule+"\\n", 1)
		}
		if len(forms) == 0 {
			return text
		}
		text += "msgid \"%d file\"\nmsgid_plural \"%d files\"\n"
		for i, form := range forms {
			text += fmt.Sprintf("msgstr[%d] %q\n", i, form)
		}
		return text
	}
	const two = "nplurals=2; plural=n != 1;"
	repo := testrepos.Empty(t)
	var hashes []string
	for _, text := range []string{
		file("", "", ""), file("", "a", "b"), file("", "a", "b", "c", "d"), file("", "a", "b", "c", "e"),
		file(two, "a", "b", "c"), file(two, "a", "f", "c"), file(two),
	} {
		hashes = append(hashes, repo.Commit(t, testrepos.Change{Branch: "main", Files: map[string]string{"po/cs.po": text}}))
	}
	want := []string{
		`31 "" → "||"`, `59 "||" → "a|b|"`, `59 "a|b|" → "a|b|c"`, `59 "a|b|c" → "a|b"`, `59 "a|b" → "a|f"`, `63 "a|f" → "a|f"`,
	}
	settings := map[string]catalog.ComponentSettings{"app": {History: catalog.History{Full: true}}}
	for _, road := range []string{"replayed", "pulled"} {
		t.Run(road, func(t *testing.T) {
			if road == "pulled" {
				repo.Branch(t, "main", hashes[0])
			}
			w := catalogtest.NewPuller(t, repo.URL(), settings)
			w.Sync()
			if road == "pulled" {
				for _, hash := range hashes[1:] {
					repo.Branch(t, "main", hash)
					w.Sync()
				}
			}
			w.Verify()
			var got []string
			w.EachChange(0, func(c *catalog.Change) {
				if c.Language == "cs" && c.UnitID != 0 {
					bars := strings.NewReplacer(catalog.FormSeparator, "|")
					got = append(got, fmt.Sprintf("%d %q → %q", c.Action, bars.Replace(c.Old), bars.Replace(c.Target)))
				}
			})
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("entries (-want +got):\n%s", diff)
			}
		})
	}
}
