package store

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/query"
)

// searched is a unit as a plain list has it, for a plain evaluator.
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

func (u *searched) figure(f query.NumericField) int64 {
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

// holds is the evaluator of weblate-facts §7, word by word.
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
	case query.Plural:
		return strings.Contains(u.Source, catalog.FormSeparator)
	case query.Number:
		return slices.ContainsFunc(e.Spans, func(s query.Span) bool { return s.Lo <= u.figure(e.Field) && u.figure(e.Field) <= s.Hi })
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

// searchWorld is a database and the plain list of all that was put into it.
type searchWorld struct {
	db         *DB
	units      []*searched
	components []ComponentRow
	ids        map[string]int64 // "component/language" → translation
	at         int
}

var (
	searchTexts    = []string{"", "Open", "open file", "ŽLUŤ kůň", "σας ΣΑΣ", "a%b_c", `say "x" \ 'y'`, "NUL\x00here", "line\nbreak", "%d file" + catalog.FormSeparator + "%d files", "<b>bold</b>"}
	searchContexts = []string{"", "menu", "MENU:item", "kůň"}
	searchStates   = []catalog.State{0, 10, 20, 30, 100}
	searchAuthors  = []string{"ann", "bob", ""}
)

// newSearchWorld fills three components of two projects, in several steps, so
// that the ids of translations interleave; some units are removed, one language
// is gone.
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
				if err := w.addUnits(ctx, tx, c, language, round, n, sources); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

func (w *searchWorld) addUnits(ctx context.Context, tx *StepTx, c int, language string, round, n int, sources map[catalog.Identity]*searched) error {
	component := &w.components[c]
	id := w.ids[component.Slug+language]
	t := catalog.Translation{ID: id, ComponentID: component.ID, Language: language, FileCode: language, Filename: language, IsSource: language == "en", PluralNumber: 2}
	t.Stats.Total.Units = int64((round + 1) * n)
	if err := tx.PutTranslation(ctx, &t); err != nil {
		return err
	}
	w.ids[component.Slug+language] = t.ID
	var h catalog.Hasher
	var added []FingerprintedUnit
	author := searchAuthors[(round+c)%len(searchAuthors)]
	d := Delta{ComponentID: component.ID, TranslationID: t.ID, Commit: head(round + 1), At: day(round + 1)}
	if author != "" {
		var err error
		if d.AuthorID, err = tx.User(ctx, author, author+"@example.org", day(1)); err != nil {
			return err
		}
	}
	fresh := make([]*searched, n)
	for i := range n {
		k := round*n + i
		u := &searched{component: component, language: language}
		u.TranslationID, u.State, u.Priority = t.ID, searchStates[(k+c+len(language)*round)%5], 100+10*(k%3)
		u.Source = fmt.Sprintf("%s %d", searchTexts[k%len(searchTexts)], k)
		u.Context, u.Target = searchContexts[k%4], searchTexts[(k*7+c)%len(searchTexts)]
		u.Note, u.Flags = searchContexts[(k+1)%4], []string{"", "c-format", "c-format, no-wrap"}[k%3]
		u.Identity = h.Identity(u.Source, u.Context)
		if k%6 != 0 {
			u.Created = day(round + 1)
		}
		if language == "en" {
			u.Target, u.State = u.Source, catalog.StateReadOnly
			sources[u.Identity] = u
		}
		u.source = sources[u.Identity]
		u.SourceID = u.source.ID
		added = append(added, FingerprintedUnit{Unit: &u.Unit, Text: int64(k), Meta: 1})
		fresh[i] = u
	}
	if err := tx.AddUnits(ctx, added); err != nil {
		return err
	}
	for i, u := range fresh {
		if i%2 == 0 {
			d.Entries = append(d.Entries, Entry{Action: catalog.ActionNewUnit, UnitID: u.ID, State: u.State, OldState: -1, Target: u.Target})
			u.entries = append(u.entries, searchedEntry{catalog.ActionNewUnit, day(round + 1), author, u.Target})
		}
		if i%5 == 0 {
			d.Entries = append(d.Entries, Entry{Action: catalog.ActionStringRepoUpdate, UnitID: u.ID, State: u.State, Target: u.Target})
			u.entries = append(u.entries, searchedEntry{catalog.ActionStringRepoUpdate, day(round + 1), author, u.Target})
		}
	}
	w.units = append(w.units, fresh...)
	if err := tx.AddDelta(ctx, d); err != nil {
		return err
	}
	return w.layout(ctx, tx, t.ID)
}

// layout stores the places of the live units, anew.
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

// removals takes every ninth unit out, and the German of one component, whose
// units stay as they are.
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
		all[w.components[i].ID] = &w.components[i]
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

// Random expressions over random scopes find what a plain evaluator finds.
func TestSearchProperty(t *testing.T) {
	w := newSearchWorld(t, 4, 40)
	rapid.Check(t, func(t *rapid.T) {
		w.db.searches.longFrom = rapid.SampledFrom([]int64{0, longSearch}).Draw(t, "long")
		w.db.searches.spanUnits = rapid.SampledFrom([]int64{16, 100, 300, spanUnits}).Draw(t, "span")
		q := SearchQuery{Expr: drawExpr(t, w, 3), Components: map[int64]*ComponentRow{}}
		for i := range w.components {
			if rapid.IntRange(0, 3).Draw(t, "component") > 0 {
				q.Components[w.components[i].ID] = &w.components[i]
			}
		}
		if rapid.Bool().Draw(t, "one translation") {
			q.TranslationID = rapid.Int64Range(1, 9).Draw(t, "translation")
		}
		offset, limit := rapid.IntRange(0, 30).Draw(t, "offset"), rapid.IntRange(1, 300).Draw(t, "limit")
		w.search(t, q, offset, limit)
		w.search(t, q, offset+limit, limit) // from the cache
		again, err := query.Parse(q.Expr.String())
		if err != nil {
			t.Fatalf("%s: %v", q.Expr, err)
		}
		q.Expr = again
		w.search(t, q, offset, limit)
	})
}

func drawExpr(t *rapid.T, w *searchWorld, depth int) query.Expr {
	kind := rapid.IntRange(0, 12).Draw(t, "kind")
	if depth == 0 {
		kind = max(kind, 3)
	}
	switch kind {
	case 0, 1:
		list := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) query.Expr { return drawExpr(t, w, depth-1) }), 2, 3).Draw(t, "operands")
		if kind == 0 {
			return query.And(list)
		}
		return query.Or(list)
	case 2:
		return query.Not{X: drawExpr(t, w, depth-1)}
	case 3, 4, 5:
		return drawText(t)
	case 6, 7:
		return drawNumber(t, w)
	case 8:
		return drawTime(t)
	case 9:
		return query.Author{Username: rapid.SampledFrom([]string{"ann", "BOB", "nobody"}).Draw(t, "author")}
	case 10:
		return query.Action{Action: rapid.SampledFrom([]catalog.Action{31, 59, 63}).Draw(t, "action")}
	case 11:
		return rapid.SampledFrom([]query.Expr{query.None, query.Plural{}, query.Filled{Column: query.Notes}, query.Filled{Column: query.Context}, query.Filled{Column: query.Location}}).Draw(t, "has")
	}
	return rapid.SampledFrom([]query.Expr{
		query.Scope{Level: query.Language, Value: "CS"},
		query.Scope{Level: query.Language, Value: "en"},
		query.Scope{Level: query.SourceLanguage, Value: "en"},
		query.Scope{Level: query.Project, Value: "one"},
		query.Scope{Level: query.Component, Value: "App"},
		query.Scope{Level: query.Component, Value: "manual"},
		query.Scope{Level: query.Path, Value: "one/app"},
		query.Scope{Level: query.Path, Value: "two/docs/cs"},
		query.Scope{Level: query.Path, Value: "one/app/cs/x"},
	}).Draw(t, "place")
}

