package editing_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/edit"
	"github.com/repoglot/repoglot/catalog/store"
	"github.com/repoglot/repoglot/testrepos"
)

// TestMemoryOfEdits: a text that no file had, of a suggestion or of an edit that was taken back,
// is nothing to remember, and does not change since when the file has its own.
func TestMemoryOfEdits(t *testing.T) {
	w, repo := editable(t, map[string]string{"po/cs.po": po("One", "", "Two", "Dvě", "Three", "Tři")})
	remembered := func() (all string) {
		var component *store.ComponentRow
		w.EachComponent(func(_ context.Context, _ *store.Snapshot, c *store.ComponentRow) error { component = c; return nil })
		q := store.MemoryQuery{Components: map[int64]*store.ComponentRow{component.ID: component}, SourceLanguage: "en", Language: "cs", Strings: []string{"One", "Two", "Three"}, Most: 10}
		must(t, w.DB.Read(t.Context(), func(ctx context.Context, snap *store.Snapshot) error {
			found, err := snap.Memory(ctx, q)
			for _, list := range found {
				for _, m := range list {
					all += fmt.Sprintln(m.Source, m.Target, m.At != "", m.Pending, m.Time.Format(time.DateTime))
				}
			}
			return err
		}))
		return all
	}
	before := remembered()
	u := w.UnitOf("cs", "Two")
	_, err := w.Editor.Suggest(t.Context(), u.ID/catalog.UnitsPerComponent, u.TranslationID, jana, edit.Request{UnitID: u.ID, Target: []string{"Dvojka"}, State: catalog.StateTranslated})
	must(t, err)
	equal(t, before, remembered(), "beside a suggestion")
	must(t, w.Write("One", catalog.StateTranslated, "Nesmysl"))
	must(t, w.Write("Three", catalog.StateTranslated, "Nesmysl"))
	_, err = w.Editor.Discard(t.Context(), u.ID/catalog.UnitsPerComponent, jana, "reset", false, func(*store.Edit) bool { return true })
	must(t, err)
	equal(t, before, remembered(), "after edits were taken back")
	texts := func(of string) (list []string) {
		for line := range strings.Lines(remembered()) {
			if text, ok := strings.CutPrefix(line, of+" "); ok {
				list = append(list, text[:strings.LastIndex(text, " 2025-")])
			}
		}
		return list
	}
	for _, text := range []string{"Dvojka", "Dva", "Dva kusy"} {
		must(t, w.Write("Two", catalog.StateTranslated, text))
	}
	equal(t, []string{"Dva kusy false true", "Dvě true false"}, texts("Two"), "without texts that no file had")
	w.Commit(repo, testrepos.Change{Files: map[string]string{"po/cs.po": po("One", "", "Two", "Dva kusy", "Three", "Tři")}})
	equal(t, []string{"Dva kusy false false", "Dvě true false"}, texts("Two"), "after it arrived")
	must(t, w.Write("Two", catalog.StateTranslated, "Dvojice"))
	equal(t, []string{"Dvojice false true", "Dva kusy true false", "Dvě true false"}, texts("Two"), "with a text that arrived")
}
