package web

import (
	"context"
	"html/template"
	"maps"
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

// languages is the page of all languages.
type languages struct {
	Rows   []languageSum
	Orders []link
}

// languageSum is a language with what is done in it.
type languageSum struct {
	tally
	Code, Name, URL      string
	Projects, Components int
}

func (p *Pages) languages(ctx context.Context, snap *store.Snapshot, _ *rest.Request, v *view) error {
	v.Heading, v.Title = v.L.T("Languages"), v.L.T("Languages")+" · repoglot"
	rows, err := resource.VisibleComponents(ctx, snap, "")
	if err != nil {
		return err
	}
	counts, err := count(ctx, snap, rows, "")
	if err != nil {
		return err
	}
	index := map[string]*languageSum{}
	type pair struct {
		code    string
		project int64
	}
	seen := map[pair]bool{}
	for i := range counts {
		c := &counts[i]
		l := index[c.language]
		if l == nil {
			l = &languageSum{Code: c.language, Name: v.L.LanguageName(c.language, p.env.Language(c.language).Name), URL: path("languages", c.language)}
			index[c.language] = l
		}
		l.add(c.tally)
		l.Components++
		if key := (pair{c.language, c.component.ProjectID}); !seen[key] {
			seen[key] = true
			l.Projects++
		}
	}
	o := languages{Orders: v.orders()}
	for _, code := range slices.Sorted(maps.Keys(index)) {
		index[code].inComponents(v, len(rows))
		o.Rows = append(o.Rows, *index[code])
	}
	sorted(o.Rows, v.order(), func(l languageSum) int { return v.reads(l.Code) }, func(l languageSum) string { return l.Name }, func(l languageSum) tally { return l.tally })
	v.Body = o
	return nil
}

// language is everything in one language.
type language struct {
	Language  lang.Language
	About     tally
	Projects  []languageProject
	Pages     paging
	Orders    []link
	Changes   []change
	Only      string // the project that the page is about, or ""
	EngageURL string
}

// languageProject is a project in a language.
type languageProject struct {
	tally
	Name, URL string
	Downloads []link
	Rows      []languageComponent
}

// languageComponent is a component in a language.
type languageComponent struct {
	tally
	Name, URL, StringsURL, FailingURL, ProjectName string
	Author                                         string
	Spark                                          template.HTML

	project *catalog.Project
	id      int64 // of the component
}

// sparkDays is the length of the small curves of a language's page.
const sparkDays = 90

// componentsOnPage is the number of components on the page of a language.
const componentsOnPage = 200

func (p *Pages) language(ctx context.Context, snap *store.Snapshot, r *rest.Request, v *view) error {
	l, err := p.env.VisibleLanguage(ctx, snap, r.PathParam("language"))
	if err != nil {
		return err
	}
	o := language{Language: l, Orders: v.orders()}
	name := p.nameOf(v.L, l.Code)
	v.Crumbs = []link{{Name: v.L.T("Languages"), URL: path("languages")}, {Name: name, URL: path("languages", l.Code)}}
	v.Feeds = []link{{Name: "Atom", URL: path("exports", "atom", "language", l.Code)}, {Name: "RSS", URL: path("exports", "rss", "language", l.Code)}}
	v.Heading, v.Title = name, name+" · repoglot"
	if slug := r.PathParam("project"); slug != "" {
		project, err := resource.VisibleProject(ctx, snap, r)
		if err != nil {
			return err
		}
		o.Only, v.Sub, v.Title = slug, project.Settings.Name, name+" · "+project.Settings.Name
		v.Crumbs = append(v.Crumbs, link{Name: project.Settings.Name, URL: path("languages", l.Code, slug)})
		o.EngageURL = path("engage", slug, l.Code)
	}
	rows, err := resource.VisibleComponents(ctx, snap, o.Only)
	if err != nil {
		return err
	}
	counts, err := count(ctx, snap, rows, l.Code)
	if err != nil {
		return err
	}
	list := p.languageComponents(v, &o, counts)
	o.About.inComponents(v, len(rows))
	if len(list) == 0 {
		return rest.ErrNotFound
	}
	o.Pages, list = cutPage(v, "page", list, componentsOnPage)
	if err := p.fillLanguageRows(ctx, snap, v, &o, list); err != nil {
		return err
	}
	if o.Only == "" {
		entries, err := snap.NewestInLanguage(ctx, resource.ImportedIDs(rows), l.Code, newest)
		if err != nil {
			return err
		}
		if o.Changes, err = p.changes(ctx, snap, v, entries); err != nil {
			return err
		}
	}
	v.Body = o
	return nil
}

// languageComponents are the components in a language, by project.
func (p *Pages) languageComponents(v *view, o *language, counts []counted) (list []languageComponent) {
	for i := range counts {
		c := &counts[i]
		if c.language != o.Language.Code {
			continue
		}
		o.About.add(c.tally)
		project := &c.component.Project
		list = append(list, languageComponent{
			tally: c.tally, Name: c.component.Settings.Name, ProjectName: project.Settings.Name,
			URL: path("projects", project.Slug, c.component.Slug, c.language), StringsURL: path("translate", project.Slug, c.component.Slug, c.language),
			project: project, id: c.component.ID,
		})
	}
	sorted(list, v.order(), func(languageComponent) int { return 0 }, func(c languageComponent) string { return c.ProjectName + "\x00" + c.Name }, func(c languageComponent) tally { return c.tally })
	return list
}

// fillLanguageRows reads the curves and authors of the components that are shown, and
// adds them up by project.
func (p *Pages) fillLanguageRows(ctx context.Context, snap *store.Snapshot, v *view, o *language, list []languageComponent) error {
	ids := make([]int64, len(list))
	for i := range list {
		ids[i] = list[i].id
	}
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
	curves := map[int64]*chart.Series{}
	err = snap.Curves(ctx, ids, wanted, func(d store.StatDay) {
		s := curves[d.TranslationID]
		if s == nil {
			s = &chart.Series{}
			curves[d.TranslationID] = s
		}
		if d.Day.Before(from) { // the value with which the time begins
			d.Day = from
			if n := len(s.Days); n > 0 && s.Days[n-1].Equal(from) {
				s.Values[n-1] = d.Stats.Translated.Units
				return
			}
		}
		s.Days, s.Values = append(s.Days, d.Day), append(s.Values, d.Stats.Translated.Units)
	})
	if err != nil {
		return err
	}
	index := map[string]int{}
	for i := range list {
		c := &list[i]
		if t := byComponent[c.id]; t != nil {
			c.Author = t.LastAuthor
			if s := curves[t.ID]; s != nil {
				c.Spark = chart.Spark(s, from, v.now, v.L.T("Translated strings in the last 90 days"))
			}
		}
		at, ok := index[c.project.Slug]
		if !ok {
			at = len(o.Projects)
			index[c.project.Slug] = at
			file := wire.Path("api", "projects", c.project.Slug, "languages", o.Language.Code) + "file/"
			o.Projects = append(o.Projects, languageProject{
				Name: c.ProjectName, URL: path("projects", c.project.Slug),
				Downloads: []link{{Name: "ZIP", URL: file}, {Name: "TMX", URL: file + "?format=zip:tmx"}},
			})
		}
		o.Projects[at].Rows = append(o.Projects[at].Rows, *c)
		o.Projects[at].add(c.tally)
	}
	return nil
}

// beginning is a component to begin with.
type beginning struct {
	tally
	Name, URL string
}

// engage is an invitation to a project.
type engage struct {
	Project  catalog.Project
	Language lang.Language // of the invitation; its Code is "" without one
	About    tally
	Rows     []languageSum
	Places   []beginning // where to begin
	Components,
	Languages int
	Licenses []string
	Edits    bool // whether a component takes edits
	Web      string
}

func (p *Pages) engage(ctx context.Context, snap *store.Snapshot, r *rest.Request, v *view) error {
	project, err := resource.VisibleProject(ctx, snap, r)
	if err != nil {
		return err
	}
	p.aboutProject(v, &project)
	o := engage{Project: project}
	if isWeb(project.Settings.Web) {
		o.Web = project.Settings.Web
	}
	v.Heading = v.L.T("Help to translate %s", project.Settings.Name)
	if code := r.PathParam("language"); code != "" {
		if o.Language, err = p.env.VisibleLanguage(ctx, snap, code); err != nil {
			return err
		}
		v.Heading = v.L.T("Help to translate %[1]s into %[2]s", project.Settings.Name, p.nameOf(v.L, o.Language.Code))
	}
	v.Title = v.Heading
	rows, err := resource.VisibleComponents(ctx, snap, project.Slug)
	if err != nil {
		return err
	}
	rows = componentsByName(rows)
	o.Components = len(rows)
	seen := map[string]bool{}
	for _, c := range rows {
		o.Edits = o.Edits || p.env.Edits != nil && c.Settings.Edits.Taken()
		if license := c.Settings.License; license != "" && !seen[license] {
			seen[license] = true
			o.Licenses = append(o.Licenses, license)
		}
	}
	counts, err := count(ctx, snap, rows, o.Language.Code)
	if err != nil {
		return err
	}
	p.fillEngage(v, &o, counts)
	if o.Language.Code != "" && len(o.Places) == 0 && o.About.Total == 0 {
		return rest.ErrNotFound
	}
	v.Body = o
	return nil
}

func (p *Pages) fillEngage(v *view, o *engage, counts []counted) {
	index := map[string]*languageSum{}
	for i := range counts {
		c := &counts[i]
		if o.Language.Code != "" && c.language != o.Language.Code {
			continue
		}
		o.About.add(c.tally)
		if o.Language.Code != "" {
			strs := path("translate", o.Project.Slug, c.component.Slug, c.language)
			if c.Listed() > 0 {
				strs += "?q=is:untranslated"
			}
			o.Places = append(o.Places, beginning{tally: c.tally, Name: c.component.Settings.Name, URL: strs})
			continue
		}
		l := index[c.language]
		if l == nil {
			l = &languageSum{Code: c.language, Name: v.L.LanguageName(c.language, p.env.Language(c.language).Name), URL: path("engage", o.Project.Slug, c.language)}
			index[c.language] = l
		}
		l.add(c.tally)
	}
	o.Languages = len(index)
	if o.Language.Code != "" {
		o.About.inComponents(v, o.Components)
	} else {
		o.About.inTranslations(v, o.Languages, o.Components)
	}
	for _, code := range slices.Sorted(maps.Keys(index)) {
		index[code].inComponents(v, o.Components)
		o.Rows = append(o.Rows, *index[code])
	}
	sorted(o.Rows, byName, func(l languageSum) int { return v.reads(l.Code) }, func(l languageSum) string { return strings.ToLower(l.Name) }, func(l languageSum) tally { return l.tally })
}
