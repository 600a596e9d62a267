// Package widget draws pictures of how much is translated, as SVG.
//
// Goals: all widgets of Weblate under their names; any text is safe in them.
// Non-goals: PNG, and looking anything up: callers pass what may be seen.
package widget

import (
	"strings"

	"github.com/repoglot/repoglot/catalog"
)

// Progress is what a widget shows.
type Progress struct {
	// Name is the project's, the component's or the translation's.
	Name string
	// Stats are the sums over all languages.
	Stats catalog.Stats
	// Languages are sorted by name.
	Languages []Language
}

// Language is how much of one language is translated.
type Language struct {
	// Code and Name are the language's.
	Code, Name string
	// Percent is from 0 to 100.
	Percent float64
}

// PercentTranslated rounds down as all percentages do
// (docs/compatibility.md#percentages).
func PercentTranslated(s *catalog.Stats) float64 {
	return float64(catalog.Percent(s.Translated.Units, s.Total.Units, 1000)) / 10
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
	painter, ok := widgets()[name]
	return func(p *Progress) string { return painter(p, color) }, ok
}

// widgets are the functions that draw, by the widget's name.
func widgets() map[string]func(p *Progress, color string) string {
	return map[string]func(*Progress, string) string{
		"svg": drawBadge, "88x31": drawSmall, "287x66": drawWide, "open": drawCard, "multi": drawRows, "horizontal": drawColumns,
	}
}
