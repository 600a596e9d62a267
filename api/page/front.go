package page

import (
	"fmt"
	"html/template"
)

// maxFront bounds the components on the front page; the API lists all.
const maxFront = 300

// Component is one on the front page.
type Component struct {
	// Project and Slug name it.
	Project, Slug string
	// Imported says that its translations can be read.
	Imported bool
}

// Front makes the page that a server begins with.
func Front(components []Component) ([]byte, error) {
	v := struct {
		Style       template.CSS
		Components  []Component
		Count, More int
	}{Components: components, Count: len(components)}
	var err error
	if v.Style, err = style(); err != nil {
		return nil, fmt.Errorf("read the style: %w", err)
	}
	if len(components) > maxFront {
		v.Components, v.More = components[:maxFront], len(components)-maxFront
	}
	return execute("front.html", v)
}
