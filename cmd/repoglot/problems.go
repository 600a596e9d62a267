package main

import (
	"fmt"
	"slices"
	"strconv"
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

// maxLogged bounds the new failures in one line of the log.
const maxLogged = 10

// newFailureLines describes the new failures of a pull: up to most of them, and
// the number of the others.
func newFailureLines(report *ingest.Report, most int) (lines []string) {
	names := map[int64]string{}
	for i := range report.Components {
		c := &report.Components[i]
		names[c.ID] = c.Project + "/" + c.Slug
	}
	for _, f := range report.NewFailures.List[:min(most, len(report.NewFailures.List))] {
		name, ok := names[f.ComponentID]
		if !ok {
			name = "component " + strconv.FormatInt(f.ComponentID, 10)
		}
		lines = append(lines, fmt.Sprintf("%s %s: %s: %q (unit %d)", name, f.Language, f.Check, f.Source, f.UnitID))
	}
	if more := report.NewFailures.Total - len(lines); more > 0 {
		lines = append(lines, fmt.Sprintf("and %d more", more))
	}
	return lines
}
