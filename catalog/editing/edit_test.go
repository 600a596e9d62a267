package editing_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/catalogtest"
	"github.com/repoglot/repoglot/catalog/edit"
	"github.com/repoglot/repoglot/catalog/editing"
	"github.com/repoglot/repoglot/catalog/ingest"
	"github.com/repoglot/repoglot/catalog/store"
	"github.com/repoglot/repoglot/testrepos"
)

var jana = edit.Author{Name: "Jana Nováková", Email: "jana@example.org"}

// editable makes a store with one component that takes edits.
func editable(t *testing.T, files map[string]string) (*catalogtest.Puller, *testrepos.Repo) {
	t.Helper()
	return app(t, catalog.ComponentSettings{Filemask: "po/*.po", SourceLanguage: "en", Edits: catalog.Edits{Mode: catalog.PushDirect}}, files)
}

// TestEdit edits strings and looks at what is served, and at the entries.
func TestEdit(t *testing.T) {
	w, repo := editable(t, map[string]string{"po/cs.po": po("Open the file.", "", "Two", "Dvě") + "\n#, fuzzy\n#| msgid \"Thre\"\nmsgid \"Three\"\nmsgstr \"Tři\"\n\n#, read-only\nmsgid \"Four\"\nmsgstr \"Čtyři\"\n"})
	_, last := w.ChangesAfter(0)
	generation := w.Generation()
	must(t, w.Write("Open the file.", catalog.StateTranslated, "Jedna"))
	if got := w.Generation(); got != generation+1 {
		t.Errorf("an edit takes %d generations", got-generation)
	}
	must(t, w.Write("Two", catalog.StateTranslated, "Dva"))
	must(t, w.Write("Two", catalog.StateFuzzy, "Dva"))
	must(t, w.Write("Three", catalog.StateTranslated, "Tři!"))
	must(t, w.Write("Three", catalog.StateTranslated, "Tři!")) // again
	text, _ := w.ChangesAfter(last)
	var actions []string
	for line := range strings.Lines(text) {
		actions = append(actions, strings.Fields(line)[0])
	}
	equal(t, []string{"5", "2", "37", "2"}, actions, "actions")
	u := w.UnitOf("cs", "Open the file.")
	if u.Target != "Jedna" || !u.Pending || u.State != catalog.StateTranslated || u.Failing == [2]uint64{} {
		t.Errorf("served and checked: %+v", u)
	}
	if u := w.UnitOf("cs", "Three"); u.PreviousSource != "" || u.State != catalog.StateTranslated {
		t.Errorf("the previous source of a translated string: %+v", u)
	}
	equal(t, "pending Open the file.: \"\" → \"Jedna\" 20 by 1 \npending Two: \"Dvě\" → \"Dva\" 10 by 1 \npending Three: \"Tři\" → \"Tři!\" 20 by 1 \n", w.Journal(), "the journal")
	w.Verify()

	for name, tt := range map[string]struct {
		source string
		state  catalog.State
		target []string
		want   error
	}{
		"read-only": {"Four", catalog.StateTranslated, []string{"x"}, edit.ErrReadOnly},
		"forms":     {"Open the file.", catalog.StateTranslated, []string{"x", "y"}, nil},
		"empty":     {"Open the file.", catalog.StateTranslated, []string{""}, nil},
		"control":   {"Open the file.", catalog.StateTranslated, []string{"\x01"}, nil},
		"state":     {"Open the file.", catalog.StateApproved, []string{"x"}, nil},
	} {
		err := w.Write(tt.source, tt.state, tt.target...)
		var invalid *edit.InvalidError
		if tt.want != nil && !errors.Is(err, tt.want) || tt.want == nil && !errors.As(err, &invalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
	// The repository's text comes back: there is nothing left to write.
	must(t, w.Write("Two", catalog.StateTranslated, "Dvě"))
	if u := w.UnitOf("cs", "Two"); u.Pending || u.Target != "Dvě" {
		t.Errorf("as the repository has it: %+v", u)
	}
	// A pull of something else keeps what is pending.
	repo.Commit(t, testrepos.Change{Files: map[string]string{"po/cs.po": po("Open the file.", "", "Two", "Dvě", "Three", "Tři", "Five", "Pět")}})
	w.Sync()
	if u := w.UnitOf("cs", "Open the file."); u.Target != "Jedna" || !u.Pending {
		t.Errorf("after a pull: %+v", u)
	}
	w.Verify()
}

// TestEditComesBack pulls what became of edits: each row is a later commit of the
// repository and what is in journal, string and entries then.
func TestEditComesBack(t *testing.T) {
	for name, tt := range map[string]struct {
		file, journal, target string
		pending               bool
		entries               []string
	}{
		"ours":    {po("One", "Jedna", "Two", "Dvě"), "flushed One: \"\" → \"Jedna\" 20 by 1 \n", "Jedna", false, nil},
		"others":  {po("One", "", "Two", "Dva"), "pending One: \"\" → \"Jedna\" 20 by 1 \n", "Jedna", true, []string{"59"}},
		"theirs":  {po("One", "Jeden", "Two", "Dvě"), "conflict One: \"\" → \"Jedna\" 20 by 1 conflict\n", "Jeden", false, []string{"59"}},
		"marked":  {po("Two", "Dvě") + "\n#, fuzzy\nmsgid \"One\"\nmsgstr \"Jedna\"\n", "flushed One: \"\" → \"Jedna\" 20 by 1 \n", "Jedna", false, []string{"59"}},
		"flagged": {po("Two", "Dvě") + "\n#, read-only\nmsgid \"One\"\nmsgstr \"Jeden\"\n", "conflict One: \"\" → \"Jedna\" 20 by 1 read-only\n", "Jeden", false, []string{"59"}},
	} {
		t.Run(name, func(t *testing.T) {
			w, repo := editable(t, map[string]string{"po/cs.po": po("One", "", "Two", "Dvě")})
			texts := w.Targets()
			must(t, w.Write("One", catalog.StateTranslated, "Jedna"))
			_, last := w.ChangesAfter(0)
			pullCommit(w, repo, testrepos.Change{Files: map[string]string{"po/cs.po": tt.file}})
			text, _ := w.ChangesAfter(last)
			if n := strings.Count(text, "\n"); n != len(tt.entries) {
				t.Errorf("%d entries, want %v:\n%s", n, tt.entries, text)
			}
			if u := w.UnitOf("cs", "One"); u.Target != tt.target || u.Pending != tt.pending || u.HasSuggestion != (name == "theirs") {
				t.Errorf("served: %+v", u)
			}
			equal(t, tt.journal, w.Journal(), "the journal")
			entriesLeadToUnits(w, texts)
			w.Verify()
		})
	}
}

// TestEditWaits takes the string of an edit away and back, and the component.
func TestEditWaits(t *testing.T) {
	w, repo := editable(t, map[string]string{"po/cs.po": po("One", "", "Two", "Dvě")})
	must(t, w.Write("One", catalog.StateTranslated, "Jedna"))
	pullCommit(w, repo, testrepos.Change{Files: map[string]string{"po/cs.po": po("Two", "Dvě")}})
	equal(t, "pending One: \"\" → \"Jedna\" 20 by 1 \n", w.Journal(), "without the string")
	w.Verify()
	pullCommit(w, repo, testrepos.Change{Files: map[string]string{"po/cs.po": po("One", "", "Two", "Dvě", "Three", "")}})
	if u := w.UnitOf("cs", "One"); u.Target != "Jedna" || !u.Pending {
		t.Errorf("it came back: %+v", u)
	}
	pullCommit(w, repo, testrepos.Change{Delete: []string{"po/cs.po"}, Files: map[string]string{"po/de.po": po("One", "")}})
	pullCommit(w, repo, testrepos.Change{Files: map[string]string{"po/cs.po": po("One", "", "Two", "Dvě")}})
	if u := w.UnitOf("cs", "One"); u.Target != "Jedna" || !u.Pending {
		t.Errorf("its file came back: %+v", u)
	}
	settings := w.Branch.Components[0].Spec.Settings
	w.Configure(repo.URL(), "", map[string]catalog.ComponentSettings{"other": settings})
	w.Sync()
	settings.Edits = catalog.Edits{}
	w.Configure(repo.URL(), "", map[string]catalog.ComponentSettings{"app": settings})
	w.Sync()
	if u := w.UnitOf("cs", "One"); u.Target != "Jedna" || !u.Pending {
		t.Errorf("its component came back: %+v", u)
	}
	if err := w.Write("Two", catalog.StateTranslated, "Dva"); !errors.Is(err, edit.ErrNotTaken) {
		t.Errorf("without push_mode: %v", err)
	}
	w.Verify()
}

// TestEditsOnFullDisk: while the disk is too full for pulls edits are stored, until there
// is too little room for these.
func TestEditsOnFullDisk(t *testing.T) {
	w, _ := editable(t, map[string]string{"po/cs.po": po("One", "Jedna")})
	w.Sync()
	full := errors.New("full")
	var none error
	w.Change = func(o *ingest.Options) { o.Room = func() error { return full } }
	w.ChangeEditor = func(o *editing.Options) { o.Room = func() error { return none } }
	w.Reopen(func(*store.Options) {})
	if err := w.Write("One", catalog.StateTranslated, "Jeden"); err != nil {
		t.Fatal(err)
	}
	none = full
	if err := w.Write("One", catalog.StateTranslated, "Jedno"); !errors.Is(err, edit.ErrNoRoom) || !errors.Is(err, full) {
		t.Errorf("without room: %v", err)
	}
}

// TestEmptiedFailsNothing: a string that an edit empties after another translated it fails no
// check, as one that the repository empties.
func TestEmptiedFailsNothing(t *testing.T) {
	w, _ := editable(t, map[string]string{"po/cs.po": po("Open the file.", "")})
	must(t, w.Write("Open the file.", catalog.StateTranslated, "Jedna"))
	must(t, w.Write("Open the file.", catalog.StateEmpty, ""))
	if u := w.UnitOf("cs", "Open the file."); u.Target != "" || u.Failing != [2]uint64{} {
		t.Errorf("%q fails %v", u.Target, u.Failing)
	}
}

// TestEditEndsAfterItBegan: a commit that was made before an edit ends it, and the edit does
// not end before it was made.
func TestEditEndsAfterItBegan(t *testing.T) {
	for _, text := range []string{"Theirs", "Ours"} {
		w, repo := editable(t, map[string]string{"po/cs.po": po("One", "")})
		must(t, w.Write("One", catalog.StateTranslated, "Ours"))
		repo.Commit(t, testrepos.Change{Files: map[string]string{"po/cs.po": po("One", text)}})
		w.Sync()
		w.EachComponent(func(ctx context.Context, snap *store.Snapshot, c *store.ComponentRow) error {
			list, _, err := snap.Edits(ctx, store.EditQuery{Components: []int64{c.ID}, Limit: 100})
			if len(list) != 1 || list[0].Status == store.EditPending || list[0].Updated.Before(list[0].Created) {
				t.Errorf("%s: %+v", text, list)
			}
			return err
		})
	}
}
