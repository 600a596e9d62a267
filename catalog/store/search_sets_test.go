package store

import (
	"context"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/repoglot/repoglot/catalog/query"
	"github.com/repoglot/repoglot/catalog/store/internal/terms"
)

// However the entries are divided, each is read once, by this snapshot or a
// helping one.
func TestSearchEntries(t *testing.T) {
	w := newSearchWorld(t, 4, 40)
	w.db.searches.longFrom = 0
	rapid.Check(t, func(t *rapid.T) {
		w.db.searches.spanUnits = rapid.Int64Range(1, 500).Draw(t, "span")
		component := w.components[rapid.IntRange(0, len(w.components)-1).Draw(t, "component")]
		c := searchComponent{ComponentRow: component, long: rapid.Bool().Draw(t, "long")}
		e := terms.HasEntry{Action: -1, From: terms.MinTime, To: terms.MaxTime, Content: rapid.Bool().Draw(t, "content")}
		if rapid.Bool().Draw(t, "one action") {
			e.Action = rapid.Int64Range(58, 60).Draw(t, "action")
		}
		e.Author = rapid.SampledFrom([]string{"", "ann", "bob"}).Draw(t, "author")
		at := query.Time{From: day(rapid.IntRange(1, 5).Draw(t, "from")), To: day(rapid.IntRange(1, 6).Draw(t, "to"))}
		if rapid.Bool().Draw(t, "in time") {
			e.From, e.To = terms.Bounds(at.From, at.To)
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
				return (!e.Content || x.content()) && (e.Action < 0 || int64(x.action) == e.Action) && (e.Author == "" || x.author == e.Author) && inTime(x.at, at.From, at.To)
			}) {
				want = append(want, u.ID)
			}
		}
		slices.Sort(want)
		if err := w.db.Read(context.Background(), func(ctx context.Context, s *Snapshot) error {
			c.live = group
			found, err := s.withEntries(ctx, &c, &e)
			var got []int64
			if in, ok := found.(terms.InSet); ok {
				in.Set.Each(0, in.Set.Len(), func(id int64) { got = append(got, id) })
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
