package page

import (
	"cmp"
	"fmt"
	"html/template"
)

// Component is a component on the home page.
type Component struct {
	// Project and Slug name it.
	Project, Slug string
	// ProjectName and Name are the names for people; "" for the slugs.
	ProjectName, Name string
	// Imported says that its translations can be read.
	Imported bool
	// Languages is the number of its translations, the source language included.
	Languages int
	// Percent is the translated share of its strings, 0 to 100.
	Percent float64
}

// MaxHome bounds the components on the home page; the API lists all.
const MaxHome = 300

// section is a project on the home page.
type section struct {
	Slug, Name string
	Components []Component
}

// Home makes the page at the root of a server: the first MaxHome components, by
// project.
func Home(components []Component) ([]byte, error) {
	v := struct {
		Style       template.CSS
		Projects    []section
		Count, More int
	}{Count: len(components), More: max(len(components)-MaxHome, 0)}
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
	return execute("home.html", v)
}
