package api

import (
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/repoglot/repoglot/catalog/store"
)

const typeSVG = "image/svg+xml"

// getWidget answers a picture of how much is translated, of a project, a
// component or a translation, with "-" for the component a language of a project
// (facts §12). A private one is not there, other than in Weblate.
func (s *Server) getWidget(ctx context.Context, snap *store.Snapshot, r *request) (any, error) {
	draw, ok := widget(r.segment("widget"))
	if !ok {
		return nil, errNotFound
	}
	project, component, language := r.segment("project"), r.segment("component"), r.segment("language")
	var sum store.Sum
	switch {
	case component != "" && component != "-" && language != "" && language != "-":
		t, err := s.visibleTranslation(ctx, snap, r)
		if err != nil {
			return nil, err
		}
		sum.Stats = t.Stats
	case component != "" && component != "-":
		c, err := s.importedComponent(ctx, snap, project, component)
		if err != nil {
			return nil, err
		}
		all, err := snap.Translations(ctx, c.ID)
		if err != nil {
			return nil, err
		}
		for i := range all {
			sum.Add(store.Sum{Stats: all[i].Stats})
		}
	default:
		p, err := s.visibleProject(ctx, snap, r)
		if err != nil {
			return nil, err
		}
		sums, err := sumsOf(ctx, snap, p.Slug, strings.TrimPrefix(language, "-"))
		if err != nil {
			return nil, err
		}
		if len(sums) == 0 && strings.TrimPrefix(language, "-") != "" {
			return nil, errNotFound
		}
		sum = addUp(sums)
	}
	percent := float64(shareDone(sum.Stats.Translated.Units, sum.Stats.Total.Units)) / 10
	return &document{contentType: typeSVG, body: []byte(draw(percent)), maxAge: 3600}, nil
}

// widget finds what draws a file of the name <widget>-<color>.svg; any colour is
// taken for the widget's own.
func widget(file string) (draw func(percent float64) string, ok bool) {
	name, vector := strings.CutSuffix(file, ".svg")
	name, _, colored := strings.Cut(name, "-")
	switch {
	case !vector || !colored:
	case name == "svg":
		return badge, true
	case name == "horizontal":
		return bar, true
	}
	return nil, false
}

// shade is the colour of a badge (facts §12).
func shade(percent float64) string {
	switch {
	case percent >= 90:
		return "#4c1"
	case percent >= 75:
		return "#dfb317"
	}
	return "#e05d44"
}

func badge(percent float64) string {
	const label = "translated"
	text := fmt.Sprintf("%d%%", int(percent))
	left := 7*utf8.RuneCountInString(label) + 10
	right := 7*utf8.RuneCountInString(text) + 14
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" width="%[1]d" height="20" role="img" aria-label="%[2]s: %[3]s"><title>%[2]s: %[3]s</title>`+
		`<clipPath id="r"><rect width="%[1]d" height="20" rx="3"/></clipPath><g clip-path="url(#r)"><rect width="%[4]d" height="20" fill="#555"/>`+
		`<rect x="%[4]d" width="%[5]d" height="20" fill="%[6]s"/></g><g fill="#fff" text-anchor="middle" font-family="DejaVu Sans,Verdana,sans-serif" font-size="11">`+
		`<text x="%[7]d" y="14">%[2]s</text><text x="%[8]d" y="14">%[3]s</text></g></svg>`,
		left+right, label, text, left, right, shade(percent), left/2, left+right/2)
}

func bar(percent float64) string {
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" width="360" height="24" role="img" aria-label="translated: %[1]d%%"><title>translated: %[1]d%%</title>`+
		`<rect y="6" width="300" height="12" rx="3" fill="#ddd"/><rect y="6" width="%[2]d" height="12" rx="3" fill="%[3]s"/>`+
		`<text x="308" y="16" font-family="DejaVu Sans,Verdana,sans-serif" font-size="12" fill="#555">%[1]d%%</text></svg>`,
		int(percent), int(3*percent), shade(percent))
}
