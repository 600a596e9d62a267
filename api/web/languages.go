package web

import (
	"context"
	"slices"
	"strings"

	"github.com/repoglot/repoglot/api/resource"
	"github.com/repoglot/repoglot/api/rest"
	"github.com/repoglot/repoglot/api/web/chart"
	"github.com/repoglot/repoglot/api/wire"
	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/lang"
	"github.com/repoglot/repoglot/catalog/store"
)

func (p *Pages) languages(ctx context.Context, snap *store.Snapshot, _ *rest.Request, v *view) error {
	v.named(v.L.T("Languages"), "repoglot")
	components, counts, err := count(ctx, snap, "", "")
	rows := p.languageRows(v, counts, len(components))
	for i := range rows {
		rows[i].URL = path("languages", rows[i].Code)
	}
	sorted(rows, v.order())
	v.Body = rows
	return err
}

type language struct {
	Language  lang.Language
	Projects  []languageProject
	Only      string // the project that the page is about, or ""
	EngageURL string
	Following *following // nil for who is not signed in
	Begin     []link     // projects to begin it in, if no component has it
}

type languageProject struct {
	row
	Downloads []link
	Rows      []row
}

func (p *Pages) language(ctx context.Context, snap *store.Snapshot, r *rest.Request, v *view) error {
	l, err := p.env.VisibleLanguage(ctx, snap, r)
	if err != nil {
		return err
	}
	o := language{Language: l}
	name := p.nameOf(v.L, l.Code)
	v.Crumbs = []link{{Name: v.L.T("Languages"), URL: path("languages")}, {Name: name, URL: path("languages", l.Code)}}
	v.feeds("language", l.Code)
	v.named(name, "repoglot")
	if slug := r.PathParam("project"); slug != "" {
		project, err := resource.VisibleProject(ctx, snap, r)
		if err != nil {
			return err
		}
		v.named(name, project.Settings.Name)
		o.Only, v.Sub = slug, project.Settings.Name
		v.Crumbs = append(v.Crumbs, link{Name: project.Settings.Name, URL: path("languages", l.Code, slug)})
		o.EngageURL = path("engage", slug, l.Code)
	}
	if o.Following, err = p.fillFollowing(ctx, snap, v, l.Code, o.Only); err != nil {
		return err
	}
	rows, counts, err := count(ctx, snap, o.Only, l.Code)
	if err != nil {
		return err
	}
	if o.Only != "" && v.param("suggestions") != "" {
		translations, err := snap.TranslationsIn(ctx, resource.ImportedIDs(rows), []string{l.Code})
		if err != nil {
			return err
		}
		return p.review(ctx, snap, v, resource.ImportedIDs(rows), rest.Objects(translations, func(t *catalog.Translation) int64 { return t.ID }))
	}
	list := slices.DeleteFunc(counts, func(r row) bool { return r.Code != l.Code })
	for i := range list {
		r := &list[i]
		c := r.component
		v.About.add(r.tally)
		r.Name, r.key = c.Settings.Name, c.Project.Settings.Name+"\x00"+c.Settings.Name
		r.URL, r.StringsURL = path("projects", c.Project.Slug, c.Slug, l.Code), path("translate", c.Project.Slug, c.Slug, l.Code)
	}
	v.About.inComponents(v, len(rows))
	if len(list) == 0 {
		if v.Body = &o; o.Only != "" {
			v.Next = o.EngageURL
		}
		for _, c := range rows {
			if to := (link{Name: c.Project.Settings.Name, URL: path("engage", c.Project.Slug, l.Code)}); !slices.Contains(o.Begin, to) {
				o.Begin = append(o.Begin, to)
			}
		}
		return nil
	}
	list = slices.DeleteFunc(list, func(r row) bool { return v.filtered(&r.tally) })
	sorted(list, v.order())
	v.Pages, list = cutPage(v, "page", list, componentsOnPage)
	if err := fillLanguageRows(ctx, snap, v, &o, list, rows); err != nil {
		return err
	}
	v.Body = o
	if o.Only != "" {
		return nil
	}
	entries, err := snap.NewestInLanguage(ctx, resource.ImportedIDs(rows), l.Code, newest)
	if err != nil {
		return err
	}
	return p.changes(ctx, snap, v, entries)
}

