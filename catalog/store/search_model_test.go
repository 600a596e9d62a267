package store

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/checks"
	"github.com/repoglot/repoglot/catalog/query"
)

var (
	searchTexts    = []string{"", "Open", "open file", "ŽLUŤ kůň", "σας ΣΑΣ", "a%b_c", `say "x" \ 'y'`, "NUL\x00here", "line\nbreak", "%d file" + catalog.FormSeparator + "%d files", "<b>bold</b>"}
	searchContexts = []string{"", "menu", "MENU:item", "kůň"}
	searchStates   = []catalog.State{0, 10, 20, 30, 100}
	searchChecks   = []string{"end_stop", "same"}
	searchAuthors  = []string{"ann", "bob", ""}
)

// searched is a unit in the plain list.
type searched struct {
	catalog.Unit
	source    *searched
	component *ComponentRow
	language  string
	removed   bool
	entries   []searchedEntry
}

type searchedEntry struct {
	action catalog.Action
	at     time.Time
	author string
	target string
}

func (u *searched) texts(c query.Column) []string {
	switch c {
	case query.Source:
		return []string{u.Source}
	case query.Target:
		return []string{u.Target}
	case query.Context:
		return []string{u.Context}
	case query.Notes:
		return []string{u.Note}
	case query.Location:
		return []string{u.Location}
	case query.Flags:
		return []string{u.Flags}
	}
	return []string{u.Source, u.Target, u.Context}
}

func (u *searched) number(f query.NumericField) int64 {
	switch f {
	case query.ID:
		return u.ID
	case query.Position:
		return int64(u.Position)
	case query.Priority:
		return int64(u.Priority)
	case query.State:
		return int64(u.State)
	}
	return int64(u.source.State)
}

// inTime reports whether a time lies in [from, to).
func inTime(at, from, to time.Time) bool {
	return !at.IsZero() && (from.IsZero() || !at.Before(from)) && (to.IsZero() || at.Before(to))
}

func (e *searchedEntry) content() bool {
	return e.action == catalog.ActionStringRepoUpdate || e.action == catalog.ActionNewUnit && e.target != ""
}

func (u *searched) newest() time.Time {
	at := u.Created
	for _, e := range u.entries {
		if e.at.After(at) {
			at = e.at
		}
	}
	return at
}

func (u *searched) happened(t query.Time) bool {
	switch t.Event {
	case query.Added:
		return inTime(u.Created, t.From, t.To)
	case query.LastChanged:
		return inTime(u.newest(), t.From, t.To)
	case query.SourceChanged:
		return inTime(u.source.newest(), t.From, t.To)
	}
	return slices.ContainsFunc(u.entries, func(e searchedEntry) bool {
		return (t.Event == query.ChangeTime || e.content()) && inTime(e.at, t.From, t.To)
	})
}

func (u *searched) below(p query.Scope) bool {
	value := strings.ToLower(p.Value)
	switch p.Level {
	case query.Language:
		return u.language == value
	case query.SourceLanguage:
		return value == "en"
	case query.Project:
		return u.component.Project.Slug == value
	case query.Component:
		return u.component.Slug == value || strings.Contains(strings.ToLower(u.component.Settings.Name), value)
	}
	return strings.HasPrefix(u.component.Project.Slug+"/"+u.component.Slug+"/"+u.language+"/", value+"/")
}

// holds evaluates an expression as docs/search.md says, word by word.
func (u *searched) holds(e query.Expr) bool {
	switch e := e.(type) {
	case query.Const:
		return bool(e)
	case query.And:
		return !slices.ContainsFunc(e, func(x query.Expr) bool { return !u.holds(x) })
	case query.Or:
		return slices.ContainsFunc(e, u.holds)
	case query.Not:
		return !u.holds(e.X)
	case query.Text:
		return slices.ContainsFunc(u.texts(e.Column), func(text string) bool {
			switch e.Match.Kind {
			case query.Exact:
				return text == e.Match.Pattern
			case query.Regexp:
				return regexp.MustCompile(e.Match.Pattern).MatchString(text)
			}
			return strings.Contains(strings.ToLower(text), strings.ToLower(e.Match.Pattern))
		})
	case query.Filled:
		return u.texts(e.Column)[0] != ""
	case query.Failing:
		id, ok := checks.ByName(e.Check)
		mask := checks.Mask{}.With(id)
		return u.Failing != [2]uint64{} && (!ok || u.Failing[0]&mask[0]|u.Failing[1]&mask[1] != 0)
	case query.Plural:
		return strings.Contains(u.Source, catalog.FormSeparator)
	case query.Number:
		return slices.ContainsFunc(e.Spans, func(s query.Span) bool { return s.Lo <= u.number(e.Field) && u.number(e.Field) <= s.Hi })
	case query.Time:
		return u.happened(e)
	case query.Author:
		return slices.ContainsFunc(u.entries, func(x searchedEntry) bool {
			return x.content() && x.author != "" && x.author == strings.ToLower(e.Username)
		})
	case query.Action:
		return slices.ContainsFunc(u.entries, func(x searchedEntry) bool { return x.action == e.Action })
	case query.Scope:
		return u.below(e)
	}
	panic(fmt.Sprintf("%T", e))
}

