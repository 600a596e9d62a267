package web

import (
	"cmp"
	"context"
	"html/template"
	"maps"
	"slices"
	"time"

	"github.com/repoglot/repoglot/api/resource"
	"github.com/repoglot/repoglot/api/web/chart"
	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store"
)

// tally is how far a translation is, or several are, as it is counted for people; the
// source language does not count (docs/compatibility.md#statistics says how the API
// counts).
type tally struct {
	catalog.Progress
	Failing int64
	Last    time.Time
	In      string // of how many components or languages it is the sum; "": of one
}

// tallyOf counts a translation of a component with this source translation.
func tallyOf(t, source *catalog.Translation) tally {
	return tally{Progress: catalog.NewProgress(t, source), Failing: t.Stats.Failing.Units, Last: t.LastChange}
}

// inComponents says in how many of some components the sum has a translation.
func (t *tally) inComponents(v *view, of int) {
	if of > 1 {
		t.In = v.L.T("in %[1]s of %[2]s components", v.L.Number(t.Files), v.L.Number(int64(of)))
	}
}

// inTranslations is inComponents for the sum of several languages.
func (t *tally) inTranslations(v *view, languages, components int) {
	if components > 1 {
		t.In = v.L.T("in %[1]s of %[2]s translations: languages × components", v.L.Number(t.Files), v.L.Number(int64(languages*components)))
		return
	}
	if t.Files > 0 {
		t.In = v.L.N("in one language", "in %s languages", t.Files)
	}
}

func (t *tally) add(o tally) {
	t.Progress.Add(o.Progress)
	t.Failing += o.Failing
	if o.Last.After(t.Last) {
		t.Last = o.Last
	}
}

// Permille is the translated share, rounded down: 1000 means that nothing is left. It is 0
// without strings, which pages say in words.
func (t tally) Permille() int64 { return int64(t.Percent()) }

// Bar draws the shares; "" without strings.
func (t tally) Bar() template.HTML { return chart.Bar(t.Translated, t.Fuzzy, t.Total) }

// Listed is the number of strings left that the file has and that are not changed: a list
// shows these.
func (t tally) Listed() int64 { return max(0, t.Left()-t.Missing-t.Changed) }

// count counts the translations of the components that a client may see, of a project or of all
// with "", in the order of the components' names and of languages. Source languages are left
// out, except the language also.
func count(ctx context.Context, snap *store.Snapshot, project, also string) (rows []*store.ComponentRow, list []row, err error) {
	if rows, err = resource.VisibleComponents(ctx, snap, project); err != nil {
		return nil, nil, err
	}
	rows = slices.SortedFunc(slices.Values(rows), func(a, b *store.ComponentRow) int { // a copy: all snapshots share the list
		return cmp.Or(cmp.Compare(a.Settings.Name, b.Settings.Name), cmp.Compare(a.ID, b.ID))
	})
	byID := make(map[int64]*store.ComponentRow, len(rows))
	for _, c := range rows {
		byID[c.ID] = c
	}
	sums, err := snap.SumsByComponent(ctx, resource.ImportedIDs(rows))
	list = make([]row, 0, len(sums))
	for i := range sums {
		if s := &sums[i]; !s.Source || s.Language == also {
			list = append(list, row{tally: tally{Progress: s.Progress, Failing: s.Stats.Failing.Units, Last: s.LastChange}, Code: s.Language, component: byID[s.ComponentID]})
		}
	}
	return rows, list, err
}

// row is a row of a table: a project, a component, a language, or a component in a language.
type row struct {
	tally
	Code, Name, URL, StringsURL     string
	Author                          string // of the last change
	Spark                           template.HTML
	Cells                           []cell
	Strings                         int64 // of a component
	Glossary                        bool
	Projects, Components, Languages int

	key       string              // its place in the order of names; "": Name
	rank      int                 // rows of a higher rank come first in the order of names
	id        int64               // of the translation
	component *store.ComponentRow // which the row is about, or which changed last
}

// pair is a project in a language.
type pair struct {
	language string
	project  int64
}

// languageRows adds up counts by language, in the order of the codes; components is the number
// of all that could have been translated.
func (p *Pages) languageRows(v *view, counts []row, components int) []row {
	index, seen := map[string]*row{}, map[pair]bool{}
	for i := range counts {
		c := &counts[i]
		r := index[c.Code]
		if r == nil {
			r = &row{Code: c.Code, Name: p.languageName(v.L, c.Code), rank: v.reads(c.Code)}
			index[c.Code] = r
		}
		if r.component == nil || c.Last.After(r.Last) {
			r.component = c.component
		}
		r.add(c.tally)
		r.Components++
		if key := (pair{c.Code, c.component.ProjectID}); !seen[key] {
			seen[key] = true
			r.Projects++
		}
	}
	list := make([]row, 0, len(index))
	for _, code := range slices.Sorted(maps.Keys(index)) {
		index[code].inComponents(v, components)
		list = append(list, *index[code])
	}
	return list
}

// orders are the orders of tables that a reader may choose, by the number that is greatest
// in the first row.
var orders = map[string]func(*row) int64{
	"done":    func(r *row) int64 { return r.Permille() },
	"left":    func(r *row) int64 { return r.Left() },
	"fuzzy":   func(r *row) int64 { return r.Fuzzy },
	"failing": func(r *row) int64 { return r.Failing },
	"changed": func(r *row) int64 { return r.Last.UnixMicro() },
}

// sorted sorts rows of a table: by a number, or by rank with "", and then by name.
func sorted(rows []row, by string) {
	number := orders[by]
	if number == nil {
		number = func(r *row) int64 { return int64(r.rank) }
	}
	slices.SortStableFunc(rows, func(a, b row) int {
		return cmp.Or(cmp.Compare(number(&b), number(&a)), cmp.Compare(cmp.Or(a.key, a.Name), cmp.Or(b.key, b.Name)))
	})
}
