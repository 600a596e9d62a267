package store

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/repoglot/repoglot/catalog"
)

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
	err = chunks(ids, func(chunk []any) error {
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
	if kept := l.days[component]; kept != nil && kept.generation == generation {
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
