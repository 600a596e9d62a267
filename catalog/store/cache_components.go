package store

import (
	"cmp"
	"context"
	"maps"
	"slices"

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
	l := s.db.caches.lookups
	l.mu.RLock()
	kept := l.components
	l.mu.RUnlock()
	if kept != nil && kept.generation == generation {
		return kept, nil
	}
	if kept == nil || kept.generation > generation {
		kept = &keptComponents{generation: -1}
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
	rows := make(map[int64]*ComponentRow, len(old.all))
	for _, row := range old.all {
		rows[row.ID] = row
	}
	read := &keptComponents{own: maps.Clone(old.own)}
	if read.own == nil {
		read.own = map[int64]int64{}
	}
	if err := s.newerProjects(ctx, old, rows); err != nil {
		return nil, err
	}
	err := s.s.Query(ctx, `SELECT c.active = 1 AND p.active = 1, c.content_generation, `+componentColumns+componentFrom+` WHERE c.generation > $1`, []any{old.generation},
		func(scan sqldb.Scan) error {
			var active bool
			var own int64
			row, err := scanComponent(s.s, func(dest ...any) error { return scan(append([]any{&active, &own}, dest...)...) })
			delete(rows, row.ID)
			delete(read.own, row.ID)
			if active {
				rows[row.ID], read.own[row.ID] = &row, own
			}
			return err
		})
	if err != nil {
		return nil, err
	}
	read.all = slices.SortedFunc(maps.Values(rows), func(a, b *ComponentRow) int { return cmp.Compare(a.ID, b.ID) })
	read.byProject = map[string][]*ComponentRow{}
	for _, row := range read.all {
		read.byProject[row.Project.Slug] = append(read.byProject[row.Project.Slug], row)
	}
	return read, nil
}

// newerProjects gives the components of projects that changed the new project.
func (s *Snapshot) newerProjects(ctx context.Context, old *keptComponents, rows map[int64]*ComponentRow) error {
	if len(rows) == 0 {
		return nil
	}
	projects, err := projectsWhere(ctx, s.s, ` WHERE generation > $1`, old.generation)
	changed := map[int64]*ProjectRow{}
	for i := range projects {
		changed[projects[i].ID] = &projects[i]
	}
	for id, row := range rows {
		if p := changed[row.ProjectID]; p != nil {
			next := *row
			next.Project, next.projectConfigured = p.Project, p.configured
			next.Generation = max(next.Generation, next.projectConfigured)
			rows[id] = &next
		}
	}
	return err
}
