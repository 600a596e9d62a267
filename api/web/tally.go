package web

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/repoglot/repoglot/api/resource"
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

// Listed is the number of strings left that the file has and that are not changed: a list
// shows these.
func (t tally) Listed() int64 { return max(0, t.Left()-t.Missing-t.Changed) }

// counted is one component in one language.
type counted struct {
	tally
	component *store.ComponentRow
	language  string
}

// count counts the translations of components in the order of components and languages.
// Source languages are left out, except the language also.
func count(ctx context.Context, snap *store.Snapshot, rows []*store.ComponentRow, also string) (list []counted, err error) {
	byID := make(map[int64]*store.ComponentRow, len(rows))
	for _, c := range rows {
		byID[c.ID] = c
	}
	sums, err := snap.SumsByComponent(ctx, resource.ImportedIDs(rows))
	if err != nil {
		return nil, err
	}
	list = make([]counted, 0, len(sums))
	for i := range sums {
		s := &sums[i]
		if s.Source && s.Language != also {
			continue
		}
		list = append(list, counted{tally{Progress: s.Progress, Failing: s.Stats.Failing.Units, Last: s.LastChange}, byID[s.ComponentID], s.Language})
	}
	return list, nil
}

// order is an order of rows that a reader may choose: by name, or by a number.
type order string

// The orders of tables.
const (
	byName    order = "name"
	byDone    order = "done"
	byLeft    order = "left"
	byFuzzy   order = "fuzzy"
	byFailing order = "failing"
	byChange  order = "changed"
)

// sorted sorts rows of a table: the names of name ascending, numbers descending.
// By name, rows of a higher rank come first.
func sorted[T any](rows []T, by order, rank func(T) int, name func(T) string, of func(T) tally) {
	slices.SortStableFunc(rows, func(a, b T) int {
		x, y := of(a), of(b)
		var c int
		switch by {
		case byDone:
			c = cmp.Compare(y.Permille(), x.Permille())
		case byLeft:
			c = cmp.Compare(y.Left(), x.Left())
		case byFuzzy:
			c = cmp.Compare(y.Fuzzy, x.Fuzzy)
		case byFailing:
			c = cmp.Compare(y.Failing, x.Failing)
		case byChange:
			c = y.Last.Compare(x.Last)
		default:
			c = cmp.Compare(rank(b), rank(a))
		}
		return cmp.Or(c, cmp.Compare(name(a), name(b)))
	})
}
