// Package widget draws pictures of how much is translated, as SVG.
//
// Goals: all widgets of Weblate under their names; any text is safe in them.
// Non-goals: PNG, and looking anything up: callers pass what may be seen.
package widget

import (
	"cmp"
	"encoding/xml"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/repoglot/repoglot/catalog"
)

// Progress is what a widget shows: the sum over all languages, with the name of a project,
// a component or a translation.
type Progress struct {
	Language
	// Languages are sorted by name.
	Languages []Language
}

// Language is how much of one language is translated.
type Language struct {
	// Code and Name are the language's.
	Code, Name string
	catalog.Progress
}

// percent is the translated share, from 0 to 100, rounded down as all percentages are
// (docs/compatibility.md#percentages).
func (l *Language) percent() float64 { return float64(l.Percent()) / 10 }

// whole is percent as a text.
func (l *Language) whole() string {
	if l.Total == 0 {
		return "no strings"
	}
	return fmt.Sprintf("%d%%", int(l.percent()))
}

// Lookup returns the function that draws a file named <widget>-<color>.<svg or
// png>. All widgets are SVG: clients go by the Content-Type, not by the name. A
// colour that a widget does not have means its first one.
func Lookup(file string) (draw func(*Progress) string, ok bool) {
	name, vector := strings.CutSuffix(file, ".svg")
	name, bitmap := strings.CutSuffix(name, ".png")
	name, color, colored := strings.Cut(name, "-")
	if !colored || vector == bitmap {
		return nil, false
	}
	painter, ok := map[string]func(p *Progress, color string) string{
		"svg": drawBadge, "88x31": drawSmall, "287x66": drawWide, "open": drawCard, "multi": drawRows, "horizontal": drawColumns,
	}[name]
	return func(p *Progress) string { return painter(p, color) }, ok
}

// shade is the colour of a badge (docs/compatibility.md#badges).
func shade(percent float64) string {
	switch {
	case percent >= 90:
		return "#4c1"
	case percent >= 75:
		return "#dfb317"
	}
	return "#e05d44"
}

// ink is the colour of a bar: the one in the widget's name, otherwise by
// percentage.
func ink(color string, percent float64) string {
	return cmp.Or(map[string]string{"red": "#e05d44", "green": "#4c1", "blue": "#007ec6"}[color], shade(percent))
}

// paper is the background and the text colour of a widget.
func paper(color string) (background, text string) {
	switch color {
	case "white":
		return "#fff", "#333"
	case "black":
		return "#222", "#eee"
	}
	return "#eee", "#333"
}

// svg is a picture being drawn.
type svg struct{ strings.Builder }

// newSVG begins a picture; label describes it for screen readers.
func newSVG(width, height int, label string) *svg {
	d := &svg{}
	fmt.Fprintf(d, `<svg xmlns="http://www.w3.org/2000/svg" width="%[1]d" height="%[2]d" viewBox="0 0 %[1]d %[2]d" role="img" aria-label="%[3]s"><title>%[3]s</title>`,
		width, height, escapeXML(label))
	return d
}

func (d *svg) rect(x, y, width, height, radius int, fill string) {
	fmt.Fprintf(d, `<rect x="%d" y="%d" width="%d" height="%d" rx="%d" fill="%s"/>`, x, y, width, height, radius, fill)
}

// bar draws a bar that is filled to a percentage.
func (d *svg) bar(x, y, width, height int, percent float64, fill string) {
	d.rect(x, y, width, height, min(3, height/2), "#ccc")
	d.rect(x, y, int(float64(width)*percent/100), height, min(3, height/2), fill)
}

// text draws one line; anchor is start, middle or end.
func (d *svg) text(x, y, size int, anchor, fill, text string) {
	fmt.Fprintf(d, `<text x="%d" y="%d" font-family="DejaVu Sans,Verdana,sans-serif" font-size="%d" text-anchor="%s" fill="%s">%s</text>`,
		x, y, size, anchor, fill, escapeXML(text))
}

func (d *svg) end() string { return d.String() + "</svg>" }

// bare ends a text about files that are measured against themselves.
func (p *Progress) bare() string {
	if p.WithoutTemplate() && p.Total > 0 {
		return ", no template"
	}
	return ""
}

func (p *Progress) label() string { return "translated: " + p.whole() + p.bare() }

