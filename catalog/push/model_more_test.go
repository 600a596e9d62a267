package push_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/edit"
	"github.com/repoglot/repoglot/catalog/editing"
	"github.com/repoglot/repoglot/catalog/store"
	"github.com/repoglot/repoglot/gitsource/gittest"
	"github.com/repoglot/repoglot/gitsource/object"
)

// modelLanguages are added and removed; a folder and a symlink are where two of them would be.
var modelLanguages = []string{"de", "fr", "it", "pt"}

// languagesOf are the files below po/ but the Czech one.
func languagesOf(files gittest.Files) gittest.Files {
	languages := maps.Clone(files)
	maps.DeleteFunc(languages, func(path, _ string) bool { return !strings.HasPrefix(path, "po/") || strings.HasPrefix(path, "po/cs") })
	return languages
}

// journal returns all edits of texts.
func (m *model) journal() (list []store.Edit) {
	m.t.Helper()
	return slices.DeleteFunc(m.allEdits(), func(e store.Edit) bool { return e.Kind != store.EditText })
}

// allEdits returns all edits, also those of files.
func (m *model) allEdits() (list []store.Edit) {
	m.t.Helper()
	m.EachComponent(func(ctx context.Context, snap *store.Snapshot, c *store.ComponentRow) (err error) {
		some, _, err := snap.Edits(ctx, store.EditQuery{Components: []int64{c.ID}, Limit: 1000})
		list = append(list, some...)
		return err
	})
	return list
}

// unitOf returns the string of an edit, if it is served.
func (m *model) unitOf(of *store.Edit) (component int64, found bool) {
	m.EachUnit(func(c *catalog.Component, _ *catalog.Translation, u *catalog.Unit) {
		if u.ID == of.UnitID {
			component, found = c.ID, true
		}
	})
	return component, found
}

// reset takes back what is pending, or one edit.
func (m *model) reset() {
	defer m.acknowledge()
	one := m.rnd.IntN(2) == 0
	for _, e := range m.journal() {
		if e.Status != store.EditPending {
			continue
		}
		_, err := m.Editor.Discard(m.t.Context(), e.ComponentID, anna, "reset", false, func(o *store.Edit) bool { return o.ID == e.ID })
		gittest.Must(m.t, err)
		if one {
			return
		}
	}
	for _, f := range m.fileEdits() {
		m.taken[f.Path] = m.taken[f.Path] || f.Status == store.EditPending
		_, err := m.Editor.Discard(m.t.Context(), f.ComponentID, anna, "reset", false, func(e *store.Edit) bool { return e.Kind != store.EditText })
		gittest.Must(m.t, err)
	}
}

// restore enters the text of an edit again, or answers a suggestion.
func (m *model) restore() {
	list := m.journal()
	if len(list) == 0 {
		return
	}
	e := &list[m.rnd.IntN(len(list))]
	component, found := m.unitOf(e)
	if !found || e.Status == store.EditPending || e.Ours.Target == "" {
		return
	}
	defer m.acknowledge()
	by := edit.Author{Name: "Petr", Email: "petr@example.org"}
	if e.Status == store.EditSuggested {
		accept := m.rnd.IntN(2) == 0
		if accept {
			m.acked[e.Source] = append(m.acked[e.Source], e.Ours.Target)
		}
		gittest.Must(m.t, m.Editor.AnswerSuggestion(m.t.Context(), component, e.TranslationID, by, edit.Answer{ID: e.ID, UnitID: e.UnitID, Accept: accept}))
		return
	}
	_, err := m.Editor.Edit(m.t.Context(), component, e.TranslationID, by, []edit.Request{{UnitID: e.UnitID, Target: []string{e.Ours.Target}, State: catalog.StateTranslated}})
	gittest.Must(m.t, err)
	m.acked[e.Source] = append(m.acked[e.Source], e.Ours.Target)
}

// suggest suggests a text for a string that is served.
func (m *model) suggest(id string) {
	m.EachUnit(func(c *catalog.Component, tr *catalog.Translation, u *catalog.Unit) {
		if tr.Language != "cs" || u.Source != id {
			return
		}
		_, err := m.Editor.Suggest(m.t.Context(), c.ID, tr.ID, edit.Author{Name: "Jana", Email: "Jana@example.org"},
			edit.Request{UnitID: u.ID, Target: []string{fmt.Sprint("ours ", m.n, " suggested")}, State: catalog.StateTranslated})
		gittest.Must(m.t, err)
	})
}

