package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/query"
	"github.com/repoglot/repoglot/catalog/store/internal/blocks"
	"github.com/repoglot/repoglot/catalog/store/internal/sqldb"
)

// Random expressions over random scopes find what a plain evaluator finds.
func TestSearchProperty(t *testing.T) {
	w := newSearchWorld(t, 4, 100)
	rapid.Check(t, func(t *rapid.T) {
		w.keepBlocks(t, func() bool { return rapid.IntRange(0, 2).Draw(t, "block") > 0 })
		w.db.searches.longFrom = rapid.SampledFrom([]int64{0, longSearch}).Draw(t, "long")
		w.db.searches.spanUnits = rapid.SampledFrom([]int64{16, 100, 300, spanUnits}).Draw(t, "span")
		w.db.searches.pieceBlocks = rapid.SampledFrom([]int64{1, 2, pieceBlocks}).Draw(t, "piece")
		q := SearchQuery{Expr: drawExpr(t, w, 3), Components: map[int64]*ComponentRow{}}
		for i := range w.components {
			if rapid.IntRange(0, 3).Draw(t, "component") > 0 {
				q.Components[w.components[i].ID] = w.components[i]
			}
		}
		if rapid.Bool().Draw(t, "one translation") {
			q.TranslationID = rapid.Int64Range(1, 9).Draw(t, "translation")
		}
		offset, limit := rapid.IntRange(0, 30).Draw(t, "offset"), rapid.IntRange(1, 300).Draw(t, "limit")
		w.search(t, q, offset, limit)
		w.search(t, q, offset+limit, limit) // from the cache
	})
}

