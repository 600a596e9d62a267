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
	// Name is that of the project, component or translation.
	Name string
	// Stats are those of all languages together.
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

// PercentTranslated follows the rule of all percentages (facts §6).
func PercentTranslated(s *catalog.Stats) float64 {
	return float64(catalog.Percent(s.Translated.Units, s.Total.Units, 1000)) / 10
}

// Lookup finds what draws a file of the name <widget>-<color>.<svg or png>. All
// are drawn as SVG: a picture is shown by its type, not by its name. A colour
// that the widget does not have stands for its first one.
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

// widgets are those of facts §12 by name.
func widgets() map[string]func(p *Progress, color string) string {
	return map[string]func(*Progress, string) string{
		"svg": drawBadge, "88x31": drawSmall, "287x66": drawWide, "open": drawCard, "multi": drawRows, "horizontal": drawColumns,
	}
}