func drawText(t *rapid.T) query.Expr {
	column := rapid.SampledFrom([]query.Column{"", query.Source, query.Target, query.Context, query.Notes, query.Location, query.Flags}).Draw(t, "column")
	m := query.Match{Kind: rapid.SampledFrom([]query.Kind{query.Contains, query.Exact, query.Regexp}).Draw(t, "match")}
	switch {
	case m.Kind == query.Regexp:
		m.Pattern = rapid.SampledFrom([]string{"^[A-Z]", `\d+$`, "(?i)open.*1", "c-format|menu", "", `^$`, `a\.c`}).Draw(t, "regexp")
	case m.Kind == query.Exact && column == "": // no query says this
		m.Kind = query.Contains
		fallthrough
	default:
		m.Pattern = rapid.SampledFrom(append(slices.Clone(searchTexts), "OPEN", "kŮŇ", "src", "c-", "menu", "MENU:item", "1")).Draw(t, "text")
	}
	return query.Text{Column: column, Match: m}
}

func drawNumber(t *rapid.T, w *searchWorld) query.Expr {
	n := query.Number{Field: rapid.SampledFrom([]query.NumericField{query.ID, query.Position, query.Priority, query.State, query.SourceState}).Draw(t, "figure")}
	if n.Field == query.ID {
		for range rapid.IntRange(1, 12).Draw(t, "ids") {
			id := w.units[rapid.IntRange(0, len(w.units)-1).Draw(t, "unit")].ID
			n.Spans = append(n.Spans, query.Span{Lo: id, Hi: id})
		}
		if rapid.Bool().Draw(t, "range") {
			n.Spans = []query.Span{{Lo: n.Spans[0].Lo, Hi: 1<<63 - 1}}
		}
		return n
	}
	lo := rapid.Int64Range(-1, 130).Draw(t, "lo")
	n.Spans = []query.Span{{Lo: lo, Hi: lo + rapid.SampledFrom([]int64{0, 10, 100}).Draw(t, "length")}}
	return n
}