// keepBlocks has those blocks of searches stored for which keep holds.
func (w *searchWorld) keepBlocks(t interface{ Fatal(...any) }, keep func() bool) {
	ctx := context.Background()
	err := w.db.FillSearch(ctx, 1, 2, 3)
	if err == nil {
		err = w.db.write(ctx, func(s *sqldb.Session) error {
			var all, gone []int64
			if err := s.IDs(ctx, `SELECT id FROM search_blocks WHERE id < $1 ORDER BY id`, []any{blocks.Key(blocks.Target, 0)}, &all); err != nil {
				return err
			}
			for _, key := range all {
				if !keep() {
					gone = append(gone, blocks.Keys(blocks.Kind(key>>blocks.KindBits), key&(1<<blocks.KindBits-1))...)
				}
			}
			return s.DoIn(ctx, `DELETE FROM search_blocks WHERE id IN $ids`, nil, gone)
		})
	}
	if err != nil {
		t.Fatal(err)
	}
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
		return rapid.SampledFrom([]query.Expr{query.None, query.Plural{}, query.Failing{}, query.Failing{Check: searchChecks[0]}, query.Failing{Check: searchChecks[1]}, query.Filled{Column: query.Notes}, query.Filled{Column: query.Context}, query.Filled{Column: query.Location}}).Draw(t, "has")
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

// Spans, translations with few units and helping snapshots give the same pages as
// a single scan.
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

// A search beyond the time limit ends, and a search beyond the number of searches
// does not begin.
func TestSearchLimits(t *testing.T) {
	w := newSearchWorld(t, 2, 20)
	w.db.searches.timeLimit = time.Nanosecond
	q := SearchQuery{Components: w.all(), Expr: query.Text{Match: query.Match{Pattern: "x"}}}
	read(t, w.db, func(ctx context.Context, s *Snapshot) error {
		if _, err := s.Search(ctx, q); !errors.Is(err, ErrTooSlow) {
			t.Errorf("%v, want ErrTooSlow", err)
		}
		if _, err := s.Memory(ctx, MemoryQuery{Components: q.Components, SourceLanguage: "en", Language: "cs", Strings: []string{"x"}, Most: 1}); !errors.Is(err, ErrTooSlow) {
			t.Errorf("the memory: %v, want ErrTooSlow", err)
		}
		return nil
	})
	w.db.searches.timeLimit = searchTime
	w.step(t, func(ctx context.Context, tx *StepTx) error {
		huge := catalog.Translation{ID: w.ids["appcs"], ComponentID: 1, Language: "cs", FileCode: "cs", Filename: "cs", Stats: catalog.Stats{Total: catalog.Count{Units: longSearch}}}
		return tx.PutTranslation(ctx, &huge)
	})
	w.search(t, q, 0, 20) // with helping snapshots
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
}

// The price of a search is that of its terms for the strings of the translations that
// it is about; one above what it may cost reads nothing.
func TestSearchPrice(t *testing.T) {
	w := newSearchWorld(t, 2, 20)
	var units, czech, sources int64
	read(t, w.db, func(ctx context.Context, s *Snapshot) error {
		list, _, err := s.searchScope(ctx, &SearchQuery{Components: w.all(), Expr: query.Scope{Level: query.Language, Value: "cs"}})
		for _, c := range list[:1] { // the one with the ids below
			sources = c.units / c.translations
		}
		for _, c := range list {
			for _, live := range c.live {
				if units += live.units; live.language == "cs" {
					czech += live.units
				}
			}
		}
		return err
	})
	for _, c := range []struct {
		q    string
		want int64
	}{
		{"state:empty", units * 3},
		{"x", units * 5},
		{`r"x"`, units * 32},
		{`source:r"x"`, units * 12},
		{"x OR NOT y", units * 8},
		{"x language:cs", czech * 5},
		{"x language:xx", 0},
		{"x project:none", 0},
		{fmt.Sprintf("id:%d,%d target:x", catalog.UnitsPerComponent+1, catalog.UnitsPerComponent+2), 2 * 4},
		{fmt.Sprintf("id:%d,%d x", catalog.UnitsPerComponent+1, catalog.UnitsPerComponent+2), (2 + sources) * 6},
		{"id:1 OR x", units * 6},
	} {
		expr, err := query.Parse(c.q)
		if err != nil {
			t.Fatal(err)
		}
		read(t, w.db, func(ctx context.Context, s *Snapshot) error {
			list, _, err := s.searchScope(ctx, &SearchQuery{Components: w.all(), Expr: expr})
			if err != nil {
				return err
			}
			if got, err := s.searchPrice(list, expr); got != c.want || err != nil {
				t.Errorf("%s: price %d, want %d; %v", c.q, got, c.want, err)
			}
			_, err = s.Search(WithSearchPrice(ctx, c.want-1), SearchQuery{Components: w.all(), Expr: expr})
			if price, ok := errors.AsType[*ErrPrice](err); !ok || price.Price != c.want {
				t.Errorf("%s for less: %v", c.q, err)
			}
			_, err = s.Search(WithSearchPrice(ctx, c.want), SearchQuery{Components: w.all(), Expr: expr})
			return err
		})
	}
}

// Every kind of term alone, and its negation, since random expressions may miss
// some.
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

// Ids in a query are not found in components outside the search.
func TestSearchStaysInside(t *testing.T) {
	w := newSearchWorld(t, 1, 13)
	for _, u := range w.units {
		for _, c := range w.components {
			only := map[int64]*ComponentRow{c.ID: c}
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
	for _, field := range []query.NumericField{query.Position, query.Priority, query.State, query.SourceState} {
		for _, n := range []int64{0, 10, 20, 100, 110, 120} {
			list = append(list, query.Number{Field: field, Spans: []query.Span{{Lo: n, Hi: n}}}, query.Number{Field: field, Spans: []query.Span{{Lo: n, Hi: n + 15}}})
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
	list = append(list, query.Plural{}, query.Failing{}, query.Failing{Check: searchChecks[0]}, query.Failing{Check: searchChecks[1]}, query.Action{Action: 31}, query.Action{Action: 59}, query.Action{Action: 2})
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

// TestMayHold: a search looks only at components that its ids and scopes leave.
func TestMayHold(t *testing.T) {
	c := &ComponentRow{}
	c.ID, c.Slug, c.Project.Slug, c.Settings.SourceLanguage = 3, "app", "demo", "en"
	const unit = 3 * catalog.UnitsPerComponent
	for q, want := range map[string]bool{
		fmt.Sprintf("id:%d", unit+7):              true,
		fmt.Sprintf("id:%d", unit-1):              false,
		fmt.Sprintf("id:1,%d", unit+7):            true,
		fmt.Sprintf("id:>%d", unit-5):             true,
		fmt.Sprintf("id:<%d", unit):               false,
		fmt.Sprintf("NOT id:%d", unit-1):          true,
		fmt.Sprintf("id:%d OR source:x", unit-1):  true,
		fmt.Sprintf("id:%d AND source:x", unit-1): false,
		"path:demo":                                   true,
		"path:demo/APP AND source:x":                  true,
		"path:demo/app/cs":                            true,
		"NOT path:demo/app/cs":                        true,
		"path:demo/other/cs":                          false,
		"path:demo/other":                             false,
		"path:demo/app/cs/more":                       false,
		"NOT path:demo/app":                           false,
		"project:demo component:ap language:cs":       true,
		"project:other language:cs":                   false,
		"source_language:de":                          false,
		"component:other OR (project:demo has:check)": true,
	} {
		e, err := query.Parse(q)
		if err != nil {
			t.Fatal(err)
		}
		if got := mayHold(e, c, new(query.Folder)); got != want {
			t.Errorf("%s: %v", q, got)
		}
	}
}

// Work of a search that panics ends it with an error, whoever does it. The process goes on,
// and the connection stays usable.
func TestSearchPanics(t *testing.T) {
	w := newSearchWorld(t, 2, 20)
	read(t, w.db, func(ctx context.Context, s *Snapshot) error {
		for _, long := range []bool{false, true} {
			err := s.runShared(ctx, 20, long, func(s *Snapshot, each func(func(int) error) error) error {
				return each(func(int) error {
					return sqldb.Each(ctx, s.s, `SELECT id FROM units ORDER BY id`, nil, func(int64) error { panic("of a test") })
				})
			})
			if err == nil || !strings.Contains(err.Error(), "panic: of a test") {
				t.Errorf("work that panics: %v", err)
			}
		}
		return nil
	})
	w.search(t, SearchQuery{Components: w.all(), Expr: query.Text{Match: query.Match{Pattern: "x"}}}, 0, 20)
}