// searchWorld is a database with the plain list of everything in it.
type searchWorld struct {
	db         *DB
	units      []*searched
	components []*ComponentRow
	ids        map[string]int64 // translation by "component/language"
	at         int
}

// newSearchWorld fills three components of two projects in several steps, so that
// the ids of translations interleave. Some units are removed, and one language.
func newSearchWorld(tb testing.TB, rounds, perRound int) *searchWorld {
	tb.Helper()
	db := open(tb)
	specs := []ComponentSpec{spec("one", "app"), spec("one", "apple"), spec("two", "docs")}
	specs[2].Settings.Name = "Manual of App"
	if err := db.Configure(context.Background(), projectsNamed("one", "two"), specs, nil); err != nil {
		tb.Fatal(err)
	}
	w := &searchWorld{db: db, ids: map[string]int64{}}
	read(tb, db, func(ctx context.Context, s *Snapshot) (err error) {
		w.components, err = s.Components(ctx, "")
		return err
	})
	for round := range rounds {
		w.round(tb, round, perRound)
	}
	w.removals(tb)
	return w
}

func (w *searchWorld) step(tb testing.TB, fn func(ctx context.Context, tx *StepTx) error) {
	tb.Helper()
	i := info(w.at, w.at+1, 1, 2, 3)
	i.At = day(w.at + 1)
	step(tb, w.db, i, fn)
	w.at++
}