func drawTime(t *rapid.T) query.Expr {
	e := query.Time{Event: rapid.SampledFrom([]query.Event{query.Added, query.Changed, query.ChangeTime, query.LastChanged, query.SourceChanged}).Draw(t, "event")}
	from := rapid.IntRange(1, 5).Draw(t, "from")
	kind := rapid.IntRange(0, 2).Draw(t, "open")
	if kind != 1 {
		e.From = day(from)
	}
	if kind != 0 {
		e.To = day(from + rapid.IntRange(1, 3).Draw(t, "days"))
	}
	return e
}

// Spans, sparse translations and helping snapshots give the same pages as one
// walk.
func TestSearchManySpans(t *testing.T) {
	if testing.Short() {
		t.Skip("40,000 units")
	}
	w := newSearchWorld(t, 10, 450)
	w.db.searches.longFrom = 0
	for _, text := range []string{"", "open", "state:20", "NOT target:kůň", "location:src", "changed_by:ann AND state:>=20", `r"[0-5]$"`, "changed:>=2024-03-02", "NOT change_time:>=2024-03-04", "changed_by:ann"} {
		expr, err := query.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		for _, translation := range []int64{0, 2} {
			for _, offset := range []int{0, 700, 3900} {
				w.search(t, SearchQuery{Components: w.all(), TranslationID: translation, Expr: expr}, offset, 300)
			}
		}
	}
}

// However the entries are shared out, each is read once, on this snapshot or on
// those that help.
func TestSearchEntries(t *testing.T) {
	w := newSearchWorld(t, 4, 40)
	w.db.searches.longFrom = 0
	rapid.Check(t, func(t *rapid.T) {
		w.db.searches.spanUnits = rapid.Int64Range(1, 500).Draw(t, "span")
		component := &w.components[rapid.IntRange(0, len(w.components)-1).Draw(t, "component")]
		c := searchComponent{ComponentRow: component, long: rapid.Bool().Draw(t, "long")}
		e := hasEntry{action: -1, from: minTime, to: maxTime, content: rapid.Bool().Draw(t, "content")}
		if rapid.Bool().Draw(t, "one action") {
			e.action = rapid.Int64Range(58, 60).Draw(t, "action")
		}
		e.author = rapid.SampledFrom([]string{"", "ann", "bob"}).Draw(t, "author")
		at := query.Time{From: day(rapid.IntRange(1, 5).Draw(t, "from")), To: day(rapid.IntRange(1, 6).Draw(t, "to"))}
		if rapid.Bool().Draw(t, "in time") {
			e.from, e.to = bounds(at.From, at.To)
		} else {
			at = query.Time{}
		}
		var group []searchTranslation
		for _, language := range rapid.SampledFrom([][]string{{"en"}, {"cs"}, {"en", "cs", "de"}}).Draw(t, "languages") {
			group = append(group, searchTranslation{id: w.ids[component.Slug+language]})
		}
		var want []int64
		for _, u := range w.units {
			if slices.ContainsFunc(group, func(g searchTranslation) bool { return g.id == u.TranslationID }) && slices.ContainsFunc(u.entries, func(x searchedEntry) bool {
				return (!e.content || x.content()) && (e.action < 0 || int64(x.action) == e.action) && (e.author == "" || x.author == e.author) && inTime(x.at, at.From, at.To)
			}) {
				want = append(want, u.ID)
			}
		}
		slices.Sort(want)
		if err := w.db.Read(context.Background(), func(ctx context.Context, s *Snapshot) error {
			found, err := s.withEntries(ctx, &c, group, &e)
			var got []int64
			if in, ok := found.(inSet); ok {
				got = in.set.few
			}
			if !slices.Equal(got, want) {
				t.Errorf("%+v: %d units, want %d", e, len(got), len(want))
			}
			return err
		}); err != nil {
			t.Error(err)
		}
	})
}

