package sqldb

import "slices"

// Footprint is what was read of a database: some components, some projects, or everything.
type Footprint struct {
	Everything, Heads    bool // heads: also of which commit
	Components, Projects []int64
}

// Reading records what is read. A statement outside of all sections reads everything.
type Reading struct {
	Footprint
	sections int // that are open
	// translation is the one that was read last, component its component.
	Translation, Component int64
}

// Limits of a footprint: above them a component is replaced by its project, and a
// project by everything.
const (
	MaxFootprintComponents = 8
	MaxFootprintProjects   = 8
)

// Note notes a statement, or what is in place of one: a look into a cache.
func (r *Reading) Note() {
	if r != nil && r.sections == 0 {
		r.Everything = true
	}
}

// Begin begins a section.
func (r *Reading) Begin() *Reading {
	r.sections++
	return r
}

// End ends a section.
func (r *Reading) End() {
	if r != nil {
		r.sections--
	}
}

// AddComponents adds components. projectOf returns the project of one, 0 if it is not
// known.
func (r *Reading) AddComponents(ids []int64, projectOf func(int64) int64) {
	for _, id := range ids {
		project := projectOf(id)
		switch {
		case r.Everything:
			return
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
	case slices.Contains(r.Projects, id):
	case len(r.Projects) == MaxFootprintProjects:
		r.Everything = true
	default:
		r.Projects = append(r.Projects, id)
	}
}
