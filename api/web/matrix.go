package web

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/repoglot/repoglot/api/resource"
	"github.com/repoglot/repoglot/api/rest"
	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store"
)

// matrix is the page of a project: languages × components.
type matrix struct {
	Project    catalog.Project
	About      tally
	Columns    []column
	Rows       []matrixRow
	RowPages   paging
	ColPages   paging
	Orders     []link
	Filters    []link
	Filter     string
	Kept       []link // parameters that the form of the filter keeps, as name and value
	Importing  []importing
	Changes    []change
	Components int
	Languages  int
	Trends     bool // whether a cell says how it changed
}

// column is a component of a matrix.
type column struct {
	Name, URL, Slug string
	Strings         int64
	Glossary, Bare  bool // Bare: it has no template

	row *store.ComponentRow
}

// matrixRow is a language of a matrix.
type matrixRow struct {
	tally
	Code, URL string
	Author    string
	Cells     []cell

	newest counted
}

// cell is a component in a language; URL is "" if it has no such translation.
type cell struct {
	tally
	URL, FailingURL string
	Trend           int64 // thousandths in 30 days
	Moved           bool  // whether the component was there 30 days ago
}

// A matrix shows at most 1,000 cells.
const (
	maxColumns = 20
	maxCells   = 1000
	trendDays  = 30
)

func (p *Pages) matrix(ctx context.Context, snap *store.Snapshot, r *rest.Request, v *view) error {
	project, err := resource.VisibleProject(ctx, snap, r)
	if err != nil {
		return err
	}
	p.aboutProject(v, &project)
	v.Title, v.Heading = project.Settings.Name+" · repoglot", project.Settings.Name
	rows, err := resource.VisibleComponents(ctx, snap, project.Slug)
	if err != nil {
		return err
	}
	rows = componentsByName(rows)
	counts, err := count(ctx, snap, rows, "")
	if err != nil {
		return err
	}
	sources, err := snap.Sources(ctx, resource.ImportedIDs(rows))
	if err != nil {
		return err
	}
	m := matrix{Project: project, Importing: p.importingOf(ctx, rows, v), Orders: v.orders(), Filters: filters(v), Filter: strings.TrimSpace(v.param("lang")), Components: len(rows)}
	for _, name := range []string{"sort", "only"} {
		if value := v.param(name); value != "" {
			m.Kept = append(m.Kept, link{Name: name, URL: value})
		}
	}
	languages := p.matrixRows(v, counts, &m)
	var columns []column
	for _, c := range rows {
		if c.Imported {
			columns = append(columns, column{
				Name: c.Settings.Name, Slug: c.Slug, URL: path("projects", project.Slug, c.Slug),
				Strings: sources[c.ID].Strings().Units, Bare: !sources[c.ID].HasTemplate, Glossary: c.Settings.IsGlossary, row: c,
			})
		}
	}
	m.ColPages, m.Columns = cutPage(v, "cols", columns, maxColumns)
	m.RowPages, m.Rows = cutPage(v, "page", languages, max(1, maxCells/max(1, len(m.Columns))))
	if err := p.fillCells(ctx, snap, v, &m, sources); err != nil {
		return err
	}
	if v.Problems, err = problemsOf(ctx, snap, rows, true); err != nil {
		return err
	}
	q, err := resource.WithoutHidden(ctx, snap, store.ChangeQuery{ProjectID: project.ID, Newest: true, Limit: newest}, project.Slug)
	if err != nil {
		return err
	}
	entries, err := newestChanges(ctx, snap, rows, counts, q)
	if err != nil {
		return err
	}
	if m.Changes, err = p.changes(ctx, snap, v, entries); err != nil {
		return err
	}
	v.Body = m
	return err
}

// aboutProject sets the frame of a page about a project.
func (p *Pages) aboutProject(v *view, project *catalog.Project) {
	v.Crumbs = append(v.Crumbs, link{Name: project.Settings.Name, URL: path("projects", project.Slug)})
	v.Feeds = []link{
		{Name: "Atom", URL: path("exports", "atom", project.Slug)},
		{Name: "RSS", URL: path("exports", "rss", project.Slug)},
	}
}

// filters are the choices of rows.
func filters(v *view) (list []link) {
	for _, f := range []struct{ value, name string }{
		{"", v.L.T("all languages")},
		{"unfinished", v.L.T("unfinished")},
		{"failing", v.L.T("with failing checks")},
	} {
		list = append(list, link{Name: f.name, URL: v.with("only", f.value), Current: v.param("only") == f.value})
	}
	return list
}

