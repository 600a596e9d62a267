// Package widget draws pictures of how much is translated, as SVG.
//
// Goals: all widgets of Weblate under their names; any text is safe in them.
// Non-goals: PNG, and looking anything up: callers pass what may be seen.
package widget

import (
	"bytes"
	"cmp"
	_ "embed" // of widgets.svg
	"encoding/xml"
	"fmt"
	"strings"
	"sync"
	"text/template"

	"github.com/repoglot/repoglot/catalog"
)

// Progress is what a widget shows: the sum over languages, with the name of what it is of.
type Progress struct {
	Language
	// Languages are sorted by name.
	Languages []Language
	// Components is how many could have the one language that it is about; else 0.
	Components int
}

// Language is how much of one language is translated.
type Language struct {
	// Code and Name are the language's.
	Code, Name string
	catalog.Progress
}

// bar is the share of a language, or of all: from 0 to 100, as text, and its colour.
type bar struct {
	Language
	Percent    string
	Text, Fill string
}

// newBar makes a bar; color is what the widget's name says. Percentages are rounded down as
// all are (docs/compatibility.md#percentages).
func newBar(l *Language, color string) bar {
	n := l.Progress.Percent()
	b := bar{Language: *l, Percent: fmt.Sprintf("%d.%d", n/10, n%10), Text: fmt.Sprintf("%d%%", n/10)}
	switch { // docs/compatibility.md#badges
	case n >= 900:
		b.Fill = "#4c1"
	case n >= 750:
		b.Fill = "#dfb317"
	default:
		b.Fill = "#e05d44"
	}
	if b.Total == 0 {
		b.Text = "no strings"
	}
	b.Fill = cmp.Or(map[string]string{"red": "#e05d44", "green": "#4c1", "blue": "#007ec6"}[color], b.Fill)
	return b
}

// picture is what widgets.svg shows: the sum, and a bar for each language.
type picture struct {
	bar
	Bars            []bar
	Background, Ink string // of the paper
	Bare            string // ends a text about a part, or files that are measured against themselves
}

// Label describes the picture for screen readers.
func (p *picture) Label() string { return "translated: " + p.Text + p.Bare }

// Lines is the number of bars, or 1.
func (p *picture) Lines() int { return max(len(p.Bars), 1) }

//go:embed widgets.svg
var widgets string

// templates parses the widgets once.
var templates = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("").Funcs(template.FuncMap{
		"xml": escapeXML, "fit": catalog.Fit,
		"mul": func(a, b int) int { return a * b },
		"div": func(a, b int) int { return a / b },
		"add": func(list ...int) (sum int) {
			for _, n := range list {
				sum += n
			}
			return sum
		},
	}).Parse(widgets))
})

// Lookup returns the function that draws a file named <widget>-<color>.<svg or png>. All are
// SVG: clients go by the Content-Type, not the name. Another colour means the first one.
func Lookup(file string) (draw func(*Progress) ([]byte, error), ok bool) {
	name, vector := strings.CutSuffix(file, ".svg")
	name, bitmap := strings.CutSuffix(name, ".png")
	name, color, colored := strings.Cut(name, "-")
	t := templates().Lookup("widget " + name)
	if !colored || vector == bitmap || t == nil {
		return nil, false
	}
	return func(of *Progress) ([]byte, error) {
		p := &picture{bar: newBar(&of.Language, ""), Background: "#eee", Ink: "#333"}
		switch color {
		case "white":
			p.Background = "#fff"
		case "black":
			p.Background, p.Ink = "#222", "#eee"
		}
		if of.WithoutTemplate() && of.Total > 0 {
			p.Bare = ", no template"
		}
		if of.Components > int(of.Files) {
			p.Bare += fmt.Sprintf(", in %d of %d components", of.Files, of.Components)
		}
		if of.Total == 0 {
			p.Fill = "#9f9f9f"
		}
		for i := range of.Languages {
			p.Bars = append(p.Bars, newBar(&of.Languages[i], color))
		}
		var b bytes.Buffer
		err := t.Execute(&b, p)
		return b.Bytes(), err
	}, true
}

// escapeXML escapes s as XML text; characters that XML 1.0 does not allow become U+FFFD.
func escapeXML(s string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(s)) // a Builder never fails
	return b.String()
}