// Layouts say which units live, whatever their number is said to be.
func TestSearchLiveUnits(t *testing.T) {
	w := newSearchWorld(t, 6, 100)
	w.db.searches.spanUnits = blockUnits
	var group []searchTranslation
	var want []int64
	for _, language := range []string{"en", "cs"} {
		group = append(group, searchTranslation{id: w.ids["apple"+language], units: int64(300 * len(group) * len(group))})
	}
	for _, u := range w.units {
		if !u.removed && (u.TranslationID == group[0].id || u.TranslationID == group[1].id) {
			want = append(want, u.ID)
		}
	}
	slices.Sort(want)
	for _, units := range []int64{0, 256, 257, 1000, 5000} {
		group[1].units = units
		for _, long := range []bool{false, true} {
			read(t, w.db, func(ctx context.Context, s *Snapshot) error {
				c := searchComponent{ComponentRow: &w.components[1], long: long}
				live, err := s.liveUnits(ctx, &c, group)
				if err != nil {
					return err
				}
				if got := live.ids(); !slices.Equal(got, want) {
					t.Errorf("%d units, want %d", len(got), len(want))
				}
				return nil
			})
		}
	}
}

// A search that takes too long ends, and one more than may run does not begin.
func TestSearchLimits(t *testing.T) {
	w := newSearchWorld(t, 2, 20)
	w.db.searches.timeLimit = time.Nanosecond
	q := SearchQuery{Components: w.all(), Expr: query.Text{Match: query.Match{Pattern: "x"}}}
	read(t, w.db, func(ctx context.Context, s *Snapshot) error {
		if _, err := s.Search(ctx, q); !errors.Is(err, ErrTooSlow) {
			t.Errorf("%v, want ErrTooSlow", err)
		}
		return nil
	})
	w.db.searches.timeLimit = searchTime
	w.step(t, func(ctx context.Context, tx *StepTx) error {
		huge := catalog.Translation{ID: w.ids["appcs"], ComponentID: 1, Language: "cs", FileCode: "cs", Filename: "cs", Stats: catalog.Stats{Total: catalog.Count{Units: longSearch}}}
		return tx.PutTranslation(ctx, &huge)
	})
	w.search(t, q, 0, 20) // with helpers
	for range cap(w.db.searches.long) {
		w.db.searches.long <- struct{}{}
	}
	q.Expr = query.Text{Match: query.Match{Pattern: "y"}}
	read(t, w.db, func(ctx context.Context, s *Snapshot) error {
		if _, err := s.Search(ctx, q); !errors.Is(err, ErrBusy) {
			t.Errorf("%v, want ErrBusy", err)
		}
		return nil
	})
	if m := w.db.searches.predicates.inUse.Load(); m != nil && len(*m) != 0 {
		t.Errorf("%d predicates left", len(*m))
	}
}