// expire lets a month or three pass: what was taken back before is forgotten.
func (m *model) expire() {
	m.Clock = m.Clock.Add([]time.Duration{time.Hour, editing.KeepDiscarded, editing.KeepAway}[m.rnd.IntN(3)])
	for _, e := range m.journal() {
		if e.Status == store.EditDiscarded && !e.Updated.After(m.Clock.Add(-editing.KeepDiscarded)) {
			m.forgotten[e.Source+"\x00"+e.Ours.Target] = true
		}
	}
	for _, e := range m.fileEdits() {
		if e.Status == store.EditDiscarded {
			delete(m.added, e.ID)
		}
	}
	_, _, err := m.Editor.Expire(m.t.Context(), m.Clock)
	gittest.Must(m.t, err)
}

// changeFile adds a language, or removes it.
func (m *model) changeFile() {
	code := modelLanguages[m.rnd.IntN(len(modelLanguages))]
	var component int64
	var there *catalog.Translation
	m.EachComponent(func(ctx context.Context, snap *store.Snapshot, c *store.ComponentRow) error {
		if c.Slug != "app" {
			return nil
		}
		component = c.ID
		all, err := snap.Translations(ctx, c.ID)
		for i := range all {
			if all[i].Language == code {
				there = &all[i]
			}
		}
		return err
	})
	if there != nil {
		gittest.Must(m.t, m.Editor.RemoveTranslation(m.t.Context(), component, there, anna))
	} else if err := m.Editor.AddTranslation(m.t.Context(), component, code, anna); err != nil && !errors.Is(err, edit.ErrNotAdded) {
		m.t.Fatal(err)
	}
	for _, e := range m.fileEdits() {
		m.added[e.ID] = true
	}
}

// fileEdits returns all edits of files.
func (m *model) fileEdits() (list []store.Edit) {
	m.t.Helper()
	return slices.DeleteFunc(m.allEdits(), func(e store.Edit) bool { return e.Kind == store.EditText })
}

// checkFiles looks for each language that was added or removed.
func (m *model) checkFiles() {
	m.t.Helper()
	known := map[int64]bool{}
	for _, e := range m.fileEdits() {
		known[e.ID] = true
		if e.Status == store.EditDiscarded && e.Reason == "" {
			m.t.Fatalf("step %d: without a reason: %+v", m.n, e)
		}
	}
	for id := range m.added {
		if !known[id] {
			m.t.Fatalf("step %d: the edit %d of a file is lost", m.n, id)
		}
	}
}

// settledFiles looks at the end state of languages.
func (m *model) settledFiles() {
	m.t.Helper()
	var ours gittest.Files
	if head, err := object.ReadRef(m.up.Dir, "refs/heads/l10n"); err == nil {
		ours = filesAt(m.TB, m.up, head)
	}
	last := map[string]store.Edit{}
	obstructed := !strings.HasPrefix(m.branch("main")["app.pot"], "msgid") // the template is no file
	for _, e := range m.fileEdits() {
		if e.Kind == store.EditAddFile || e.Kind == store.EditRemoveFile {
			last[e.Path] = e
		}
		_, there := ours[e.Path]
		switch {
		case e.Status != store.EditPending:
		case m.isOdd(e.Path), obstructed, e.Kind == store.EditTemplate: // it would cost too many strings
			if e.Reason == "" {
				m.t.Errorf("waits without a reason: %+v", e)
			}
		case m.mode == catalog.PushDirect:
			m.t.Errorf("still pending: %+v", e)
		case there == (e.Kind == store.EditRemoveFile):
			m.t.Errorf("pending, and not in l10n: %+v", e)
		}
	}
	for path, e := range last {
		if _, there := m.languages[path]; m.mode == catalog.PushDirect && !m.isOdd(path) && !m.taken[path] && e.Status == store.EditFlushed && there == (e.Kind == store.EditRemoveFile) {
			m.t.Errorf("main is not as the last edit says: %+v", e)
		}
	}
}
