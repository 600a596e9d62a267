package main

import (
	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/ingest"
)

// private reports whether a component is private; its own access wins over its
// project's.
func private(project bool, access catalog.Access) bool {
	if access == "" {
		return project
	}
	return access == catalog.AccessPrivate
}

// private reports whether a project of the plan is private.
func (p *plan) private(slug string) bool {
	return p.project(slug).Private()
}

// project returns a project of the plan; for an unknown slug, a private one.
func (p *plan) project(slug string) *catalog.Project {
	for i := range p.projects {
		if p.projects[i].Slug == slug {
			return &p.projects[i]
		}
	}
	return &catalog.Project{Slug: slug, Settings: catalog.ProjectSettings{Access: catalog.AccessPrivate}}
}

// public returns the public components of the plan, in the order of its branches.
func (p *plan) public() []ingest.Component {
	var list []ingest.Component
	for _, b := range p.branches {
		for _, c := range b.Components {
			if !private(p.private(c.Spec.Project), c.Spec.Settings.Access) {
				list = append(list, c)
			}
		}
	}
	return list
}