// color is that of the share: grey without strings.
func (p *Progress) color() string {
	if p.Total == 0 {
		return "#9f9f9f"
	}
	return shade(p.percent())
}

// drawBadge draws the widget svg: a badge of two halves.
func drawBadge(p *Progress, _ string) string {
	const label = "translated"
	text := p.whole() + p.bare()
	left := 7*utf8.RuneCountInString(label) + 10
	right := 7*utf8.RuneCountInString(text) + 14
	d := newSVG(left+right, 20, p.label())
	fmt.Fprintf(d, `<clipPath id="r"><rect width="%d" height="20" rx="3"/></clipPath><g clip-path="url(#r)">`, left+right)
	d.rect(0, 0, left, 20, 0, "#555")
	d.rect(left, 0, right, 20, 0, p.color())
	d.WriteString("</g>")
	d.text(left/2, 14, 11, "middle", "#fff", label)
	d.text(left+right/2, 14, 11, "middle", "#fff", text)
	return d.end()
}

// drawSmall draws the widget 88x31.
func drawSmall(p *Progress, color string) string {
	background, text := paper(color)
	d := newSVG(88, 31, p.label())
	d.rect(0, 0, 88, 31, 3, background)
	d.text(44, 13, 10, "middle", text, p.whole())
	d.bar(6, 19, 76, 6, p.percent(), p.color())
	return d.end()
}

// translated is the share in words.
func (p *Progress) translated() string {
	if p.Total == 0 {
		return p.whole()
	}
	return p.whole() + " translated"
}

// drawWide draws the widget 287x66.
func drawWide(p *Progress, color string) string {
	background, text := paper(color)
	d := newSVG(287, 66, p.label())
	d.rect(0, 0, 287, 66, 5, background)
	d.text(12, 23, 14, "start", text, catalog.Fit(p.Name, 30))
	d.text(12, 42, 11, "start", text, p.translated()+", "+counted(len(p.Languages), "language")+p.bare())
	d.bar(12, 50, 263, 8, p.percent(), p.color())
	return d.end()
}

// drawCard draws the widget open, in the size that social networks show.
func drawCard(p *Progress, _ string) string {
	d := newSVG(1200, 630, p.Name+", "+p.label())
	d.rect(0, 0, 1200, 630, 0, "#fff")
	d.text(80, 170, 64, "start", "#333", catalog.Fit(p.Name, 28))
	d.text(80, 330, 120, "start", p.color(), p.whole())
	if p.Total > 0 {
		d.text(80, 400, 36, "start", "#555", fmt.Sprintf("translated, %s, %s",
			counted(int(p.Total), "string"), counted(len(p.Languages), "language"))+p.bare())
	}
	d.bar(80, 470, 1040, 40, p.percent(), p.color())
	return d.end()
}

// drawRows draws the widget multi: one bar for each language, below each other.
func drawRows(p *Progress, color string) string {
	const line = 20
	d := newSVG(410, line*max(len(p.Languages), 1), p.label())
	for i, l := range p.Languages {
		y := line * i
		d.text(160, y+14, 11, "end", "#555", catalog.Fit(l.Name, 24))
		d.bar(168, y+5, 180, 10, l.percent(), ink(color, l.percent()))
		share := "–"
		if l.Total > 0 {
			share = l.whole()
		}
		d.text(400, y+14, 11, "end", "#555", share)
	}
	return d.end()
}

// drawColumns draws the widget horizontal: one bar for each language, side by
// side.
func drawColumns(p *Progress, color string) string {
	const column, top = 16, 90
	d := newSVG(column*max(len(p.Languages), 1), top+60, p.label())
	for i, l := range p.Languages {
		x := column * i
		height := int(top * l.percent() / 100)
		d.rect(x+3, 0, column-6, top, 3, "#ccc")
		d.rect(x+3, top-height, column-6, height, 3, ink(color, l.percent()))
		fmt.Fprintf(d, `<g transform="rotate(-90 %[1]d %[2]d)">`, x+12, top+56)
		d.text(x+12, top+56, 11, "start", "#555", catalog.Fit(l.Code, 8))
		d.WriteString("</g>")
	}
	return d.end()
}

func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// escapeXML escapes s as XML text; characters that XML 1.0 does not allow
// become U+FFFD.
func escapeXML(s string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(s)) // a Builder never fails
	return b.String()
}
