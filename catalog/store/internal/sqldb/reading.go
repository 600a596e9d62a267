package sqldb

import (
	"context"
	"slices"
)

// Footprint is what was read of a database: some components, some projects, or everything.
type Footprint struct {
	Everything, Heads    bool // heads: also of which commit
	Components, Projects []int64
}

// Reading records what is read. A statement outside of all sections reads everything. All
// methods are allowed on nil, which records nothing.
type Reading struct {
	Footprint
	projectOf func(component int64) int64 // 0: not known
	sections  int                         // that are open
	// translation is the one that was read last, component its component.
	translation, component int64
}

// Limits of a footprint: above them a component is replaced by its project, and a
// project by everything.
const (
	MaxFootprintComponents = 8
	MaxFootprintProjects   = 8
)

// NewReading begins to record. projectOf returns the project of a component, 0 if it is not
// known.
func NewReading(projectOf func(component int64) int64) *Reading {
	return &Reading{projectOf: projectOf}
}

// Note notes a statement, or what is in place of one: a look into a cache.
func (r *Reading) Note() {
	if r != nil && r.sections == 0 {
		r.Everything = true
	}
}

// Begin begins a section, in which statements are not noted.
func (r *Reading) Begin() *Reading {
	if r != nil {
		r.sections++
	}
	return r
}

// End ends a section.
func (r *Reading) End() {
	if r != nil {
		r.sections--
	}
}

// AddComponents adds components.
func (r *Reading) AddComponents(ids ...int64) {
	for _, id := range ids {
		if r == nil || r.Everything {
			return
		}
		project := r.projectOf(id)
		switch {
		case project == 0:
			r.Everything = true
		case slices.Contains(r.Components, id) || slices.Contains(r.Projects, project):
		case len(r.Components) < MaxFootprintComponents:
			r.Components = append(r.Components, id)
		default:
			r.AddProject(project)
		}
	}
}

// AddProject adds a project.
func (r *Reading) AddProject(id int64) {
	switch {
	case r == nil || slices.Contains(r.Projects, id):
	case len(r.Projects) == MaxFootprintProjects:
		r.Everything = true
	default:
		r.Projects = append(r.Projects, id)
	}
}

// AddHeads adds which commits the components are at.
func (r *Reading) AddHeads() {
	if r != nil {
		r.Heads = true
	}
}

// Found says of which component a translation is, so that AboutTranslation need not ask.
func (r *Reading) Found(translation, component int64) {
	if r != nil {
		r.translation, r.component = translation, component
	}
}

// About begins a section in which only rows of these components are read: their
// own except head and head_commit, the rows below them, the settings of their
// projects, and the names of authors, which never change.
func (s *Session) About(components ...int64) *Reading {
	s.Reading.AddComponents(components...)
	return s.Reading.Begin()
}

// AboutProject begins a section in which only rows of a project are read.
func (s *Session) AboutProject(id int64) *Reading {
	s.Reading.AddProject(id)
	return s.Reading.Begin()
}

// AboutTranslation begins a section in which only rows of the component of a
// translation are read.
func (s *Session) AboutTranslation(ctx context.Context, id int64) *Reading {
	r := s.Reading.Begin()
	if r == nil {
		return nil
	}
	if r.translation != id {
		var component int64
		found, err := s.First(ctx, `SELECT component_id FROM translations WHERE id = $1`, []any{id}, &component)
		if !found || err != nil {
			r.Everything = true
			return r
		}
		r.Found(id, component)
	}
	r.AddComponents(r.component)
	return r
}
