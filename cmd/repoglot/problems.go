package main

import (
	"slices"
	"sync"

	"github.com/repoglot/repoglot/catalog/ingest"
)

// problems remembers what of each component is not served and why, as of the
// last pull that looked.
type problems struct {
	mu sync.Mutex
	of map[string][]string // by PROJECT/COMPONENT
}

// note takes over what a pull found and returns what is new of it.
func (p *problems) note(c *ingest.ComponentReport) []string {
	if c.Problems == nil {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	name := c.Project + "/" + c.Slug
	old := p.of[name]
	p.of[name] = c.Problems
	return slices.DeleteFunc(slices.Clone(c.Problems), func(s string) bool { return slices.Contains(old, s) })
}

// list is what is wrong with a component, never nil.
func (p *problems) list(project, slug string) []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]string{}, p.of[project+"/"+slug]...)
}
