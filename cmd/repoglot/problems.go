package main

import (
	"slices"
	"sync"

	"github.com/repoglot/repoglot/catalog/ingest"
)

// problems keeps the files of each component that are not served, with the reason,
// as of the last pull that read them.
type problems struct {
	mu sync.Mutex
	of map[string][]string // by PROJECT/COMPONENT
}

// note stores the problems that a pull found and returns the new ones.
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

// list returns the problems of a component, never nil.
func (p *problems) list(project, slug string) []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]string{}, p.of[project+"/"+slug]...)
}
