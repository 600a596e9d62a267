package page

import (
	"cmp"
	"fmt"
	"html/template"
)

// Component is one on the front page.
type Component struct {
	// Project and Slug name it.
	Project, Slug string
	// ProjectName and Name are what they are called; "" for their slugs.
	ProjectName, Name string
	// Imported says that its translations can be read.
	Imported bool
	// Languages is how many of them there are, the source language among them.
	Languages int
	// Percent is how much of them is translated, 0 to 100.
	Percent float64
}

// MaxFront bounds the components on the front page; the API lists all.
const MaxFront = 300

// section is a project on the front page.
type section struct {
	Slug, Name string
	Components []Component
}

// Front makes the page that a server begins with: of the components the first
// MaxFront, by project.
func Front(components []Component) ([]byte, error) {
	v := struct {
		Style       template.CSS
		Projects    []section
		Count, More int
	}{Count: len(components), More: max(len(components)-MaxFront, 0)}
	var err error
	if v.Style, err = style(); err != nil {
		return nil, fmt.Errorf("read the style: %w", err)
	}
	at := map[string]int{}
	for _, c := range components[:len(components)-v.More] {
		i, known := at[c.Project]
		if !known {
			i = len(v.Projects)
			at[c.Project] = i
			v.Projects = append(v.Projects, section{Slug: c.Project, Name: visible(cmp.Or(c.ProjectName, c.Project))})
		}
		c.Name = visible(cmp.Or(c.Name, c.Slug))
		v.Projects[i].Components = append(v.Projects[i].Components, c)
	}
	return execute("front.html", v)
}
