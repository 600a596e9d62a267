package server

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/ingest"
)

// The bounds of problems: a repository can hold any number of broken files, with
// long names.
const (
	maxProblems    = 100   // of a component that are kept and shown
	maxProblemText = 1_000 // bytes of one
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
	p.of[name] = FirstProblems(c.Problems)
	return slices.DeleteFunc(slices.Clone(p.of[name]), func(s string) bool { return slices.Contains(old, s) })
}

// FirstProblems returns the first problems of a list, shortened, and the number of
// the others.
func FirstProblems(all []string) []string {
	list := make([]string, 0, min(len(all), maxProblems+1))
	for _, s := range all[:min(len(all), maxProblems)] {
		if len(s) > maxProblemText {
			s = strings.ToValidUTF8(s[:maxProblemText/2]+"…"+s[len(s)-maxProblemText/2:], "")
		}
		list = append(list, s)
	}
	if more := len(all) - maxProblems; more > 0 {
		list = append(list, fmt.Sprintf("and %d more files", more))
	}
	return list
}

// list returns the problems of a component, never nil.
func (p *problems) list(project, slug string) []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]string{}, p.of[project+"/"+slug]...)
}

// maxLogged bounds the new failures in one line of the log.
const maxLogged = 10

// NewFailureLines describes the new failures of a pull: up to most of them, and
// the number of the others.
func NewFailureLines(report *ingest.Report, most int) (lines []string) {
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
		source := strings.ReplaceAll(f.Source, catalog.FormSeparator, " / ")
		lines = append(lines, fmt.Sprintf("%s %s: %s: %q (unit %d)", name, f.Language, f.Check, source, f.UnitID))
	}
	if more := report.NewFailures.Total - len(lines); more > 0 {
		lines = append(lines, fmt.Sprintf("and %d more", more))
	}
	return lines
}
