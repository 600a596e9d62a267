package store

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store/internal/history"
	"github.com/repoglot/repoglot/catalog/store/internal/sqldb"
	"github.com/repoglot/repoglot/catalog/store/pgtest"
)

// model is the ledger as a plain list.
type model struct {
	entries []modelEntry
}

type modelEntry struct {
	change                          catalog.Change
	project, component, translation int64
}

func (m *model) list(q ChangeQuery) []catalog.Change {
	var out []catalog.Change
	for _, e := range m.entries {
		if e.change.ID > q.AfterID && e.passes(&q) && (q.TranslationID == 0 || q.TranslationID == e.translation) &&
			(q.ComponentID == 0 || q.ComponentID == e.component) && (q.ProjectID == 0 || q.ProjectID == e.project) &&
			(q.UnitID == 0 || q.UnitID == e.change.UnitID) {
			out = append(out, e.change)
		}
	}
	if q.Newest {
		slices.Reverse(out)
	}
	return out
}

// passes applies the filters of a query, one by one.
func (e *modelEntry) passes(q *ChangeQuery) bool {
	c := &e.change
	user := ""
	if q.Authored || slices.Contains([]catalog.Action{25, 31, 48, 63}, c.Action) {
		user = c.Username
	}
	return (len(q.Actions) == 0 || slices.Contains(q.Actions, c.Action)) && (q.User == "" || q.User == user) &&
		(q.From.IsZero() || !c.Timestamp.Before(q.From)) && (q.To.IsZero() || !c.Timestamp.After(q.To)) &&
		(q.Components == nil || slices.Contains(q.Components, e.component))
}

// Every list of changes, every page and every count equal the plain list's,
// whatever the steps.
func TestChangesProperty(outer *testing.T) {
	empty := filepath.Join(outer.TempDir(), "empty.db")
	if err := openAt(outer, empty).Close(); err != nil {
		outer.Fatal(err)
	}
	schema, err := os.ReadFile(empty)
	if err != nil && !pgtest.Chosen() {
		outer.Fatal(err)
	}
	rapid.Check(outer, func(t *rapid.T) {
		path := filepath.Join(outer.TempDir(), "test.db")
		if err := os.WriteFile(path, schema, 0o600); err != nil {
			t.Fatal(err)
		}
		db, err := Open(context.Background(), database(outer, path), sqldb.Options{Readers: 1})
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		width, room := rapid.SampledFrom([]int64{1, 2, 5, history.SpanWidth}).Draw(t, "width"), rapid.SampledFrom([]int{0, 7, history.MaxSpans}).Draw(t, "room")
		db.spans = history.NewSpans(width, room)
		w := newModelDB(t, db)
		for s := range rapid.IntRange(1, 5).Draw(t, "steps") {
			w.step(t, s+1)
			if rapid.IntRange(0, 5).Draw(t, "of an older version") == 0 {
				w.forgetSpans(t)
			}
			for range 12 { // later steps use the sums of earlier ones
				if rapid.IntRange(0, 3).Draw(t, "restart") == 0 {
					db.spans = history.NewSpans(width, room)
				}
				w.check(t, w.drawQuery(t))
			}
		}
		w.checkEach(t)
		w.checkSpans(t)
	})
}

// forgetSpans empties the table of sums, as it is after an upgrade or an import.
func (w *modelDB) forgetSpans(t *rapid.T) {
	if err := w.db.write(context.Background(), func(s *sqldb.Session) error {
		return s.Do(context.Background(), `DELETE FROM spans`)
	}); err != nil {
		t.Fatal(err)
	}
}