// Sets, however they are kept, have what was put into them.
func TestIDSet(t *testing.T) {
	for _, step := range []int64{1, 3, 1000} {
		for _, n := range []int64{1, fewUnits, fewUnits + 1, 3 * fewUnits} {
			var ids []int64
			for i := range n {
				ids = append(ids, 1<<40+i*step)
			}
			set := newIDSet(ids)
			for id := ids[0] - 100; id < ids[n-1]+100; id += max(1, step/4) {
				if want := id >= ids[0] && id <= ids[n-1] && (id-ids[0])%step == 0; set.has(id) != want {
					t.Fatalf("%d ids, each %d-th: has %d: %v", n, step, id, !want)
				}
			}
			if set.has(0) || set.has(-1<<63) || set.has(1<<63-1) || set.size() > int(8*n) {
				t.Errorf("%d ids, each %d-th: %d bytes", n, step, set.size())
			}
		}
	}
}

// What is collected comes out once, ascending; what is of no component does not.
func TestIDCollector(t *testing.T) {
	t.Parallel()
	c := idCollector{first: 7 * catalog.UnitsPerComponent}
	want := map[int64]bool{}
	for i := range int64(1000) {
		id := c.first + i*i*7919%100_003
		want[id] = true
		c.add(id)
	}
	c.add(c.first)
	want[c.first] = true
	c.add(c.first - 1)
	c.add(c.first + catalog.UnitsPerComponent)
	if got := c.ids(); !slices.Equal(got, slices.Sorted(maps.Keys(want))) || cap(got) != len(got) {
		t.Errorf("%d ids of %d", len(got), len(want))
	}
}

// Collectors of some helpers make the set that one would have made, and count
// what it has in common with another.
func TestIDCollectors(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		const first = 7 * catalog.UnitsPerComponent
		density := rapid.SampledFrom([]int64{1, 2, 40, 3000}).Draw(t, "density")
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		offset, n := random.Int64N(1000), rapid.IntRange(1, 3*fewUnits).Draw(t, "ids")
		all, parts := idCollector{first: first}, [3]idCollector{{first: first}, {first: first}, {first: first}}
		for range n {
			id := first + offset + random.Int64N(int64(n)*density)
			all.add(id)
			for range 1 + random.IntN(2) {
				parts[random.IntN(3)].add(id)
			}
		}
		parts[0].merge(&parts[1])
		parts[0].merge(&parts[2])
		ids := all.ids()
		set, want := parts[0].set(), newIDSet(ids)
		if parts[0].n != len(ids) || set.first != want.first || !slices.Equal(set.few, want.few) || !slices.Equal(set.bits, want.bits) {
			t.Fatalf("%d ids, want %d; a set from %d, want %d", parts[0].n, len(ids), set.first, want.first)
		}
		if set.bits == nil {
			return
		}
		live := idCollector{first: first}
		for range n {
			live.add(first + random.Int64N(int64(n)*density+2000))
		}
		lo := first + random.Int64N(int64(n)*density) - 100
		hi := lo + random.Int64N(int64(n)*density+200)
		common := int64(0)
		for _, id := range live.ids() {
			if set.has(id) && lo <= id && id < hi {
				common++
			}
		}
		if got := live.common(set, lo, hi); got != common {
			t.Errorf("%d in common in [%d, %d), want %d", got, lo, hi, common)
		}
	})
}

// The cache keeps within its bounds and gives what was put.
func TestSearchCache(t *testing.T) {
	c := newSearchCache()
	big := &searchPlan{spans: make([]searchSpan, maxPlanBytes/64-100)}
	for i := range 10 {
		c.put(fmt.Sprint(i), big)
	}
	if c.bytes > maxFoundBytes || c.get("9") != big || c.get("0") != nil || len(c.plans) != len(c.order) {
		t.Errorf("%d bytes in %d plans", c.bytes, len(c.plans))
	}
	c.put("huge", &searchPlan{spans: make([]searchSpan, maxPlanBytes/64+1)})
	if c.get("huge") != nil {
		t.Error("a huge plan was kept")
	}
}

// Every kind of term alone, and its negation: what chance may miss.
func TestSearchTerms(t *testing.T) {
	w := newSearchWorld(t, 4, 13)
	for _, e := range everyTerm(w) {
		for _, expr := range []query.Expr{e, query.Not{X: e}} {
			for _, translation := range []int64{0, w.ids["appcs"], w.ids["docsde"], w.ids["appleen"]} {
				w.search(t, SearchQuery{Components: w.all(), TranslationID: translation, Expr: expr}, 5, 20)
			}
		}
	}
}

