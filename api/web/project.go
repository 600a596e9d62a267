package web

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/repoglot/repoglot/api/resource"
	"github.com/repoglot/repoglot/api/rest"
	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store"
)

// front is the page /: the projects, what is broken, what changed.
type front struct {
	Projects              []row
	Components, Languages int
}

func (p *Pages) front(ctx context.Context, snap *store.Snapshot, _ *rest.Request, v *view) error {
	v.Title, v.Heading = "repoglot", v.L.T("Translations from git repositories")
	v.feeds()
	projects, err := resource.VisibleProjects(ctx, snap)
	if err != nil {
		return err
	}
	rows, counts, err := count(ctx, snap, "", "")
	if err != nil {
		return err
	}
	f := front{Components: len(rows)}
	f.Projects, f.Languages = projectRows(v, projects, rows, counts)
	v.Pages, f.Projects = cutPage(v, "page", f.Projects, projectsOnPage)
	v.Body = f
	return p.fillOverview(ctx, snap, v, rows, counts, &catalog.Project{})
}

// fillOverview reads the problems and the newest changes of a project, or of all with the zero
// one: those with the highest ids, and the newest of the components that changed last.
func (p *Pages) fillOverview(ctx context.Context, snap *store.Snapshot, v *view, rows []*store.ComponentRow, counts []row, project *catalog.Project) error {
	if err := p.fillProblems(ctx, snap, v, rows, true); err != nil {
		return err
	}
	q, err := resource.WithoutHidden(ctx, snap, store.ChangeQuery{ProjectID: project.ID, Limit: newestCommits}, project.Slug)
	if err != nil {
		return err
	}
	all, err := snap.Commits(ctx, q)
	if err != nil {
		return err
	}
	last := map[int64]time.Time{}
	for i := range counts {
		if c := &counts[i]; c.Last.After(last[c.component.ID]) {
			last[c.component.ID] = c.Last
		}
	}
	rows = slices.Clone(rows)
	slices.SortStableFunc(rows, func(a, b *store.ComponentRow) int { return last[b.ID].Compare(last[a.ID]) })
	for _, c := range rows[:min(len(rows), newestCommits)] {
		of, err := snap.Commits(ctx, store.ChangeQuery{ComponentID: c.ID, Limit: newestCommits})
		if err != nil {
			return err
		}
		all = append(all, of...)
	}
	seen := map[[2]string]bool{} // a commit of the list of all has all of its components
	all = slices.DeleteFunc(all, func(c *store.Commit) bool {
		key := [2]string{c.Project, cmp.Or(c.Commit, strconv.FormatInt(c.ID, 10))}
		had := seen[key]
		seen[key] = true
		return had
	})
	slices.SortFunc(all, func(a, b *store.Commit) int { return catalog.CompareNewest(a.Change, b.Change) })
	return p.newestCommits(ctx, snap, v, all[:min(len(all), newestCommits)], func(c *store.Commit) string {
		return path("changes", "browse", c.Project, c.Component) + "?from=" + c.Timestamp.Format(time.DateOnly) + "&to=" + c.Timestamp.Format(time.DateOnly)
	})
}

// projectRows adds up counts by project, and counts the languages of all.
func projectRows(v *view, projects []catalog.Project, rows []*store.ComponentRow, counts []row) (list []row, languages int) {
	index := make(map[int64]*row, len(projects))
	list = make([]row, len(projects))
	for i := range projects {
		list[i] = row{Name: cmp.Or(projects[i].Settings.Name, projects[i].Slug), URL: path("projects", projects[i].Slug)}
		index[projects[i].ID] = &list[i]
	}
	for _, c := range rows {
		index[c.ProjectID].Components++
	}
	seen, all := map[pair]bool{}, map[string]bool{}
	for i := range counts {
		c := &counts[i]
		r := index[c.component.ProjectID]
		r.add(c.tally)
		if key := (pair{c.Code, c.component.ProjectID}); !seen[key] {
			seen[key], all[c.Code] = true, true
			r.Languages++
		}
	}
	for i := range list {
		list[i].inTranslations(v, list[i].Languages, list[i].Components)
	}
	sorted(list, v.order())
	return list, len(all)
}

// projects is the page /projects/: the same with another name.
func (p *Pages) projects(ctx context.Context, snap *store.Snapshot, r *rest.Request, v *view) error {
	if err := p.front(ctx, snap, r, v); err != nil {
		return err
	}
	v.named(v.L.T("Projects"), "repoglot")
	return nil
}

// matrix is the page of a project: languages × components.
type matrix struct {
	Project               catalog.Project
	Columns               []row
	Rows                  []row
	ColPages              paging
	Turned                bool   // the rows are components, of which there are more than languages
	By                    string // the parameter that filters the rows
	Components, Languages int
	Trends                bool // whether a cell says how it changed
}

