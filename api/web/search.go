package web

import (
	"cmp"
	"context"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/repoglot/repoglot/api/resource"
	"github.com/repoglot/repoglot/api/rest"
	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/query"
	"github.com/repoglot/repoglot/catalog/store"
)

// search is strings of the whole server, by source, in up to two languages.
type search struct {
	Query, Lang, Lang2 string
	Wrong              string
	Groups             []group
	Columns            []string // codes of the languages shown
	Languages          []link   // to choose from; URL is the code
	Named              []link   // projects, components and languages with that name

	words *regexp.Regexp // that are looked for; nil: none
}

// Marked shows the forms of a text with the words that are looked for.
func (o search) Marked(text string) (list [][]span) {
	for _, form := range showForms(text) {
		var spans []span
		at := 0
		if o.words != nil {
			for _, hit := range o.words.FindAllStringIndex(form, -1) {
				spans = append(spans, span{Text: form[at:hit[0]]}, span{Kind: "mark", Text: form[hit[0]:hit[1]]})
				at = hit[1]
			}
		}
		list = append(list, append(spans, span{Text: form[at:]}))
	}
	return list
}

// wordsOf matches what a query looks for in sources and targets, in any case; nil: no words.
func wordsOf(expr query.Expr) *regexp.Regexp {
	var words []string
	query.Has(expr, func(term query.Expr) bool {
		t, ok := term.(query.Text)
		if ok && t.Match.Kind != query.Regexp && t.Match.Pattern != "" && slices.Contains([]query.Column{"", query.Source, query.Target}, t.Column) {
			words = append(words, regexp.QuoteMeta(t.Match.Pattern))
		}
		return false
	})
	if len(words) == 0 {
		return nil
	}
	return regexp.MustCompile("(?i)" + strings.Join(words, "|"))
}

// fillNamed finds languages, projects and components whose name or code has the query.
func (o *search) fillNamed(components map[int64]*store.ComponentRow) {
	add := func(name, code string, to ...string) {
		has := func(s string) bool { return strings.Contains(strings.ToLower(s), strings.ToLower(o.Query)) }
		if l := (link{Name: name, URL: path(to...)}); (has(name) || has(code)) && len(o.Named) < maxNamed && !slices.Contains(o.Named, l) {
			o.Named = append(o.Named, l)
		}
	}
	for _, l := range o.Languages {
		add(l.Name, l.URL, "languages", l.URL)
	}
	rows := slices.SortedFunc(maps.Values(components), func(a, b *store.ComponentRow) int { return cmp.Compare(a.ID, b.ID) })
	for _, c := range rows {
		add(c.Project.Settings.Name, c.Project.Slug, "projects", c.Project.Slug)
	}
	for _, c := range rows {
		add(where(c), c.Slug, "projects", c.Project.Slug, c.Slug)
	}
}

// group is one source text, wherever it occurs.
type group struct {
	Source     string
	Context    string
	SourceLang string
	Places     []groupPlace
	Different  bool // whether a language says it differently in two places
}

type groupPlace struct {
	Where, URL string
	Said       []said // one for each column; Code "" where there is none
}

func (p *Pages) search(ctx context.Context, snap *store.Snapshot, r *rest.Request, v *view) error {
	o := search{Query: strings.TrimSpace(v.param("q")), Lang: v.param("lang"), Lang2: v.param("lang2")}
	v.named(v.L.T("Search"), "repoglot")
	v.Query = o.Query
	if o.Query != "" {
		v.Title = o.Query + " · " + v.Title
		v.API = "/api/units/?q=" + url.QueryEscape(o.Query)
	}
	components, ids, err := resource.ServedComponents(ctx, snap)
	if err != nil {
		return err
	}
	codes, err := snap.Languages(ctx, ids)
	if err != nil {
		return err
	}
	p.searchLanguages(v, &o, codes)
	if o.Query != "" {
		o.fillNamed(components)
		if o.Wrong, err = wrongQuery(p.runSearch(ctx, snap, r, v, &o, components)); err != nil {
			return err
		}
	}
	v.Body = o
	return nil
}

// searchLanguages are the languages to choose from; the reader's are the first columns.
func (p *Pages) searchLanguages(v *view, o *search, codes []string) {
	slices.SortStableFunc(codes, func(a, b string) int { return v.reads(b) - v.reads(a) })
	for _, code := range codes {
		o.Languages = append(o.Languages, link{Name: p.nameOf(v.L, code), URL: code})
	}
	for _, chosen := range []*string{&o.Lang, &o.Lang2} {
		if !slices.Contains(codes, *chosen) {
			i := slices.IndexFunc(codes, func(code string) bool {
				return (*chosen != "" || o.Query != "") && v.reads(code) > 0 && !slices.Contains(o.Columns, code) && code != "en"
			})
			if *chosen = ""; i >= 0 {
				*chosen = codes[i]
			}
		}
		if *chosen != "" && !slices.Contains(o.Columns, *chosen) {
			o.Columns = append(o.Columns, *chosen)
		}
	}
}