// matrixRows adds up counts by language, filters and sorts.
func (p *Pages) matrixRows(v *view, counts []counted, m *matrix) []matrixRow {
	index := map[string]*matrixRow{}
	for i := range counts {
		c := &counts[i]
		r := index[c.language]
		if r == nil {
			r = &matrixRow{Code: c.language}
			index[c.language] = r
		}
		r.add(c.tally)
		if r.newest.component == nil || c.Last.After(r.newest.Last) {
			r.newest = *c
		}
		m.About.add(c.tally)
	}
	m.Languages = len(index)
	m.About.inTranslations(v, m.Languages, m.Components)
	list := make([]matrixRow, 0, len(index))
	names := map[string]string{}
	wanted := strings.ToLower(m.Filter)
	for _, code := range slices.Sorted(maps.Keys(index)) {
		r := index[code]
		names[code] = v.L.LanguageName(code, p.env.Language(code).Name)
		switch {
		case wanted != "" && !strings.Contains(strings.ToLower(names[code]+" "+code+" "+p.env.Language(code).Name), wanted):
			continue
		case v.param("only") == "unfinished" && r.Left() == 0, v.param("only") == "failing" && r.Failing == 0:
			continue
		}
		r.inComponents(v, m.Components)
		r.URL = path("languages", code, m.Project.Slug)
		list = append(list, *r)
	}
	sorted(list, v.order(), func(r matrixRow) int { return v.reads(r.Code) }, func(r matrixRow) string { return names[r.Code] }, func(r matrixRow) tally { return r.tally })
	return list
}

// fillCells reads the translations that the page shows, how they were 30 days ago, and
// who changed each language last.
func (p *Pages) fillCells(ctx context.Context, snap *store.Snapshot, v *view, m *matrix, sources map[int64]*catalog.Translation) error {
	at, ids := map[int64]int{}, make([]int64, len(m.Columns))
	for i := range m.Columns {
		ids[i] = m.Columns[i].row.ID
		at[ids[i]] = i
	}
	rowAt, codes := map[string]int{}, make([]string, len(m.Rows))
	for i := range m.Rows {
		codes[i] = m.Rows[i].Code
		rowAt[codes[i]] = i
		m.Rows[i].Cells = make([]cell, len(m.Columns))
	}
	translations, err := snap.TranslationsIn(ctx, ids, codes)
	if err != nil {
		return err
	}
	var wanted []int64
	for i := range translations {
		wanted = append(wanted, translations[i].ID)
	}
	past, err := snap.PastStats(ctx, ids, wanted, v.now.AddDate(0, 0, -trendDays))
	if err != nil {
		return err
	}
	for i := range translations {
		t := &translations[i]
		if t.IsSource {
			continue
		}
		c := &m.Rows[rowAt[t.Language]].Cells[at[t.ComponentID]]
		c.tally = tallyOf(t, sources[t.ComponentID])
		slug := m.Columns[at[t.ComponentID]].Slug
		c.URL = path("projects", m.Project.Slug, slug, t.Language)
		c.FailingURL = path("translate", m.Project.Slug, slug, t.Language) + "?q=has:check"
		if before, ok := past[t.ID]; ok {
			c.Trend, c.Moved = c.Permille()-int64(c.Past(t, &before).Percent()), true
			m.Trends = m.Trends || c.Trend != 0
		}
	}
	return p.fillAuthors(ctx, snap, m)
}

// fillAuthors names the author of the newest change of each row.
func (p *Pages) fillAuthors(ctx context.Context, snap *store.Snapshot, m *matrix) error {
	var components []int64
	for i := range m.Rows {
		if c := m.Rows[i].newest.component; c != nil && !slices.Contains(components, c.ID) {
			components = append(components, c.ID)
		}
	}
	codes := make([]string, len(m.Rows))
	for i := range m.Rows {
		codes[i] = m.Rows[i].Code
	}
	if len(components) > 8 { // more would read more rows than the page shows
		components = components[:8]
	}
	found, err := snap.TranslationsIn(ctx, components, codes)
	for i := range m.Rows {
		n := &m.Rows[i].newest
		for j := range found {
			if n.component != nil && found[j].ComponentID == n.component.ID && found[j].Language == n.language {
				m.Rows[i].Author = found[j].LastAuthor
			}
		}
	}
	return err
}
