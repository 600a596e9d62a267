package store

import "slices"

// footprint is what was read of a database: some components, some projects, or everything.
type footprint struct {
	everything, heads    bool // heads: also of which commit
	components, projects []int64
}

// reading records what is read. A statement outside of all sections reads everything.
type reading struct {
	footprint
	sections int // that are open
	// translation is the one that was read last, component its component.
	translation, component int64
}

// Limits of a footprint: above them a component is replaced by its project, and a
// project by everything.
const (
	maxFootprintComponents = 8
	maxFootprintProjects   = 8
)

// note notes a statement, or what is in place of one: a look into a cache.
func (r *reading) note() {
	if r != nil && r.sections == 0 {
		r.everything = true
	}
}

// begin begins a section.
func (r *reading) begin() *reading {
	r.sections++
	return r
}

// end ends a section.
func (r *reading) end() {
	if r != nil {
		r.sections--
	}
}

// addComponents adds components. projectOf returns the project of one, 0 if it is not
// known.
func (r *reading) addComponents(ids []int64, projectOf func(int64) int64) {
	for _, id := range ids {
		project := projectOf(id)
		switch {
		case r.everything:
			return
		case project == 0:
			r.everything = true
		case slices.Contains(r.components, id) || slices.Contains(r.projects, project):
		case len(r.components) < maxFootprintComponents:
			r.components = append(r.components, id)
		default:
			r.addProject(project)
		}
	}
}

// addProject adds a project.
func (r *reading) addProject(id int64) {
	switch {
	case slices.Contains(r.projects, id):
	case len(r.projects) == maxFootprintProjects:
		r.everything = true
	default:
		r.projects = append(r.projects, id)
	}
}
