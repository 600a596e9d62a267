package ingest_test

import (
	"reflect"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/catalogtest"
	"github.com/repoglot/repoglot/testrepos"
)

// fieldEdits are two versions of a file for every field of catalog.Unit that a
// file decides. Of the string One, only that field differs, and what follows
// from it.
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

// otherFields are the fields of catalog.Unit that follow from others, or that no
// file decides.
var otherFields = []string{
	"ID", "TranslationID", "SourceID", "Identity", "Comment", "Words", "Chars", "Failing", "HasSuggestion", "Removed", "Created",
}

// TestFieldsAreStored edits each field of a unit alone: a pull, and a replay that
// makes the edit in the batch of the first version, store it, as an import does.
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
			pulled := catalogtest.NewPuller(t, repo.Path(), map[string]catalog.ComponentSettings{"app": {}})
			pulled.Sync()
			before := translated(pulled)
			repo.Commit(t, testrepos.Change{Files: map[string]string{"po/cs.po": poHead + versions[1]}})
			pulled.Sync()
			replayed := catalogtest.NewPuller(t, repo.Path(), map[string]catalog.ComponentSettings{"app": {History: catalog.History{Full: true}}})
			replayed.Sync()
			imported := catalogtest.NewPuller(t, repo.Path(), map[string]catalog.ComponentSettings{"app": {}})
			imported.Sync()
			want := translated(imported)
			alone := cmpopts.IgnoreFields(catalog.Unit{}, append(slices.Clone(otherFields), name)...)
			if diff := cmp.Diff(before, want, alone); diff != "" {
				t.Errorf("the edit changes more than %s (-before +after):\n%s", name, diff)
			}
			stored := cmpopts.IgnoreFields(catalog.Unit{}, "ID", "TranslationID", "SourceID", "Created")
			if cmp.Equal(before, want, stored) {
				t.Error("the edit changes nothing")
			}
			for road, w := range map[string]*catalogtest.Puller{"pulled": pulled, "replayed": replayed} {
				if diff := cmp.Diff(want, translated(w), stored); diff != "" {
					t.Errorf("imported and %s differ (-imported +%s):\n%s", road, road, diff)
				}
				w.Verify()
			}
		})
	}
}

// translated returns the unit of the translation cs that has a target.
func translated(w *catalogtest.Puller) (found catalog.Unit) {
	w.TB.Helper()
	w.EachUnit(func(_ *catalog.Component, t *catalog.Translation, u *catalog.Unit) {
		if t.Language == "cs" && u.Target != "" {
			found = *u
		}
	})
	if found.ID == 0 {
		w.TB.Fatal("there is no translated unit")
	}
	return found
}
