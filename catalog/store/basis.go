package store

import (
	"context"
	"slices"
)

// Basis says what an answer was read from: some components, some projects, or
// everything, in a generation. DB.Unchanged tells whether it still holds.
type Basis struct {
	// Generation is the generation of the snapshot that was read.
	Generation int64
	// At is the state that a client is shown (Snapshot.Position). Whoever shows the
	// snapshot sets it.
	At Position

	everything, heads    bool // heads: also of which commit
	components, projects []int64
}

// Basis is what was read from the snapshot so far. It is everything, unless all
// reads were about components that their methods name; so a new method cannot be
// forgotten, and one that names its components has to be right
// (TestKeptAnswersAreFresh in package api).
func (s *Snapshot) Basis(ctx context.Context) (b Basis, err error) {
	b = s.reading.basis
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
	if b.everything || b.Generation < g.configured {
		return false
	}
	for _, id := range b.components {
		if g.components[id].since(b.Generation, b.heads) {
			return false
		}
	}
	for _, id := range b.projects {
		if g.projects[id].since(b.Generation, b.heads) {
			return false
		}
	}
	return true
}

// reading records what is read from a snapshot. A statement outside of all
// sections reads everything.
type reading struct {
	basis    Basis
	sections int // that are open
	// translation is the one that was read last, component its component.
	translation, component int64
}

// Limits of a basis: above them a component is replaced by its project, and a
// project by everything.
const (
	maxBasisComponents = 8
	maxBasisProjects   = 8
)

// note notes a statement, or what is in place of one: a look into a cache.
func (r *reading) note() {
	if r != nil && r.sections == 0 {
		r.basis.everything = true
	}
}

// end ends a section.
func (r *reading) end() {
	if r != nil {
		r.sections--
	}
}

// about begins a section in which only rows of these components are read: their
// own except head and head_commit, the rows below them, the settings of their
// projects, and the names of authors, which never change.
func (s *Snapshot) about(components ...int64) *reading {
	s.addComponents(components)
	s.reading.sections++
	return &s.reading
}

// aboutProject begins a section in which only rows of a project are read.
func (s *Snapshot) aboutProject(id int64) *reading {
	s.reading.addProject(id)
	s.reading.sections++
	return &s.reading
}

// aboutTranslation begins a section in which only rows of the component of a
// translation are read.
func (s *Snapshot) aboutTranslation(ctx context.Context, id int64) *reading {
	r := s.about()
	if r.translation != id {
		var component int64
		found, err := s.s.first(ctx, `SELECT component_id FROM translations WHERE id = $1`, []any{id}, &component)
		if !found || err != nil {
			r.basis.everything = true
			return r
		}
		r.translation, r.component = id, component
	}
	s.addComponents([]int64{r.component})
	return r
}

func (s *Snapshot) addComponents(ids []int64) {
	if len(ids) == 0 {
		return
	}
	b, g := &s.reading.basis, s.db.generations
	g.mu.RLock()
	defer g.mu.RUnlock()
	for _, id := range ids {
		switch {
		case b.everything:
			return
		case g.components[id].project == 0: // unknown
			b.everything = true
		case slices.Contains(b.components, id) || slices.Contains(b.projects, g.components[id].project):
		case len(b.components) < maxBasisComponents:
			b.components = append(b.components, id)
		default:
			s.reading.addProject(g.components[id].project)
		}
	}
}

// addProject adds a project.
func (r *reading) addProject(id int64) {
	b := &r.basis
	switch {
	case slices.Contains(b.projects, id):
	case len(b.projects) == maxBasisProjects:
		b.everything = true
	default:
		b.projects = append(b.projects, id)
	}
}