// cell is a component in a language; URL is "" if it has no such translation.
type cell struct {
	tally
	URL, FailingURL, Column string
	Trend                   int64 // thousandths in 30 days
	Moved                   bool  // whether the component was there 30 days ago
	Fail, Lack, Differ      int64 // of tally: templates look for what is embedded in all that is, in a thousand cells
}

func (p *Pages) matrix(ctx context.Context, snap *store.Snapshot, _ *rest.Request, v *view, project *catalog.Project) error {
	v.named(project.Settings.Name, "repoglot")
	rows, counts, err := count(ctx, snap, project.Slug, "")
	if err != nil {
		return err
	}
	sources, err := snap.Sources(ctx, resource.ImportedIDs(rows))
	if err != nil {
		return err
	}
	m := matrix{Project: *project, Components: len(rows), By: "lang"}
	for i := range counts {
		v.About.add(counts[i].tally)
	}
	languages := p.languageRows(v, counts, len(rows))
	m.Languages = len(languages)
	v.About.inTranslations(v, m.Languages, m.Components)
	for i := range languages {
		languages[i].URL = path("languages", languages[i].Code, project.Slug)
	}
	parts := componentRows(v, rows, counts, sources)
	m.Rows, m.Columns = languages, parts
	if m.Turned = len(parts) > len(languages); m.Turned {
		m.Rows, m.Columns, m.By = parts, languages, "component"
	}
	wanted := strings.ToLower(strings.TrimSpace(v.param(m.By)))
	m.Rows = slices.DeleteFunc(m.Rows, func(r row) bool {
		return v.filtered(&r.tally) || !strings.Contains(strings.ToLower(r.Name+" "+r.Code+" "+p.env.Language(r.Code).Name), wanted)
	})
	sorted(m.Rows, v.order())
	sorted(m.Columns, "")
	m.ColPages, m.Columns = cutPage(v, "cols", m.Columns, maxColumns)
	v.Pages, m.Rows = cutPage(v, "page", m.Rows, min(maxRows, maxCells/max(1, len(m.Columns))))
	if err := fillCells(ctx, snap, v, &m, sources); err != nil {
		return err
	}
	v.Body = m
	return p.fillOverview(ctx, snap, v, rows, counts, project)
}

// componentRows adds up counts by component, of those that are imported.
func componentRows(v *view, rows []*store.ComponentRow, counts []row, sources map[int64]*catalog.Translation) []row {
	sums := map[int64]tally{}
	for i := range counts {
		sum := sums[counts[i].component.ID]
		sum.add(counts[i].tally)
		sums[counts[i].component.ID] = sum
	}
	var list []row
	for _, c := range rows {
		if c.Imported {
			r := row{tally: sums[c.ID], Name: c.Settings.Name, URL: path("projects", c.Project.Slug, c.Slug), Strings: sources[c.ID].Strings().Units, Glossary: c.Settings.IsGlossary, component: c}
			r.inTranslations(v, 1, 1)
			list = append(list, r)
		}
	}
	return list
}

func aboutProject(v *view, project *catalog.Project) {
	v.Crumbs = append(v.Crumbs, link{Name: project.Settings.Name, URL: path("projects", project.Slug)})
	v.feeds(project.Slug)
}

// fillCells reads the translations that the page shows, and how they were 30 days ago. The
// author of a row's last change is named if the page shows where it was.
func fillCells(ctx context.Context, snap *store.Snapshot, v *view, m *matrix, sources map[int64]*catalog.Translation) error {
	at, codeAt, parts, languages := map[int64]int{}, map[string]int{}, m.Columns, m.Rows
	if m.Turned {
		parts, languages = m.Rows, m.Columns
	}
	ids := rest.Objects(parts, func(r *row) int64 { return r.component.ID })
	codes := rest.Objects(languages, func(r *row) string { return r.Code })
	for i, id := range ids {
		at[id] = i
	}
	for i, code := range codes {
		codeAt[code] = i
	}
	for i := range m.Rows {
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
		y, x := codeAt[t.Language], at[t.ComponentID]
		slug := parts[x].component.Slug
		if m.Turned {
			y, x = x, y
		}
		r := &m.Rows[y]
		if r.Author == "" && t.LastChange.Equal(r.Last) { // of the same moment the first one, as languageRows takes it
			r.Author = t.LastAuthor
		}
		c := &r.Cells[x]
		c.tally = tallyOf(t, sources[t.ComponentID])
		c.Fail, c.Lack, c.Differ, c.Column = c.Failing, c.Missing, c.Changed, visible(m.Columns[x].Name)
		c.URL = path("projects", m.Project.Slug, slug, t.Language)
		c.FailingURL = path("translate", m.Project.Slug, slug, t.Language) + "?q=has:check"
		if before, ok := past[t.ID]; ok {
			c.Trend, c.Moved = c.Permille()-int64(c.Past(t, &before).Percent()), true
			m.Trends = m.Trends || c.Trend != 0
		}
	}
	return nil
}
