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
	Projects   []projectRow
	Components int
	Languages  int
	Changes    []change
	Importing  []importing
	Orders     []link
	Pages      paging
}

// projectRow is a project in a list.
type projectRow struct {
	tally
	Slug, Name, URL       string
	Components, Languages int
}

// Bounds of lists.
const (
	maxProjects = 100
	newest      = 12
)

func (p *Pages) front(ctx context.Context, snap *store.Snapshot, _ *rest.Request, v *view) error {
	v.Title, v.Heading = "repoglot", v.L.T("Translations from git repositories")
	v.Feeds = []link{{Name: "Atom", URL: "/exports/atom/"}, {Name: "RSS", URL: "/exports/rss/"}}
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
	list, languages := projectRows(projects, rows, counts)
	f.Languages = languages
	for i := range list {
		if list[i].Files > 0 {
			list[i].inTranslations(v, list[i].Languages, list[i].Components)
		}
	}
	sorted(list, v.order(), func(projectRow) int { return 0 }, func(r projectRow) string { return r.Name }, func(r projectRow) tally { return r.tally })
	f.Pages, f.Projects = cutPage(v, "page", list, maxProjects)
	if v.Problems, err = problemsOf(ctx, snap, rows, true); err != nil {
		return err
	}
	q, err := resource.WithoutHidden(ctx, snap, store.ChangeQuery{Newest: true, Limit: newest}, "")
	if err != nil {
		return err
	}
	entries, err := newestChanges(ctx, snap, rows, counts, q)
	if err != nil {
		return err
	}
	if f.Changes, err = p.changes(ctx, snap, v, entries); err != nil {
		return err
	}
	v.Body = f
	return err
}

// newestChanges finds the newest changes of several components: those that q finds by
// id, and the newest of the components that changed last.
func newestChanges(ctx context.Context, snap *store.Snapshot, rows []*store.ComponentRow, counts []counted, q store.ChangeQuery) ([]catalog.Change, error) {
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
	return all[:min(len(all), newest)], nil
}

// projectRows adds up counts by project, and counts the languages of all.
func projectRows(projects []catalog.Project, rows []*store.ComponentRow, counts []counted) (list []projectRow, languages int) {
	index := make(map[int64]*projectRow, len(projects))
	list = make([]projectRow, len(projects))
	for i := range projects {
		list[i] = projectRow{Slug: projects[i].Slug, Name: cmp.Or(projects[i].Settings.Name, projects[i].Slug), URL: path("projects", projects[i].Slug)}
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
	return list, len(all)
}

// paging says which part of a list is shown, and where the others are.
type paging struct {
	From, To, Count             int
	First, Previous, Next, Last string
}

// cutPage cuts the part of a list that the parameter name asks for.
func cutPage[T any](v *view, name string, list []T, size int) (paging, []T) {
	pg := window(v, name, int64(len(list)), size)
	return pg, list[max(pg.From-1, 0):pg.To]
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
	v.Heading = v.L.T("Projects")
	v.Title = v.Heading + " · repoglot"
	return nil
}

// componentsByName returns components in the order of their names. It copies the list,
// which all snapshots share.
func componentsByName(rows []*store.ComponentRow) []*store.ComponentRow {
	return slices.SortedFunc(slices.Values(rows), func(a, b *store.ComponentRow) int {
		return cmp.Or(cmp.Compare(a.Settings.Name, b.Settings.Name), cmp.Compare(a.ID, b.ID))
	})
}
