package ingest

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"unicode/utf8"

	"github.com/repoglot/repoglot/catalog/checks"
	"github.com/repoglot/repoglot/catalog/store"
)

// maxNews is how many new failures a report lists.
const maxNews = 100

// maxNewsSource bounds the text of a string in a report, in characters.
const maxNewsSource = 80

// News are the quality checks that fail since a pull and did not before it. What
// fails in the first import of a component is none, nor is what other settings
// or rules find in strings that did not change.
type News struct {
	// Total counts the units' checks, those that are not listed, too.
	Total int
	// List is ordered by unit and check, at most 100.
	List []NewFailure
}

// NewFailure is one check of one unit. The unit may be of a component that the
// pull did not touch, with whose strings the pulled ones are compared.
type NewFailure struct {
	// UnitID and ComponentID are ids of the API.
	UnitID, ComponentID int64
	// Language is the code of the unit's translation.
	Language string
	// Check is what fails.
	Check checks.ID
	// Source is the beginning of the unit's source, at most 80 characters.
	Source string
}

// add appends the news of a later step.
func (n *News) add(later News) {
	n.Total += later.Total
	n.List = append(n.List, later.List...)
	n.List = n.List[:min(len(n.List), maxNews)]
}

// ledger keeps what failed before a step and fails behind it. A check may come
// and go within a step.
type ledger map[int64]*entryOfNews

type entryOfNews struct {
	translation   int64
	source        string
	before, after checks.Mask
}

// note takes in that other checks of a unit fail. A nil ledger keeps nothing.
func (l ledger) note(u *store.CheckUnit, mask checks.Mask) {
	if l == nil || mask == u.Failing {
		return
	}
	e := l[u.ID]
	if e == nil {
		e = &entryOfNews{translation: u.TranslationID, source: u.Source, before: u.Failing}
		l[u.ID] = e
	}
	e.after = mask
}

// news sums up, with the languages from the transaction.
func (l ledger) news(ctx context.Context, tx *store.StepTx) (n News, err error) {
	for _, id := range slices.Sorted(maps.Keys(l)) {
		e := l[id]
		for check := range e.after.All() {
			if e.before.Has(check) {
				continue
			}
			if n.Total++; n.Total > maxNews {
				continue
			}
			_, peer, err := tx.PeerByID(ctx, e.translation)
			if err != nil {
				return News{}, err
			}
			n.List = append(n.List, NewFailure{
				UnitID: id, ComponentID: peer.ComponentID, Language: peer.Language, Check: check, Source: shorten(e.source),
			})
		}
	}
	slices.SortFunc(n.List, func(a, b NewFailure) int {
		return cmp.Or(cmp.Compare(a.UnitID, b.UnitID), cmp.Compare(a.Check, b.Check))
	})
	return n, nil
}

// shorten cuts a text behind maxNewsSource characters.
func shorten(s string) string {
	if utf8.RuneCountInString(s) <= maxNewsSource {
		return s
	}
	runes := []rune(s[:min(len(s), maxNewsSource*utf8.UTFMax)])
	return string(runes[:maxNewsSource-1]) + "…"
}