// fillLanguageRows reads the curves and authors of the components that are shown, and
// adds them up by project; components are all that could have the language.
func fillLanguageRows(ctx context.Context, snap *store.Snapshot, v *view, o *language, list []row, components []*store.ComponentRow) error {
	ids := rest.Objects(list, func(r *row) int64 { return r.component.ID })
	translations, err := snap.TranslationsIn(ctx, ids, []string{o.Language.Code})
	if err != nil {
		return err
	}
	byComponent, wanted := map[int64]*catalog.Translation{}, []int64{}
	for i := range translations {
		byComponent[translations[i].ComponentID] = &translations[i]
		wanted = append(wanted, translations[i].ID)
	}
	from := v.now.AddDate(0, 0, -sparkDays)
	series, err := curves(ctx, snap, ids, wanted, from)
	if err != nil {
		return err
	}
	index := map[string]int{}
	for i := range list {
		c := &list[i]
		if t := byComponent[c.component.ID]; t != nil {
			c.Author = t.LastAuthor
			if s := series[t.ID]; s != nil {
				c.Spark = chart.Spark(s, from, v.now, v.L.T("Translated strings in the last 90 days"))
			}
		}
		project := &c.component.Project
		at, ok := index[project.Slug]
		if !ok {
			at = len(o.Projects)
			index[project.Slug] = at
			file := wire.Path("api", "projects", project.Slug, "languages", o.Language.Code) + "file/"
			o.Projects = append(o.Projects, languageProject{
				row:       row{Name: project.Settings.Name, URL: path("projects", project.Slug)},
				Downloads: []link{{Name: "ZIP", URL: file}, {Name: "TMX", URL: file + "?format=zip:tmx"}},
			})
		}
		o.Projects[at].Rows = append(o.Projects[at].Rows, *c)
		o.Projects[at].add(c.tally)
	}
	of := map[string]int{}
	for _, c := range components {
		of[path("projects", c.Project.Slug)]++
	}
	for i := range o.Projects {
		o.Projects[i].inComponents(v, of[o.Projects[i].URL])
	}
	return nil
}

type engage struct {
	Project  catalog.Project
	Language lang.Language // of the invitation; its Code is "" without one
	Rows     []row
	Places   []row  // components to begin with
	Lack     []link // components that lack the language, or, without one, all
	Licenses []string
	Edits    bool // whether a component takes edits
	Web      string

	Components, Languages int
}

func (p *Pages) engage(ctx context.Context, snap *store.Snapshot, r *rest.Request, v *view, project *catalog.Project) (err error) {
	o := engage{Project: *project}
	if isWeb(project.Settings.Web) {
		o.Web = project.Settings.Web
	}
	v.Heading = v.L.T("Help to translate %s", project.Settings.Name)
	if r.PathParam("language") != "" {
		if o.Language, err = p.env.VisibleLanguage(ctx, snap, r); err != nil {
			return err
		}
		v.Heading = v.L.T("Help to translate %[1]s into %[2]s", project.Settings.Name, p.nameOf(v.L, o.Language.Code))
	}
	v.Title = v.Heading
	rows, counts, err := count(ctx, snap, project.Slug, o.Language.Code)
	if err != nil {
		return err
	}
	o.Components = len(rows)
	has := map[*store.ComponentRow]bool{}
	for i := range counts {
		has[counts[i].component] = has[counts[i].component] || counts[i].Code == o.Language.Code
	}
	for _, c := range rows {
		o.Edits = o.Edits || p.env.Edits != nil && c.Settings.Edits.Taken()
		if c.Imported && !has[c] {
			o.Lack = append(o.Lack, link{Name: c.Settings.Name, URL: strings.TrimSuffix(beginURL(project.Slug, c.Slug, o.Language.Code), "?lang=")})
		}
		if license := c.Settings.License; license != "" && !slices.Contains(o.Licenses, license) {
			o.Licenses = append(o.Licenses, license)
		}
	}
	v.Body = &o
	if code := o.Language.Code; code != "" {
		o.Places = slices.DeleteFunc(counts, func(r row) bool { return r.Code != code })
		for i := range o.Places {
			r := &o.Places[i]
			v.About.add(r.tally)
			if r.Name, r.URL = r.component.Settings.Name, path("translate", project.Slug, r.component.Slug, code); r.Listed() > 0 {
				r.URL += "?q=is:untranslated"
			} else if r.Missing > 0 {
				r.URL += "?missing=1"
			}
		}
		v.About.inComponents(v, len(rows))
		return nil
	}
	for i := range counts {
		v.About.add(counts[i].tally)
	}
	o.Rows = p.languageRows(v, counts, len(rows))
	o.Languages = len(o.Rows)
	v.About.inTranslations(v, o.Languages, len(rows))
	for i := range o.Rows {
		o.Rows[i].URL, o.Rows[i].key = path("engage", project.Slug, o.Rows[i].Code), strings.ToLower(o.Rows[i].Name)
	}
	sorted(o.Rows, "")
	return nil
}