// checkSpans verifies the stored sums.
func (w *modelDB) checkSpans(t *rapid.T) {
	err := w.db.Read(context.Background(), func(ctx context.Context, s *Snapshot) error {
		_, err := s.Verify(ctx, func(m Mismatch) {
			if strings.Contains(m.What, "sums of changes") {
				t.Error(m)
			}
		})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// modelDB is a database of two projects, three components and their
// translations, with the model of its changes.
type modelDB struct {
	db    *DB
	m     model
	units map[int64]FingerprintedUnit // per translation
	comps map[int64]int64             // component by translation
	names map[int64]string            // per author
}

var authors = [...]string{"Ann", "Bob"}

// recorded are the actions that a ledger can hold.
var recorded = [...]catalog.Action{22, 24, 25, 31, 48, 51, 53, 59, 63}

func newModelDB(t *rapid.T, db *DB) *modelDB {
	w := &modelDB{db: db, units: map[int64]FingerprintedUnit{}, comps: map[int64]int64{}, names: map[int64]string{}}
	ctx := context.Background()
	specs := []ComponentSpec{spec("one", "a"), spec("one", "b"), spec("two", "c")}
	if err := db.Configure(ctx, projectsNamed("one", "two"), specs, nil); err != nil {
		t.Fatal(err)
	}
	_, err := db.Step(ctx, info(0, 1, 1, 2, 3), func(ctx context.Context, tx *StepTx) error {
		for c := int64(1); c <= 3; c++ {
			for _, code := range []string{"de", "fr"} {
				id, units, err := fill(ctx, tx, c, code, 1, nil)
				if err != nil {
					return err
				}
				w.units[id], w.comps[id] = units[0], c
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func (w *modelDB) step(t *rapid.T, at int) {
	n := rapid.IntRange(0, 8).Draw(t, "deltas")
	next := int64(len(w.m.entries)) + 1
	newest := map[int64]time.Time{}
	for _, e := range w.m.entries {
		newest[e.component] = e.change.Timestamp
	}
	var added []modelEntry
	res, err := w.db.Step(context.Background(), info(at, at+1, 1, 2, 3), func(ctx context.Context, tx *StepTx) error {
		for range n {
			d := w.drawDelta(t)
			if rapid.Bool().Draw(t, "has author") {
				var err error
				name := rapid.SampledFrom(authors[:]).Draw(t, "author")
				if d.AuthorID, err = tx.User(ctx, name, name+"@example.org", day(1)); err != nil {
					return err
				}
				w.names[d.AuthorID] = name
			}
			if err := tx.AddDelta(ctx, d); err != nil {
				return err
			}
			for _, e := range w.expect(&d, newest) {
				e.change.ID = next
				next++
				added = append(added, e)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if int(res.Changes) != len(added) || len(added) > 0 && res.FirstChange != added[0].change.ID {
		t.Errorf("%+v, want %d changes", res, len(added))
	}
	w.m.entries = append(w.m.entries, added...)
}

func (w *modelDB) drawDelta(t *rapid.T) Delta {
	d := Delta{ComponentID: rapid.Int64Range(1, 3).Draw(t, "component"), Commit: head(rapid.IntRange(1, 9).Draw(t, "commit")), At: day(rapid.IntRange(1, 20).Draw(t, "day"))}
	n := rapid.IntRange(0, 5).Draw(t, "entries")
	if rapid.IntRange(0, 3).Draw(t, "kind") == 0 {
		for i := range n {
			action := rapid.SampledFrom([]catalog.Action{22, 24, 25, 48, 51, 53}).Draw(t, "event")
			d.Entries = append(d.Entries, Entry{Action: action, Event: map[string]string{"n": fmt.Sprint(i)}})
		}
		return d
	}
	d.TranslationID = rapid.SampledFrom(sqldb.SortedKeys(w.units)).Draw(t, "translation")
	d.ComponentID = w.comps[d.TranslationID]
	for i := range n {
		action := rapid.SampledFrom([]catalog.Action{31, 59, 63}).Draw(t, "action")
		d.Entries = append(d.Entries, Entry{Action: action, UnitID: w.units[d.TranslationID].ID, State: 20, OldState: 10, Target: fmt.Sprint("new ", i), Old: "old"})
	}
	return d
}

func (w *modelDB) expect(d *Delta, newest map[int64]time.Time) []modelEntry {
	var out []modelEntry
	at := d.At
	if at.Before(newest[d.ComponentID]) {
		at = newest[d.ComponentID]
	}
	for _, e := range d.Entries {
		newest[d.ComponentID] = at
		m := modelEntry{component: d.ComponentID, translation: d.TranslationID, project: 1 + d.ComponentID/3}
		m.change = catalog.Change{
			Action: e.Action, UnitID: e.UnitID, Project: []string{"one", "two"}[m.project-1], Component: []string{"a", "b", "c"}[d.ComponentID-1],
			Timestamp: at, Target: e.Target, Old: e.Old, State: e.State, OldState: e.OldState, Commit: d.Commit, Event: e.Event,
		}
		if d.AuthorID != 0 {
			m.change.Username, m.change.AuthorName = strings.ToLower(w.names[d.AuthorID]), w.names[d.AuthorID]
		}
		if e.UnitID == 0 {
			m.change.State, m.change.OldState = catalog.StateAbsent, catalog.StateAbsent
		} else {
			u := w.units[d.TranslationID]
			m.change.Source, m.change.Context = u.Source, u.Context
			m.change.Language = []string{"fr", "de"}[d.TranslationID%2]
		}
		out = append(out, m)
	}
	return out
}

func (w *modelDB) drawQuery(t *rapid.T) ChangeQuery {
	q := ChangeQuery{
		AfterID: rapid.Int64Range(-1, int64(len(w.m.entries))+2).Draw(t, "after"), Offset: rapid.IntRange(0, 30).Draw(t, "offset"),
		Limit: rapid.IntRange(0, 20).Draw(t, "limit"), Newest: rapid.Bool().Draw(t, "newest"),
	}
	switch rapid.IntRange(0, 3).Draw(t, "scope") {
	case 1:
		q.TranslationID = rapid.SampledFrom(sqldb.SortedKeys(w.units)).Draw(t, "of translation")
	case 2:
		q.ComponentID = rapid.Int64Range(1, 3).Draw(t, "of component")
	case 3:
		q.ProjectID = rapid.Int64Range(1, 2).Draw(t, "of project")
	}
	if rapid.IntRange(0, 3).Draw(t, "of unit") == 0 {
		q.UnitID = w.units[rapid.SampledFrom(sqldb.SortedKeys(w.units)).Draw(t, "unit of translation")].ID
	}
	if rapid.Bool().Draw(t, "filtered") {
		drawFilter(t, &q)
	}
	return q
}

// TestDrawnFilters: drawQuery and model.list know every field of a ChangeQuery. One that is
// added belongs there, and in filter of package history: TestChangesProperty finds where it is forgotten.
func TestDrawnFilters(t *testing.T) {
	t.Parallel()
	drawn := []string{"TranslationID", "ComponentID", "ProjectID", "UnitID", "AfterID", "Offset", "Limit", "Newest", "Actions", "User", "Authored", "From", "To", "Components"}
	for i := range reflect.TypeFor[ChangeQuery]().NumField() {
		if name := reflect.TypeFor[ChangeQuery]().Field(i).Name; !slices.Contains(drawn, name) {
			t.Errorf("TestChangesProperty does not draw ChangeQuery.%s: extend drawQuery and model.list", name)
		}
	}
}

func drawFilter(t *rapid.T, q *ChangeQuery) {
	q.Actions = rapid.SliceOfN(rapid.SampledFrom(append(recorded[:], 2, 104)), 0, 3).Draw(t, "actions")
	q.User = rapid.SampledFrom([]string{"", "", "ann", "bob", "nobody"}).Draw(t, "user")
	q.Authored = rapid.Bool().Draw(t, "authored")
	if rapid.Bool().Draw(t, "from") {
		q.From = day(rapid.IntRange(1, 21).Draw(t, "from day"))
	}
	if rapid.Bool().Draw(t, "to") {
		q.To = day(rapid.IntRange(1, 21).Draw(t, "to day"))
	}
	if q.TranslationID == 0 && q.ComponentID == 0 && rapid.Bool().Draw(t, "some hidden") {
		q.Components = rapid.SliceOfNDistinct(rapid.Int64Range(1, 3), 0, 3, rapid.ID).Draw(t, "visible")
	}
}

func (w *modelDB) check(t *rapid.T, q ChangeQuery) {
	want := w.m.list(q)
	err := w.db.Read(context.Background(), func(ctx context.Context, s *Snapshot) error {
		n, err := s.Count(ctx, q)
		if err != nil {
			return err
		}
		if int(n) != len(want) {
			t.Errorf("%+v: count %d, want %d", q, n, len(want))
		}
		got, err := s.Changes(ctx, q)
		page := want[min(q.Offset, len(want)):min(q.Offset+q.Limit, len(want))]
		if len(got) != len(page) || len(page) > 0 && !cmp.Equal(page, got) {
			t.Errorf("%+v (-want +got):\n%s", q, cmp.Diff(page, got))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func (w *modelDB) checkEach(t *rapid.T) {
	err := w.db.Read(context.Background(), func(ctx context.Context, s *Snapshot) error {
		for _, e := range w.m.entries {
			got, err := s.Change(ctx, e.change.ID)
			if err != nil || !cmp.Equal(e.change, got) {
				t.Errorf("change %d: %v (-want +got):\n%s", e.change.ID, err, cmp.Diff(e.change, got))
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
