package ingest_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/catalogtest"
	"github.com/repoglot/repoglot/testrepos"
)

// TestUnion holds the order and the positions of source strings
// (docs/compatibility.md#source-translation).
func TestUnion(t *testing.T) {
	repo := repoWith(t, map[string]string{
		"po/app.pot": po("One", "", "Two", ""),
		"po/cs.po":   po("Old", "Starý", "One", "Jedna"),
		"po/de.po":   po("Two", "Zwei", "Older", "Älter", "Old", "Alt"),
	})
	w := catalogtest.NewPuller(t, repo.URL(), map[string]catalog.ComponentSettings{"app": {NewBase: "po/app.pot"}})
	w.Sync()
	want := []string{"1 One", "2 Two", "3 Old", "4 Older"}
	if diff := cmp.Diff(want, sourceStrings(w, "app")); diff != "" {
		t.Errorf("source units: %s", diff)
	}
	// The last file that has it drops it: the source translation does, too.
	repo.Commit(t, testrepos.Change{Files: map[string]string{"po/de.po": po("Two", "Zwei", "Old", "Alt")}})
	w.Sync()
	if diff := cmp.Diff(want[:3], sourceStrings(w, "app")); diff != "" {
		t.Errorf("source units after a removal: %s", diff)
	}
	// Without the POT all comes from the files.
	repo.Commit(t, testrepos.Change{Delete: []string{"po/app.pot"}})
	w.Sync()
	if diff := cmp.Diff([]string{"1 Old", "2 One", "3 Two"}, byPosition(sourceStrings(w, "app"))); diff != "" {
		t.Errorf("source units without the POT: %s", diff)
	}
	if diff := cmp.Diff([]string{"en=po/cs.po", "cs=po/cs.po", "de=po/de.po"}, servedFiles(w, "app")); diff != "" {
		t.Errorf("translations without the POT: %s", diff)
	}
}
