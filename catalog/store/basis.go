package store

import (
	"context"

	"github.com/repoglot/repoglot/catalog/store/internal/sqldb"
)

// Basis says what an answer was read from: some components, some projects, or
// everything, in a generation. DB.Unchanged tells whether it still holds.
type Basis struct {
	// Generation is the generation of the snapshot that was read.
	Generation int64
	// At is the state that a client is shown (Snapshot.Position). Whoever shows the
	// snapshot sets it.
	At Position

	read sqldb.Footprint
}

// Basis is what was read from the snapshot so far. It is everything, unless all
// reads were about components that their methods name; so a new method cannot be
// forgotten, and one that names its components has to be right
// (TestKeptAnswersAreFresh in package api).
func (s *Snapshot) Basis(ctx context.Context) (b Basis, err error) {
	b.read = s.reading.Footprint
	b.Generation, err = s.currentGeneration(ctx)
	return b, err
}

// Unchanged reports whether the same reads would still give the same, as far as
// Published: no component of the basis changed since, nor any settings. A snapshot
// that was announced before the call counts.
func (db *DB) Unchanged(b *Basis) bool {
	g := db.generations
	g.mu.RLock()
	defer g.mu.RUnlock()
	if b.Generation >= g.known {
		return true
	}
	if b.read.Everything || b.Generation < g.configured {
		return false
	}
	for _, id := range b.read.Components {
		if g.components[id].since(b.Generation, b.read.Heads) {
			return false
		}
	}
	for _, id := range b.read.Projects {
		if g.projects[id].since(b.Generation, b.read.Heads) {
			return false
		}
	}
	return true
}

// about begins a section in which only rows of these components are read: their
// own except head and head_commit, the rows below them, the settings of their
// projects, and the names of authors, which never change.
func (s *Snapshot) about(components ...int64) *sqldb.Reading {
	s.addComponents(components)
	return s.reading.Begin()
}

// aboutProject begins a section in which only rows of a project are read.
func (s *Snapshot) aboutProject(id int64) *sqldb.Reading {
	s.reading.AddProject(id)
	return s.reading.Begin()
}

// aboutTranslation begins a section in which only rows of the component of a
// translation are read.
func (s *Snapshot) aboutTranslation(ctx context.Context, id int64) *sqldb.Reading {
	r := s.about()
	if r.Translation != id {
		var component int64
		found, err := s.s.First(ctx, `SELECT component_id FROM translations WHERE id = $1`, []any{id}, &component)
		if !found || err != nil {
			r.Everything = true
			return r
		}
		r.Translation, r.Component = id, component
	}
	s.addComponents([]int64{r.Component})
	return r
}

func (s *Snapshot) addComponents(ids []int64) {
	if len(ids) == 0 {
		return
	}
	g := s.db.generations
	g.mu.RLock()
	defer g.mu.RUnlock()
	s.reading.AddComponents(ids, func(id int64) int64 { return g.components[id].project })
}
