package store

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store/internal/kept"
	"github.com/repoglot/repoglot/catalog/store/internal/rows"
	"github.com/repoglot/repoglot/catalog/store/internal/sqldb"
)

// keptComponents are the rows of the active components of a generation. Lists and
// sums of everything begin with them, and read again only what changed since the
// generation that is kept: of 10,000 components those of one commit.
type keptComponents struct {
	generation int64
	all        []*ComponentRow            // by id
	byProject  map[string][]*ComponentRow // by slug
	own        map[int64]int64            // components.content_generation by id
}

// components returns the active components of the snapshot's generation. Callers
// must not modify them.
func (s *Snapshot) components(ctx context.Context) (*keptComponents, error) {
	generation, err := s.Generation(ctx)
	if err != nil {
		return nil, err
	}
	l := s.db.lookups
	l.mu.RLock()
	kept := l.components
	l.mu.RUnlock()
	if kept != nil && kept.generation == generation {
		return kept, nil
	}
	if kept == nil || kept.generation > generation {
		kept = &keptComponents{generation: -1, own: map[int64]int64{}}
	}
	read, err := s.newerComponents(ctx, kept)
	if err != nil {
		return nil, err
	}
	read.generation = generation
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.components == nil || l.components.generation < generation {
		l.components = read
	}
	return read, nil
}

// newerComponents returns old with what has changed since.
func (s *Snapshot) newerComponents(ctx context.Context, old *keptComponents) (*keptComponents, error) {
	all := make(map[int64]*ComponentRow, len(old.all))
	for _, row := range old.all {
		all[row.ID] = row
	}
	read := &keptComponents{own: maps.Clone(old.own)}
	if err := s.newerProjects(ctx, old, all); err != nil {
		return nil, err
	}
	err := s.s.Query(ctx, `SELECT c.active = 1 AND p.active = 1, c.content_generation, `+componentColumns+rows.ComponentFrom+` WHERE c.generation > $1`, []any{old.generation},
		func(scan sqldb.Scan) error {
			var active bool
			var own int64
			row, err := scanComponent(s.s, func(dest ...any) error { return scan(append([]any{&active, &own}, dest...)...) })
			delete(all, row.ID)
			delete(read.own, row.ID)
			if active {
				all[row.ID], read.own[row.ID] = &row, own
			}
			return err
		})
	if err != nil {
		return nil, err
	}
	read.all = slices.SortedFunc(maps.Values(all), func(a, b *ComponentRow) int { return cmp.Compare(a.ID, b.ID) })
	read.byProject = map[string][]*ComponentRow{}
	for _, row := range read.all {
		read.byProject[row.Project.Slug] = append(read.byProject[row.Project.Slug], row)
	}
	return read, nil
}

// newerProjects gives the components of projects that changed the new project.
func (s *Snapshot) newerProjects(ctx context.Context, old *keptComponents, all map[int64]*ComponentRow) error {
	if len(all) == 0 {
		return nil
	}
	projects, err := projectsWhere(ctx, s.s, ` WHERE generation > $1`, old.generation)
	changed := catalog.ByKey(projects, func(p *ProjectRow) int64 { return p.ID })
	for id, row := range all {
		if p := changed[row.ProjectID]; p != nil {
			next := *row
			next.Project, next.projectConfigured = p.Project, p.configured
			next.Generation = max(next.Generation, next.projectConfigured)
			all[id] = &next
		}
	}
	return err
}

// lookups caches what many answers look up first, by the generation of a component or,
// of translations and orders, of the snapshot.
type lookups struct {
	translations *kept.By[translationName, TranslationRow]
	orders       *kept.By[int64, *unitOrder]     // by component
	sums         *kept.By[int64, *componentSums] // by component
	days         *kept.By[int64, componentDays]  // by component

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
	}
}

// translationNamed is Translation, read once per generation.
func (s *Snapshot) translationNamed(ctx context.Context, name translationName) (TranslationRow, error) {
	generation, err := s.Generation(ctx)
	if err != nil {
		return TranslationRow{}, err
	}
	return s.db.lookups.translations.GetOr(name, generation, func() (TranslationRow, int, error) {
		row, err := s.translation(ctx, name.project, name.component, name.code)
		return row, 1, err
	})
}

// orderOf returns where the units of a component are, read once per generation.
func (s *Snapshot) orderOf(ctx context.Context, component int64) (*unitOrder, error) {
	generation, err := s.Generation(ctx)
	if err != nil {
		return nil, err
	}
	return s.db.lookups.orders.GetOr(component, generation, func() (*unitOrder, int, error) {
		translations, err := translationsOf(ctx, s.s, component, false)
		if err != nil {
			return nil, 0, err
		}
		starts, err := s.blockStarts(ctx, translations)
		return &unitOrder{translations, starts}, len(starts) + len(translations), err
	})
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
		days, err := s.db.lookups.days.GetOr(id, generations[id], func() (componentDays, int, error) {
			days, err := s.readDays(ctx, id)
			return days, len(days) + 1, err
		})
		if err != nil {
			return err
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
	err = s.eachStep(ctx, ids, func(at time.Time, before, after catalog.Stats) {
		day := dayNumber(at)
		if changes[day] == nil {
			changes[day] = &catalog.Stats{}
		}
		changes[day].Add(after)
		changes[day].Subtract(before)
	})
	days := make(componentDays, 0, len(changes))
	for _, day := range sqldb.SortedKeys(changes) {
		days = append(days, dayChange{day, *changes[day]})
	}
	return days, err
}