// Ids that a query names are not found in components that are not searched.
func TestSearchStaysInside(t *testing.T) {
	w := newSearchWorld(t, 1, 13)
	for _, u := range w.units {
		for _, c := range w.components {
			only := map[int64]*ComponentRow{c.ID: &c}
			for _, span := range []query.Span{{Lo: u.ID, Hi: u.ID}, {Lo: u.ID, Hi: u.ID + 1}, {Lo: 0, Hi: 1<<63 - 1}} {
				w.search(t, SearchQuery{Components: only, Expr: query.Number{Field: query.ID, Spans: []query.Span{span}}}, 0, 100)
			}
		}
	}
}

func everyTerm(w *searchWorld) []query.Expr {
	var list []query.Expr
	for _, event := range []query.Event{query.Added, query.Changed, query.ChangeTime, query.LastChanged, query.SourceChanged} {
		for from := range 6 {
			list = append(list, query.Time{Event: event, From: day(from + 1)}, query.Time{Event: event, To: day(from + 1)})
			for to := from + 1; to < 6; to++ {
				list = append(list, query.Time{Event: event, From: day(from + 1), To: day(to + 1)})
			}
		}
	}
	for _, figure := range []query.NumericField{query.Position, query.Priority, query.State, query.SourceState} {
		for _, n := range []int64{0, 10, 20, 100, 110, 120} {
			list = append(list, query.Number{Field: figure, Spans: []query.Span{{Lo: n, Hi: n}}}, query.Number{Field: figure, Spans: []query.Span{{Lo: n, Hi: n + 15}}})
		}
	}
	for _, u := range w.units[:20] {
		list = append(list, query.Number{Field: query.ID, Spans: []query.Span{{Lo: u.ID, Hi: u.ID + 30}}})
	}
	for _, column := range []query.Column{"", query.Source, query.Target, query.Context, query.Notes, query.Location, query.Flags} {
		for _, text := range append(slices.Clone(searchTexts), "OPEN", "kŮŇ", "SRC/a", "C-FORMAT", "c-format", "menu", "src/a.c:1") {
			list = append(list, query.Text{Column: column, Match: query.Match{Pattern: text}})
			if column != "" {
				list = append(list, query.Text{Column: column, Match: query.Match{Kind: query.Exact, Pattern: text}})
			}
		}
		list = append(list, query.Text{Column: column, Match: query.Match{Kind: query.Regexp, Pattern: `[en]\s*[:1-3]`}})
		if column == query.Notes || column == query.Context || column == query.Location {
			list = append(list, query.Filled{Column: column})
		}
	}
	list = append(list, query.Plural{}, query.Action{Action: 31}, query.Action{Action: 59}, query.Action{Action: 2})
	for _, name := range []string{"ann", "Bob", "nobody", "", "cs", "DE", "en", "one", "two", "app", "APPLE", "manual of", "one/apple", "two/docs/de", "two/docs/cs", "tw"} {
		list = append(list, query.Author{Username: name})
		for _, level := range []query.Level{query.Language, query.SourceLanguage, query.Project, query.Component, query.Path} {
			if name != "" {
				list = append(list, query.Scope{Level: level, Value: name})
			}
		}
	}
	return list
}

// A test that panics ends its search with an error: not the process, and not what
// the connection is good for.
func TestSearchPanics(t *testing.T) {
	db := open(t)
	first, release := db.searches.predicates.register([]predicate{{row: func([]driver.Value) bool { panic("of a test") }}})
	defer release()
	for range 2 {
		if err := db.Read(t.Context(), func(ctx context.Context, s *Snapshot) error {
			var n int64
			_, err := s.s.first(ctx, `SELECT search_text($1, 'x')`, []any{first}, &n)
			return err
		}); err == nil || !strings.Contains(err.Error(), "panic: of a test") {
			t.Errorf("a test that panics: %v", err)
		}
	}
	if err := recovering(func() error { panic("of a helper") }); err == nil || !strings.HasPrefix(err.Error(), "panic: of a helper\n") {
		t.Errorf("a helper that panics: %v", err)
	}
}
