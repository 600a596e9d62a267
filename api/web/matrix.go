package web

import (
	"context"
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
	Rows       []row
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

type column struct {
	*store.ComponentRow
	Strings int64
	Bare    bool // it has no template
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

func (p *Pages) matrix(ctx context.Context, snap *store.Snapshot, _ *rest.Request, v *view, project *catalog.Project) error {
	v.named(project.Settings.Name, "repoglot")
	rows, counts, err := countByName(ctx, snap, project.Slug, "")
	if err != nil {
		return err
	}
	sources, err := snap.Sources(ctx, resource.ImportedIDs(rows))
	if err != nil {
		return err
	}
	m := matrix{Project: *project, Importing: p.importingOf(ctx, rows, v), Orders: v.orders(), Filters: filters(v), Filter: strings.TrimSpace(v.param("lang")), Kept: v.kept("sort", "only"), Components: len(rows)}
	languages := p.matrixRows(v, counts, &m)
	var columns []column
	for _, c := range rows {
		if c.Imported {
			columns = append(columns, column{c, sources[c.ID].Strings().Units, !sources[c.ID].HasTemplate})
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
	m.Changes, err = p.newestOf(ctx, snap, v, rows, counts, project)
	v.Body = m
	return err
}

func aboutProject(v *view, project *catalog.Project) {
	v.Crumbs = append(v.Crumbs, link{Name: project.Settings.Name, URL: path("projects", project.Slug)})
	v.feeds(project.Slug)
}

// filters are the choices of rows.
func filters(v *view) []link {
	return v.choices("only", v.param("only"),
		choice{"", v.L.T("all languages")}, choice{"unfinished", v.L.T("unfinished")}, choice{"failing", v.L.T("with failing checks")})
}

// filtered reports whether the filter that the page's address names leaves out what t counts.
func (v *view) filtered(t *tally) bool {
	only := v.param("only")
	return only == "unfinished" && t.Left() == 0 || only == "failing" && t.Failing == 0
}

// matrixRows adds up counts by language, filters and sorts.
func (p *Pages) matrixRows(v *view, counts []counted, m *matrix) []row {
	for i := range counts {
		m.About.add(counts[i].tally)
	}
	list := p.languageRows(v, counts, m.Components)
	m.Languages = len(list)
	m.About.inTranslations(v, m.Languages, m.Components)
	wanted := strings.ToLower(m.Filter)
	list = slices.DeleteFunc(list, func(r row) bool {
		return v.filtered(&r.tally) || !strings.Contains(strings.ToLower(r.Name+" "+r.Code+" "+p.env.Language(r.Code).Name), wanted)
	})
	for i := range list {
		list[i].URL = path("languages", list[i].Code, m.Project.Slug)
	}
	sorted(list, v.order())
	return list
}

// fillCells reads the translations that the page shows, how they were 30 days ago, and
// who changed each language last.
func (p *Pages) fillCells(ctx context.Context, snap *store.Snapshot, v *view, m *matrix, sources map[int64]*catalog.Translation) error {
	at, ids := map[int64]int{}, make([]int64, len(m.Columns))
	for i := range m.Columns {
		ids[i] = m.Columns[i].ID
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
	wanted := rest.Objects(translations, func(t *catalog.Translation) int64 { return t.ID })
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
	codes := make([]string, len(m.Rows))
	for i := range m.Rows {
		codes[i] = m.Rows[i].Code
		if id := m.Rows[i].component.ID; !slices.Contains(components, id) {
			components = append(components, id)
		}
	}
	if len(components) > 8 { // more would read more rows than the page shows
		components = components[:8]
	}
	found, err := snap.TranslationsIn(ctx, components, codes)
	for i := range m.Rows {
		for j := range found {
			if found[j].ComponentID == m.Rows[i].component.ID && found[j].Language == m.Rows[i].Code {
				m.Rows[i].Author = found[j].LastAuthor
			}
		}
	}
	return err
}