// runSearch finds strings: with words, in the source or in the chosen languages.
func (p *Pages) runSearch(ctx context.Context, snap *store.Snapshot, r *rest.Request, v *view, o *search, components map[int64]*store.ComponentRow) error {
	expr, err := resource.UnitQuery(r)
	if err != nil {
		return err
	}
	o.words = wordsOf(expr)
	found, err := snap.Search(ctx, store.SearchQuery{Components: components, Expr: inLanguages(expr, o.Columns, components)})
	if err != nil {
		return err
	}
	v.Pages = window(v, "page", found.Count(), groupsOnPage)
	units, _, err := found.Page(ctx, int64(v.Pages.offset()), groupsOnPage)
	if err != nil {
		return err
	}
	return p.groups(ctx, snap, o, units, components)
}

// inLanguages limits a search to the languages that the page shows, or without one to
// the source languages, unless it names a language itself.
func inLanguages(expr query.Expr, columns []string, components map[int64]*store.ComponentRow) query.Expr {
	if query.Has(expr, func(term query.Expr) bool {
		of, ok := term.(query.Scope)
		return ok && (of.Level == query.Language || of.Level == query.SourceLanguage)
	}) {
		return expr
	}
	if len(columns) == 0 {
		for _, c := range components {
			columns = append(columns, c.Settings.SourceLanguage)
		}
		slices.Sort(columns)
		columns = slices.Compact(columns)
	}
	some := query.Or{}
	for _, code := range columns[:min(len(columns), 8)] {
		if e, err := query.Parse(`language:=` + query.Quote(code)); err == nil {
			some = append(some, e)
		}
	}
	switch len(some) {
	case 0:
		return expr
	case 1:
		return query.And{some[0], expr}
	}
	return query.And{some, expr}
}

// groups puts the strings with the same source side by side.
func (p *Pages) groups(ctx context.Context, snap *store.Snapshot, o *search, units []catalog.Unit, components map[int64]*store.ComponentRow) error {
	var sources []catalog.Unit
	var of []int64
	seen := map[int64]bool{}
	for i := range units {
		if u := units[i]; !seen[u.SourceID] {
			seen[u.SourceID] = true
			u.ID = u.SourceID
			sources, of = append(sources, u), append(of, u.SourceID/catalog.UnitsPerComponent)
		}
	}
	all := map[int64][]store.Said{}
	if len(o.Columns) > 0 {
		list, err := snap.SaidIn(ctx, sources, of, o.Columns)
		if err != nil {
			return err
		}
		for i := range list {
			all[list[i].Unit.SourceID] = append(all[list[i].Unit.SourceID], list[i])
		}
	}
	index := map[string]int{}
	for i := range sources {
		u := &sources[i]
		c := components[u.ID/catalog.UnitsPerComponent]
		key := u.Source + "\x00" + u.Context
		at, ok := index[key]
		if !ok {
			at = len(o.Groups)
			index[key] = at
			o.Groups = append(o.Groups, group{Source: u.Source, Context: visible(u.Context), SourceLang: c.Settings.SourceLanguage})
		}
		o.Groups[at].Places = append(o.Groups[at].Places, p.placeOf(o, u, c, all[u.ID]))
	}
	for i := range o.Groups {
		g, texts := &o.Groups[i], map[string]string{} // by language
		for _, place := range g.Places {
			for _, s := range place.Said {
				before := texts[s.Code]
				g.Different = g.Different || before != "" && s.Target != "" && s.Target != before
				texts[s.Code] = cmp.Or(s.Target, before)
			}
		}
	}
	slices.SortStableFunc(o.Groups, func(a, b group) int { return a.untranslated() - b.untranslated() })
	return nil
}

// untranslated is 1 if no place has a text in a language of the page, otherwise 0.
func (g *group) untranslated() int {
	for _, place := range g.Places {
		if slices.ContainsFunc(place.Said, func(s said) bool { return !catalog.EmptyForms(s.Target) }) {
			return 0
		}
	}
	return 1
}

// placeOf shows what a component says in the languages of the page.
func (p *Pages) placeOf(o *search, u *catalog.Unit, c *store.ComponentRow, texts []store.Said) groupPlace {
	checksum := catalog.Checksum(u.Identity.Hash)
	language := c.Settings.SourceLanguage
	if len(o.Columns) > 0 {
		language = o.Columns[0]
	}
	g := groupPlace{Where: where(c), Said: make([]said, len(o.Columns))}
	for i := range texts {
		if at := slices.Index(o.Columns, texts[i].Language); at >= 0 {
			g.Said[at] = saidIn(c, &texts[i], checksum)
		}
	}
	if len(texts) > 0 && g.Said[0].Code == "" {
		language = texts[0].Language
	}
	g.URL = path("translate", c.Project.Slug, c.Slug, language) + "?checksum=" + checksum
	return g
}
