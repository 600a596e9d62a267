package api

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store"
)

const typeSVG = "image/svg+xml"

// widgetRoutes are the pictures, under the URLs of 5.x (/widget/) and of 4.x
// (/widgets/), where the language stands before the component (facts §12).
func (s *Server) widgetRoutes() []route {
	var routes []route
	for _, pattern := range []string{
		"/widget/:project/:widget/",
		"/widget/:project/:component/:widget/",
		"/widget/:project/:component/:language/:widget/",
		"/widgets/:project/:language/:widget/",
		"/widgets/:project/:language/:component/:widget/",
	} {
		routes = append(routes, route{pattern, allowRead, "Widget", "A picture of how much is translated.", files, s.getWidget})
	}
	return routes
}

// progress is what a widget shows.
type progress struct {
	// name is that of the project, component or translation.
	name string
	// stats are those of all languages together.
	stats catalog.Stats
	// languages are sorted by name.
	languages []languageProgress
}

type languageProgress struct {
	code, name string
	percent    float64
}

// percentTranslated follows the rule of all percentages (facts §6).
func percentTranslated(s *catalog.Stats) float64 {
	return float64(catalog.Percent(s.Translated.Units, s.Total.Units, 1000)) / 10
}

// getWidget answers a picture of how much is translated, of a project, a
// component or a translation, with "-" for the component a language of a project
// (facts §12). A private one is not there, other than in Weblate.
func (s *Server) getWidget(ctx context.Context, snap *store.Snapshot, r *request) (any, error) {
	draw, ok := widget(r.segment("widget"))
	if !ok {
		return nil, errNotFound
	}
	p, err := s.progressOf(ctx, snap, r)
	if err != nil {
		return nil, err
	}
	return &document{contentType: typeSVG, body: []byte(draw(p)), maxAge: 3600}, nil
}

func (s *Server) progressOf(ctx context.Context, snap *store.Snapshot, r *request) (*progress, error) {
	project, component, language := r.segment("project"), r.segment("component"), strings.TrimPrefix(r.segment("language"), "-")
	switch {
	case component != "" && component != "-" && language != "":
		t, err := s.visibleTranslation(ctx, snap, r)
		if err != nil {
			return nil, err
		}
		return s.newProgress(t.Component.Settings.Name, []store.Sum{{Language: t.Language, Stats: t.Stats}}), nil
	case component != "" && component != "-":
		c, err := s.importedComponent(ctx, snap, project, component)
		if err != nil {
			return nil, err
		}
		sums, err := snap.Sums(ctx, store.SumQuery{Components: []int64{c.ID}, Sources: true})
		return s.newProgress(c.Settings.Name, sums), err
	}
	p, err := s.visibleProject(ctx, snap, r)
	if err != nil {
		return nil, err
	}
	sums, err := sumsOf(ctx, snap, p.Slug, language)
	if err == nil && len(sums) == 0 && language != "" {
		err = errNotFound
	}
	return s.newProgress(p.Settings.Name, sums), err
}

func (s *Server) newProgress(name string, sums []store.Sum) *progress {
	p := &progress{name: name, stats: addUp(sums).Stats}
	for i := range sums {
		p.languages = append(p.languages, languageProgress{
			code: sums[i].Language, name: s.language(sums[i].Language).Name, percent: percentTranslated(&sums[i].Stats),
		})
	}
	slices.SortFunc(p.languages, func(a, b languageProgress) int {
		return cmp.Or(cmp.Compare(a.name, b.name), cmp.Compare(a.code, b.code))
	})
	return p
}

// widget finds what draws a file of the name <widget>-<color>.<svg or png>. All
// are drawn as SVG: a picture is shown by its type, not by its name. A colour
// that the widget does not have stands for its first one.
func widget(file string) (draw func(*progress) string, ok bool) {
	name, vector := strings.CutSuffix(file, ".svg")
	name, bitmap := strings.CutSuffix(name, ".png")
	name, color, colored := strings.Cut(name, "-")
	if !colored || vector == bitmap {
		return nil, false
	}
	painter, ok := widgets()[name]
	return func(p *progress) string { return painter(p, color) }, ok
}

// widgets are those of facts §12 by name.
func widgets() map[string]func(p *progress, color string) string {
	return map[string]func(*progress, string) string{
		"svg": drawBadge, "88x31": drawSmall, "287x66": drawWide, "open": drawCard, "multi": drawRows, "horizontal": drawColumns,
	}
}