// round adds units to every translation.
func (w *searchWorld) round(tb testing.TB, round, n int) {
	w.step(tb, func(ctx context.Context, tx *StepTx) error {
		for c := range w.components {
			sources := map[catalog.Identity]*searched{}
			for _, language := range []string{"en", "cs", "de"} {
				if err := w.addUnits(ctx, tx, &searchBatch{c, language, round, n, sources}); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// searchBatch is what a round adds to a translation.
type searchBatch struct {
	component int // index of searchWorld.components
	language  string
	round, n  int
	sources   map[catalog.Identity]*searched
}

func (w *searchWorld) addUnits(ctx context.Context, tx *StepTx, b *searchBatch) error {
	component := w.components[b.component]
	id := w.ids[component.Slug+b.language]
	t := catalog.Translation{ID: id, ComponentID: component.ID, Language: b.language, FileCode: b.language, Filename: b.language, IsSource: b.language == "en", PluralNumber: 2}
	t.Stats.Total.Units = int64((b.round + 1) * b.n)
	if err := tx.PutTranslation(ctx, &t); err != nil {
		return err
	}
	w.ids[component.Slug+b.language] = t.ID
	author := searchAuthors[(b.round+b.component)%len(searchAuthors)]
	d := Delta{ComponentID: component.ID, TranslationID: t.ID, Commit: head(b.round + 1), At: day(b.round + 1)}
	if author != "" {
		var err error
		if d.AuthorID, err = tx.User(ctx, author, author+"@example.org", day(1)); err != nil {
			return err
		}
	}
	var added []FingerprintedUnit
	fresh := make([]*searched, b.n)
	for i := range fresh {
		fresh[i] = b.unit(component, t.ID, i)
		added = append(added, FingerprintedUnit{Unit: &fresh[i].Unit, Text: int64(b.round*b.n + i), Meta: 1})
	}
	if err := tx.AddUnits(ctx, added); err != nil {
		return err
	}
	for i, u := range fresh {
		if i%2 == 0 {
			d.Entries = append(d.Entries, Entry{Action: catalog.ActionNewUnit, UnitID: u.ID, State: u.State, OldState: -1, Target: u.Target})
			u.entries = append(u.entries, searchedEntry{catalog.ActionNewUnit, day(b.round + 1), author, u.Target})
		}
		if i%5 == 0 {
			d.Entries = append(d.Entries, Entry{Action: catalog.ActionStringRepoUpdate, UnitID: u.ID, State: u.State, Target: u.Target})
			u.entries = append(u.entries, searchedEntry{catalog.ActionStringRepoUpdate, day(b.round + 1), author, u.Target})
		}
	}
	var failing []Failing
	for i := range fresh {
		if i%4 == 1 {
			mask := checks.Mask{}
			for _, name := range searchChecks[i/4%2 : 1+i%2] {
				id, _ := checks.ByName(name)
				mask = mask.With(id)
			}
			failing = append(failing, Failing{Unit: &fresh[i].Unit, Checks: mask})
		}
	}
	if err := tx.SetFailing(ctx, failing); err != nil {
		return err
	}
	w.units = append(w.units, fresh...)
	if err := tx.AddDelta(ctx, d); err != nil {
		return err
	}
	return w.layout(ctx, tx, t.ID)
}

// unit makes the i-th unit of the batch.
func (b *searchBatch) unit(component *ComponentRow, translation int64, i int) *searched {
	var h catalog.Hasher
	k := b.round*b.n + i
	u := &searched{component: component, language: b.language}
	u.TranslationID, u.State, u.Priority = translation, searchStates[(k+b.component+len(b.language)*b.round)%5], 100+10*(k%3)
	u.Source = fmt.Sprintf("%s %d", searchTexts[k%len(searchTexts)], k)
	u.Context, u.Target = searchContexts[k%4], searchTexts[(k*7+b.component)%len(searchTexts)]
	u.Note, u.Flags = searchContexts[(k+1)%4], []string{"", "c-format", "c-format, no-wrap"}[k%3]
	u.Identity = h.Identity(u.Source, u.Context)
	if k%6 != 0 {
		u.Created = day(b.round + 1)
	}
	if b.language == "en" {
		u.Target, u.State = u.Source, catalog.StateReadOnly
		b.sources[u.Identity] = u
	}
	u.source = b.sources[u.Identity]
	u.SourceID = u.source.ID
	return u
}

// layout stores the layouts of the live units again.
func (w *searchWorld) layout(ctx context.Context, tx *StepTx, translation int64) error {
	var placed []catalog.UnitPosition
	for _, u := range w.units {
		if u.TranslationID != translation || u.removed {
			continue
		}
		u.Position = len(placed)*7%1000 + 1
		u.Location = []string{"", "src/a.c:1", "SRC/Kůň.c:2"}[len(placed)%3]
		placed = append(placed, catalog.UnitPosition{ID: u.ID, Position: u.Position, Location: u.Location})
	}
	return tx.PutLayout(ctx, translation, placed)
}

// removals removes every ninth unit, and the German translation of one component,
// whose units stay as they are.
func (w *searchWorld) removals(tb testing.TB) {
	w.step(tb, func(ctx context.Context, tx *StepTx) error {
		var ids []int64
		for i, u := range w.units {
			if i%9 == 4 {
				u.removed = true
				ids = append(ids, u.ID)
			}
		}
		if err := tx.RemoveUnits(ctx, ids); err != nil {
			return err
		}
		for _, id := range w.ids {
			if err := w.layout(ctx, tx, id); err != nil {
				return err
			}
		}
		gone := catalog.Translation{ID: w.ids["docsde"], ComponentID: 3, Language: "de", FileCode: "de", Filename: "de", Removed: true}
		return tx.PutTranslation(ctx, &gone)
	})
	for _, u := range w.units {
		if u.TranslationID == w.ids["docsde"] {
			u.removed = true
		}
	}
}

func (w *searchWorld) all() map[int64]*ComponentRow {
	all := map[int64]*ComponentRow{}
	for i := range w.components {
		all[w.components[i].ID] = w.components[i]
	}
	return all
}

// want evaluates a query over the plain list.
func (w *searchWorld) want(q *SearchQuery) []int64 {
	var ids []int64
	for _, u := range w.units {
		in := q.Components[u.component.ID] != nil
		if in && !u.removed && (q.TranslationID == 0 || q.TranslationID == u.TranslationID) && u.holds(q.Expr) {
			ids = append(ids, u.ID)
		}
	}
	slices.Sort(ids)
	return ids
}

// search compares a query with the plain list, and a page of it.
func (w *searchWorld) search(t interface {
	Helper()
	Errorf(string, ...any)
}, q SearchQuery, offset, limit int,
) {
	t.Helper()
	want := w.want(&q)
	err := w.db.Read(context.Background(), func(ctx context.Context, s *Snapshot) error {
		found, err := s.Search(ctx, q)
		if err != nil {
			return err
		}
		units, owners, err := found.Page(ctx, int64(offset), limit)
		if err != nil {
			return err
		}
		ids := make([]int64, len(units))
		for i := range units {
			ids[i] = units[i].ID
			if owners[units[i].TranslationID].ID != units[i].TranslationID {
				t.Errorf("%s: no translation of unit %d", q.Expr, ids[i])
			}
			w.same(t, &units[i])
		}
		page := want[min(offset, len(want)):min(offset+limit, len(want))]
		if found.Count() != int64(len(want)) || !slices.Equal(ids, page) {
			t.Errorf("%s: %d units, want %d; page %v, want %v", q.Expr, found.Count(), len(want), ids, page)
		}
		return nil
	})
	if err != nil {
		t.Errorf("%s: %v", q.Expr, err)
	}
}

func (w *searchWorld) same(t interface{ Errorf(string, ...any) }, got *catalog.Unit) {
	i := slices.IndexFunc(w.units, func(u *searched) bool { return u.ID == got.ID })
	want := w.units[i].Unit
	if got.Source != want.Source || got.Target != want.Target || got.Position != want.Position || got.Location != want.Location || !got.Created.Equal(want.Created) {
		t.Errorf("unit %d: %+v, want %+v", got.ID, got, want)
	}
}
