package push_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/edit"
	"github.com/repoglot/repoglot/catalog/query"
	"github.com/repoglot/repoglot/catalog/store"
	"github.com/repoglot/repoglot/gitsource/gittest"
)

// translate translates a string that the Czech file lacks, and returns its unit.
func (w *world) translate(source string, state catalog.State, target ...string) (id int64, err error) {
	w.t.Helper()
	var of catalog.Unit
	var component, translation int64
	w.EachUnit(func(c *catalog.Component, tr *catalog.Translation, u *catalog.Unit) {
		if tr.IsSource && u.Source == source {
			component, of = c.ID, *u
		}
		if tr.Language == "cs" {
			translation = tr.ID
		}
	})
	list := []edit.Request{{SourceID: of.ID, Target: target, State: state}}
	_, err = w.Editor.Edit(w.t.Context(), component, translation, edit.Author{Name: "Jana Nováková", Email: "jana@example.org"}, list)
	return list[0].UnitID, err
}

// lacks says how many strings the Czech file lacks.
func (w *world) lacks() (n int64) {
	w.t.Helper()
	w.EachComponent(func(ctx context.Context, snap *store.Snapshot, c *store.ComponentRow) error {
		all, err := snap.Translations(ctx, c.ID)
		for i := range all {
			if all[i].Language == "cs" {
				found, err := snap.Search(ctx, store.SearchQuery{Components: map[int64]*store.ComponentRow{c.ID: c}, TranslationID: all[i].ID, Missing: true, Expr: query.All})
				if err != nil {
					return err
				}
				n = found.Count()
			}
		}
		return err
	})
	return n
}

func newMissingWorld(t *testing.T, mode catalog.PushMode, ids ...string) *world {
	t.Helper()
	w, _ := newFileWorld(t, catalog.ComponentSettings{PushBranch: map[bool]string{true: "l10n"}[mode != catalog.PushDirect], Edits: catalog.Edits{Mode: mode, Flush: time.Hour}})
	w.template(ids...)
	return w
}

// TestMissing translates a string that the file lacks: it is a unit at once, is pushed as an
// entry at its place with the template's references, and comes back as what is served.
func TestMissing(t *testing.T) {
	w := newMissingWorld(t, catalog.PushDirect, "One", "Between", "Two")
	w.want(" Dvě | ", "pulled")
	_, last := w.ChangesAfter(0)
	id, err := w.translate("Between", catalog.StateTranslated, "Mezi")
	if gittest.Must(t, err); id == 0 || w.lacks() != 0 {
		t.Errorf("unit %d, %d strings are missing", id, w.lacks())
	}
	w.want(" Dvě Mezi* | pending", "translated")
	if text, _ := w.ChangesAfter(last); strings.Count(text, "\n") != 1 || !strings.HasPrefix(text, "31 app/cs by jana-novakova (Jana Nováková) in  at") || !strings.Contains(text, `"Between" / "": -1 "" -> 20 "Mezi"`) {
		t.Errorf("entries:\n%s", text)
	}
	if _, err := w.translate("Between", catalog.StateTranslated, "Jinak"); err == nil || !strings.Contains(err.Error(), edit.ErrChanged.Error()) {
		t.Errorf("twice: %v", err)
	}
	_, last = w.ChangesAfter(0)
	w.template("One", "Between", "Two", "More") // a pull keeps it
	w.want(" Dvě Mezi* | pending", "pulled again")
	before := w.file("main")
	if report := w.flush(); report.Commits != 1 || report.Edits != 1 {
		t.Errorf("%+v", report)
	}
	w.want(" Dvě Mezi | flushed", "flushed")  // by id
	w.WantEntries(last, "31 app/en by other") // of the template
	if got := w.UnitOf("cs", "Between"); got.ID != id {
		t.Errorf("the unit is %d, was %d", got.ID, id)
	}
	want := strings.Replace(before, "\nmsgid \"Two\"", "\n#: main.c:2\nmsgid \"Between\"\nmsgstr \"Mezi\"\n\nmsgid \"Two\"", 1)
	want = strings.Replace(want, "2020-01-01 00:00+0000", "2025-01-01 12:07+0000", 1)
	want = strings.Replace(want, "Nobody", "Jana Nováková <jana@example.org>", 1)
	if diff := cmp.Diff(want, w.file("main")); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
