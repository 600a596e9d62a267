package web

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store"
)

// tally is how far a translation is, or several are, as pages count it: what the file
// lacks against the source translation is not translated, and the source language
// does not count (docs/compatibility.md#statistics says how the API counts).
type tally struct {
	Total, Translated, Fuzzy, Failing, Missing, Words, WordsLeft int64
	Last                                                         time.Time
}

// tallyOf counts a translation of a component whose source translation has the
// strings of source.
func tallyOf(s *catalog.Stats, source catalog.Count) tally {
	return tally{
		Total: max(source.Units, s.Total.Units), Translated: s.Translated.Units, Fuzzy: s.Fuzzy.Units, Failing: s.Failing.Units,
		Missing: max(0, source.Units-s.Total.Units), Words: max(source.Words, s.Total.Words),
		WordsLeft: max(0, max(source.Words, s.Total.Words)-s.Translated.Words),
	}
}

func (t *tally) add(o tally) {
	t.Total += o.Total
	t.Translated += o.Translated
	t.Fuzzy += o.Fuzzy
	t.Failing += o.Failing
	t.Missing += o.Missing
	t.Words += o.Words
	t.WordsLeft += o.WordsLeft
	if o.Last.After(t.Last) {
		t.Last = o.Last
	}
}

// Permille is the translated share, rounded down: 1000 means that nothing is left.
func (t tally) Permille() int64 {
	if t.Total == 0 {
		return 1000
	}
	return t.Translated * 1000 / t.Total
}

// Left is the number of strings to translate or to check.
func (t tally) Left() int64 { return max(0, t.Total-t.Translated) }

// Listed is the number of strings left that the file has: a list shows these.
func (t tally) Listed() int64 { return max(0, t.Left()-t.Missing) }

// Untranslated is the number of strings without a translation.
func (t tally) Untranslated() int64 { return max(0, t.Total-t.Translated-t.Fuzzy) }

// counted is one component in one language.
type counted struct {
	tally
	component *store.ComponentRow
	language  string
}

// count counts the translations of components in the order of components and languages.
// Source languages are left out, except the language also. sources has the counts of the
// source translations.
func count(ctx context.Context, snap *store.Snapshot, rows []*store.ComponentRow, also string) (list []counted, sources map[int64]catalog.Count, err error) {
	ids, byID := make([]int64, 0, len(rows)), make(map[int64]*store.ComponentRow, len(rows))
	for _, c := range rows {
		if c.Imported {
			ids = append(ids, c.ID)
			byID[c.ID] = c
		}
	}
	sums, err := snap.SumsByComponent(ctx, ids)
	if err != nil {
		return nil, nil, err
	}
	sources = make(map[int64]catalog.Count, len(ids))
	for i := range sums {
		if sums[i].Source {
			sources[sums[i].ComponentID] = sums[i].Stats.Total
		}
	}
	list = make([]counted, 0, len(sums))
	for i := range sums {
		s := &sums[i]
		if s.Source && s.Language != also {
			continue
		}
		t := tallyOf(&s.Stats, sources[s.ComponentID])
		t.Last = s.LastChange
		list = append(list, counted{t, byID[s.ComponentID], s.Language})
	}
	return list, sources, nil
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
