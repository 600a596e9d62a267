package web

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/repoglot/repoglot/api/resource"
	"github.com/repoglot/repoglot/api/rest"
	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store"
)

// front is the page /: the projects, what is broken, what changed.
type front struct {
	Projects   []row
	Components int
	Languages  int
	Changes    []change
	Importing  []importing
	Orders     []link
	Pages      paging
}

// Bounds of lists.
const (
	maxProjects = 100
	newest      = 12
)

func (p *Pages) front(ctx context.Context, snap *store.Snapshot, _ *rest.Request, v *view) error {
	v.Title, v.Heading = "repoglot", v.L.T("Translations from git repositories")
	v.feeds()
	projects, err := resource.VisibleProjects(ctx, snap)
	if err != nil {
		return err
	}
	rows, err := resource.VisibleComponents(ctx, snap, "")
	if err != nil {
		return err
	}
	counts, err := count(ctx, snap, rows, "")
	if err != nil {
		return err
	}
	f := front{Components: len(rows), Importing: p.importingOf(ctx, rows, v), Orders: v.orders()}
	list, languages := projectRows(v, projects, rows, counts)
	f.Languages = languages
	f.Pages, f.Projects = cutPage(v, "page", list, maxProjects)
	if v.Problems, err = problemsOf(ctx, snap, rows, true); err != nil {
		return err
	}
	f.Changes, err = p.newestOf(ctx, snap, v, rows, counts, &catalog.Project{})
	v.Body = f
	return err
}

// newestOf reads the newest changes of a project, or of all with the zero one: those with the
// highest ids, and the newest of the components that changed last.
func (p *Pages) newestOf(ctx context.Context, snap *store.Snapshot, v *view, rows []*store.ComponentRow, counts []counted, project *catalog.Project) ([]change, error) {
	q, err := resource.WithoutHidden(ctx, snap, store.ChangeQuery{ProjectID: project.ID, Newest: true, Limit: newest}, project.Slug)
	if err != nil {
		return nil, err
	}
	all, err := snap.Changes(ctx, q)
	if err != nil {
		return nil, err
	}
	last := map[int64]time.Time{}
	for i := range counts {
		if c := &counts[i]; c.Last.After(last[c.component.ID]) {
			last[c.component.ID] = c.Last
		}
	}
	rows = slices.Clone(rows)
	slices.SortStableFunc(rows, func(a, b *store.ComponentRow) int { return last[b.ID].Compare(last[a.ID]) })
	for _, c := range rows[:min(len(rows), newest)] {
		of, err := snap.Changes(ctx, store.ChangeQuery{ComponentID: c.ID, Newest: true, Limit: newest})
		if err != nil {
			return nil, err
		}
		all = append(all, of...)
	}
	slices.SortFunc(all, catalog.CompareNewest)
	all = slices.CompactFunc(all, func(a, b catalog.Change) bool { return a.ID == b.ID })
	return p.changes(ctx, snap, v, all[:min(len(all), newest)])
}

// projectRows adds up counts by project, and counts the languages of all.
func projectRows(v *view, projects []catalog.Project, rows []*store.ComponentRow, counts []counted) (list []row, languages int) {
	index := make(map[int64]*row, len(projects))
	list = make([]row, len(projects))
	for i := range projects {
		list[i] = row{Name: cmp.Or(projects[i].Settings.Name, projects[i].Slug), URL: path("projects", projects[i].Slug)}
		index[projects[i].ID] = &list[i]
	}
	for _, c := range rows {
		if r := index[c.ProjectID]; r != nil {
			r.Components++
		}
	}
	type pair struct {
		project  int64
		language string
	}
	seen, all := map[pair]bool{}, map[string]bool{}
	for i := range counts {
		c := &counts[i]
		r := index[c.component.ProjectID]
		if r == nil {
			continue
		}
		r.add(c.tally)
		key := pair{c.component.ProjectID, c.language}
		if !seen[key] {
			seen[key], all[c.language] = true, true
			r.Languages++
		}
	}
	for i := range list {
		list[i].inTranslations(v, list[i].Languages, list[i].Components)
	}
	sorted(list, v.order())
	return list, len(all)
}

// paging says which part of a list is shown, and where the others are.
type paging struct {
	From, To, Count             int
	First, Previous, Next, Last string
}

// offset is the number of entries before the part.
func (p paging) offset() int { return max(p.From-1, 0) }

// cutPage cuts the part of a list that the parameter name asks for.
func cutPage[T any](v *view, name string, list []T, size int) (paging, []T) {
	pg := window(v, name, int64(len(list)), size)
	return pg, list[pg.offset():pg.To]
}

// window finds the part of a list of count entries that the parameter name asks for.
func window(v *view, name string, count int64, size int) paging {
	pages := max(1, (int(count)+size-1)/size)
	n := min(v.number(name), pages)
	pg := paging{From: (n-1)*size + 1, To: min(n*size, int(count)), Count: int(count)}
	if count == 0 {
		pg.From = 0
	}
	if n > 1 {
		pg.First, pg.Previous = v.pageOf(name, 1), v.pageOf(name, n-1)
	}
	if n < pages {
		pg.Next, pg.Last = v.pageOf(name, n+1), v.pageOf(name, pages)
	}
	return pg
}

// projectsPage is /projects/: all projects.
func (p *Pages) projects(ctx context.Context, snap *store.Snapshot, r *rest.Request, v *view) error {
	if err := p.front(ctx, snap, r, v); err != nil {
		return err
	}
	v.named(v.L.T("Projects"), "repoglot")
	return nil
}
