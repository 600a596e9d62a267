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
	b.read = s.s.Reading.Footprint
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

// projectOf returns the project of a component; 0 if it is not known.
func (g *generations) projectOf(component int64) int64 {
	g.mu.RLock()
	defer g.mu.RUnlock()
	return g.components[component].project
}
