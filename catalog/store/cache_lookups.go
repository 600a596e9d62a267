package store

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store/internal/kept"
	"github.com/repoglot/repoglot/catalog/store/internal/sqldb"
)

// lookups caches what many answers look up first, by the generation of a component or,
// of translations and orders, of the snapshot.
type lookups struct {
	translations *kept.By[translationName, TranslationRow]
	orders       *kept.By[int64, *unitOrder]       // by component
	sums         *kept.By[int64, *componentSums]   // by component
	days         *kept.By[int64, componentDays]    // by component
	states       *kept.By[int64, *componentStates] // by component

	mu         sync.RWMutex
	components *keptComponents // nil: not read
}

// Limits of the cache, about 10 MB each; of the sums 60 MB, of the days 18 MB.
const (
	maxKeptTranslations = 5_000
	maxKeptBlocks       = 400_000 // enough for 100 million units
	maxKeptSums         = 300_000 // 10,000 components in 30 languages
	maxKeptDays         = 120_000
)

// translationName is how a URL names a translation.
type translationName struct{ project, component, code string }

// unitOrder says where the units of a component are.
type unitOrder struct {
	translations []catalog.Translation // live, by id
	starts       []blockStart          // by first unit
}

func newLookups() *lookups {
	return &lookups{
		translations: kept.New[translationName, TranslationRow](maxKeptTranslations),
		orders:       kept.New[int64, *unitOrder](maxKeptBlocks),
		sums:         kept.New[int64, *componentSums](maxKeptSums),
		days:         kept.New[int64, componentDays](maxKeptDays),
		states:       kept.New[int64, *componentStates](maxKeptStates),
	}
}

// translationNamed is Translation, read once per generation.
func (s *Snapshot) translationNamed(ctx context.Context, name translationName) (row TranslationRow, err error) {
	generation, err := s.Generation(ctx)
	if err != nil {
		return row, err
	}
	l := s.db.caches.lookups
	if row, ok := l.translations.Get(name, generation); ok {
		return row, nil
	}
	row, err = s.translation(ctx, name.project, name.component, name.code)
	if err == nil {
		l.translations.Put(name, generation, row, 1)
	}
	return row, err
}

// orderOf returns where the units of a component are, read once per generation.
func (s *Snapshot) orderOf(ctx context.Context, component int64) (order *unitOrder, err error) {
	generation, err := s.Generation(ctx)
	if err != nil {
		return nil, err
	}
	l := s.db.caches.lookups
	if order, ok := l.orders.Get(component, generation); ok {
		return order, nil
	}
	order = &unitOrder{}
	if order.translations, err = translationsOf(ctx, s.s, component, false); err != nil {
		return nil, err
	}
	if order.starts, err = s.blockStarts(ctx, order.translations); err != nil {
		return nil, err
	}
	l.orders.Put(component, generation, order, len(order.starts)+len(order.translations))
	return order, nil
}

// componentDays holds, for each day, by how much the statistics of a component's
// translations changed, added up.
type componentDays []dayChange

type dayChange struct {
	day   int64 // as in stat_days
	stats catalog.Stats
}

// componentTimelines tells l what changed in components. Only components that
// changed since the last read are read again.
func (s *Snapshot) componentTimelines(ctx context.Context, components []int64, l *catalog.Timeline) error {
	generations, err := s.generations(ctx)
	if err != nil {
		return err
	}
	for _, id := range components {
		days, ok := s.db.caches.lookups.days.Get(id, generations[id])
		if !ok {
			if days, err = s.readDays(ctx, id); err != nil {
				return err
			}
			s.db.caches.lookups.days.Put(id, generations[id], days, len(days)+1)
		}
		for i := range days {
			l.Change(time.Unix(days[i].day*daySeconds, 0), catalog.Stats{}, days[i].stats)
		}
	}
	return nil
}

// readDays reads the days of a component's translations, removed ones included.
func (s *Snapshot) readDays(ctx context.Context, component int64) (componentDays, error) {
	ids, err := s.everTranslated(ctx, StatQuery{Components: []int64{component}})
	if err != nil {
		return nil, err
	}
	changes := map[int64]*catalog.Stats{}
	err = sqldb.Chunks(ids, func(chunk []any) error {
		return s.eachDay(ctx, chunk, func(day int64, before, after catalog.Stats) {
			if changes[day] == nil {
				changes[day] = &catalog.Stats{}
			}
			changes[day].Add(after)
			changes[day].Subtract(before)
		})
	})
	days := make(componentDays, 0, len(changes))
	for _, day := range slices.Sorted(maps.Keys(changes)) {
		days = append(days, dayChange{day, *changes[day]})
	}
	return days, err
}
