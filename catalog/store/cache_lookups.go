package store

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store/internal/sqldb"
)

// lookups caches what many answers look up first: translations by the names in
// their URLs, the order of a component's units, sums of statistics. It is never
// stale: entries are used only for the snapshot's generation, sums only for the
// generation of their component. Callers must not modify what they get from it. It
// is safe for concurrent use.
type lookups struct {
	mu           sync.RWMutex
	generation   int64 // of all fields except sums and days
	translations map[translationName]TranslationRow
	orders       map[int64]*unitOrder // by component
	blocks       int                  // in all orders

	components *keptComponents // nil: not read

	sums map[int64]*componentSums // by component
	rows int                      // in all sums

	days     map[int64]*componentDays // by component
	dayCount int                      // in all days
}

// Limits of the cache, about 10 MB each; of the sums 60 MB.
const (
	maxKeptTranslations = 5_000
	maxKeptBlocks       = 400_000 // enough for 100 million units
	maxKeptSums         = 300_000 // 10,000 components in 30 languages
)

// translationName is how a URL names a translation.
type translationName struct{ project, component, code string }

// unitOrder says where the units of a component are.
type unitOrder struct {
	translations []catalog.Translation // live, by id
	starts       []blockStart          // by first unit
}

func newLookups() *lookups {
	return &lookups{sums: map[int64]*componentSums{}, days: map[int64]*componentDays{}}
}

// read runs fn if the cache holds the generation.
func (l *lookups) read(generation int64, fn func()) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	if l.generation == generation {
		fn()
	}
}

// write runs fn to cache something of a generation, unless a newer generation is
// cached.
func (l *lookups) write(generation int64, fn func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if generation < l.generation {
		return
	}
	if generation > l.generation {
		l.generation, l.blocks = generation, 0
		l.translations, l.orders = map[translationName]TranslationRow{}, map[int64]*unitOrder{}
	}
	fn()
}

// translationNamed is Translation, read once per generation.
func (s *Snapshot) translationNamed(ctx context.Context, name translationName) (row TranslationRow, err error) {
	generation, err := s.Generation(ctx)
	if err != nil {
		return row, err
	}
	known := false
	l := s.db.caches.lookups
	l.read(generation, func() { row, known = l.translations[name] })
	if known {
		return row, nil
	}
	row, err = s.translation(ctx, name.project, name.component, name.code)
	if err == nil {
		l.write(generation, func() {
			if len(l.translations) >= maxKeptTranslations {
				clear(l.translations)
			}
			l.translations[name] = row
		})
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
	l.read(generation, func() { order = l.orders[component] })
	if order != nil {
		return order, nil
	}
	order = &unitOrder{}
	if order.translations, err = translationsOf(ctx, s.s, component, false); err != nil {
		return nil, err
	}
	if order.starts, err = s.blockStarts(ctx, order.translations); err != nil {
		return nil, err
	}
	size := len(order.starts) + len(order.translations)
	if size <= maxKeptBlocks {
		l.write(generation, func() {
			if l.blocks+size > maxKeptBlocks {
				l.blocks = 0
				clear(l.orders)
			}
			l.blocks += size
			l.orders[component] = order
		})
	}
	return order, nil
}

// componentDays holds, for each day, by how much the statistics of a component's
// translations changed, added up.
type componentDays struct {
	generation int64 // the component's
	days       []dayChange
}

type dayChange struct {
	day   int64 // as in stat_days
	stats catalog.Stats
}

// maxKeptDays limits the days kept for all components: 18 MB.
const maxKeptDays = 120_000

// componentTimelines tells l what changed in components. Only components that
// changed since the last read are read again.
func (s *Snapshot) componentTimelines(ctx context.Context, components []int64, l *catalog.Timeline) error {
	generations, err := s.generations(ctx)
	if err != nil {
		return err
	}
	for _, id := range components {
		kept := s.db.caches.lookups.daysOf(id, generations[id])
		if kept == nil {
			if kept, err = s.readDays(ctx, id, generations[id]); err != nil {
				return err
			}
			s.db.caches.lookups.keepDays(id, kept)
		}
		for i := range kept.days {
			d := &kept.days[i]
			l.Change(time.Unix(d.day*daySeconds, 0), catalog.Stats{}, d.stats)
		}
	}
	return nil
}

// readDays reads the days of a component's translations, removed ones included.
func (s *Snapshot) readDays(ctx context.Context, component, generation int64) (*componentDays, error) {
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
	read := &componentDays{generation: generation, days: make([]dayChange, 0, len(changes))}
	for _, day := range slices.Sorted(maps.Keys(changes)) {
		read.days = append(read.days, dayChange{day, *changes[day]})
	}
	return read, err
}

func (l *lookups) daysOf(component, generation int64) *componentDays {
	l.mu.RLock()
	defer l.mu.RUnlock()
	if kept := l.days[component]; kept != nil && kept.generation == generation && generation != 0 {
		return kept
	}
	return nil
}

func (l *lookups) keepDays(component int64, read *componentDays) {
	l.mu.Lock()
	defer l.mu.Unlock()
	old := l.days[component]
	if old != nil && old.generation > read.generation || len(read.days) >= maxKeptDays {
		return
	}
	if old != nil {
		l.dayCount -= len(old.days) + 1
	}
	if l.dayCount += len(read.days) + 1; l.dayCount > maxKeptDays {
		clear(l.days)
		l.dayCount = len(read.days) + 1
	}
	l.days[component] = read
}
