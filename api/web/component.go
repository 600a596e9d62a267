package web

import (
	"cmp"
	"context"
	"html/template"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/repoglot/repoglot/api/export"
	"github.com/repoglot/repoglot/api/resource"
	"github.com/repoglot/repoglot/api/rest"
	"github.com/repoglot/repoglot/api/session"
	"github.com/repoglot/repoglot/api/web/chart"
	"github.com/repoglot/repoglot/api/wire"
	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store"
)

type component struct {
	Row       store.ComponentRow
	Strings   catalog.Count // of the template, otherwise of all files together
	SourceURL string
	Rows      []row
	Requests  catalog.Incomings
	Token     string // of the form that merges one, "" for those who may not
	Head      *catalog.Commit
	HeadURL   string
	CloneURL  string
}

// badge is a picture with the text to paste.
type badge struct{ Name, Picture, Markdown, HTML string }

// curve is a chart with its figures.
type curve struct {
	Chart   template.HTML
	Legend  []string
	Columns []string
	Rows    []curveRow
}

type curveRow struct {
	Day    time.Time
	Values []int64
}

func (p *Pages) component(ctx context.Context, snap *store.Snapshot, r *rest.Request, v *view, row *store.ComponentRow) (err error) {
	v.named(row.Settings.Name, row.Project.Settings.Name)
	c := &component{Row: *row}
	v.Body = c
	if err := p.fillProblems(ctx, snap, v, []*store.ComponentRow{row}, false); err != nil || !row.Imported {
		return err
	}
	all, err := snap.Translations(ctx, row.ID)
	if err != nil {
		return err
	}
	p.fillLanguages(v, c, all)
	if err := p.fillCurves(ctx, snap, v, c); err != nil {
		return err
	}
	if err := fillActivity(ctx, snap, v, store.ActivityQuery{Components: []int64{row.ID}}); err != nil {
		return err
	}
	if err := p.commitsOf(ctx, snap, v, row); err != nil {
		return err
	}
	p.comparable(v, row, rest.Objects(v.Commits, func(c *commit) change { return c.change }))
	if c.Requests, err = resource.Incomings(ctx, snap, row); err != nil {
		return err
	}
	if a := rest.AccessOf(ctx); a.Session != "" && p.env.Operations != nil && resource.MayMerge(ctx, row) == nil {
		c.Token = session.FormToken(a.Session)
	}
	if c.Head, err = snap.HeadCommit(ctx, row.ID); err != nil {
		return err
	}
	project, slug := row.Project.Slug, row.Slug
	if !p.env.WithoutGitExport {
		c.CloneURL = r.Link.Base + "/git/" + project + "/" + slug + "/"
	}
	if c.Head != nil {
		c.HeadURL = commitURL(row.Settings.Repoweb, c.Head.Hash)
	}
	v.Downloads = downloads(wire.ComponentPath(project, slug)+"file/", "?format=zip", "zip:")
	v.Badges = badges(r.Link.Base, row.Settings.Name, project, slug)
	return nil
}

// Merge answers the form that has a request merged, whose sender was checked.
func (p *Pages) Merge(ctx context.Context, r *rest.Request) (*Edited, error) {
	row, err := resource.Read(ctx, p.env, r, resource.VisibleComponent)
	if err == nil {
		err = resource.MayMerge(ctx, &row)
	}
	if err != nil {
		return nil, err
	}
	number, _ := strconv.Atoi(r.HTTP.PostForm.Get("number"))
	_, err = p.env.Merge(ctx, &row, number, r.HTTP.PostForm.Get("head"))
	return &Edited{Next: path("projects", row.Project.Slug, row.Slug) + "#requests", Status: http.StatusSeeOther}, err
}

func aboutComponent(v *view, c *store.ComponentRow) {
	aboutProject(v, &c.Project)
	v.Crumbs = append(v.Crumbs, link{Name: c.Settings.Name, URL: path("projects", c.Project.Slug, c.Slug)})
	v.feeds(c.Project.Slug, c.Slug)
}

func (p *Pages) fillLanguages(v *view, c *component, all []catalog.Translation) {
	page := func(of, code string) string { return path(of, c.Row.Project.Slug, c.Row.Slug, code) }
	source := &catalog.Translation{}
	if i := slices.IndexFunc(all, func(t catalog.Translation) bool { return t.IsSource }); i >= 0 {
		source = &all[i]
		c.Strings, c.SourceURL = source.Strings(), page("translate", source.Language)
	}
	for i := range all {
		t := &all[i]
		if t.IsSource {
			continue
		}
		l := row{
			tally: tallyOf(t, source), Code: t.Language, Name: p.languageName(v.L, t.Language), rank: v.reads(t.Language),
			URL: page("projects", t.Language), StringsURL: page("translate", t.Language), Author: t.LastAuthor, id: t.ID,
		}
		v.About.add(l.tally)
		if !v.filtered(&l.tally) {
			c.Rows = append(c.Rows, l)
		}
	}
	v.About.inTranslations(v, 1, 1)
	sorted(c.Rows, v.order())
}

// fillCurves draws how many strings were translated since the first commit: of each
// language beside its row, and of the most important ones in one chart.
func (p *Pages) fillCurves(ctx context.Context, snap *store.Snapshot, v *view, c *component) error {
	ids := rest.Objects(c.Rows, func(r *row) int64 { return r.id })
	series, err := curves(ctx, snap, []int64{c.Row.ID}, ids, time.Time{})
	if err != nil {
		return err
	}
	first := v.now
	for _, s := range series {
		if s.Days[0].Before(first) {
			first = s.Days[0]
		}
	}
	var shown []chart.Series
	wanted := strings.FieldsFunc(v.param("curve"), func(r rune) bool { return r == ' ' || r == ',' })
	ranks := map[string]int{}
	for i := range c.Rows {
		r := &c.Rows[i]
		if s := series[r.id]; s != nil {
			s.Name, ranks[r.Name] = r.Name, r.rank
			r.Spark = chart.Spark(s, first, v.now, v.L.T("Translated strings of %s since the first commit", s.Name))
			if len(wanted) == 0 || slices.Contains(wanted, r.Code) {
				shown = append(shown, *s)
			}
		}
	}
	if len(shown) > maxCurves && v.order() == "" { // the reader's languages come first, then the best
		slices.SortStableFunc(shown, func(a, b chart.Series) int {
			return cmp.Or(cmp.Compare(ranks[b.Name], ranks[a.Name]), cmp.Compare(b.Values[len(b.Values)-1], a.Values[len(a.Values)-1]))
		})
	}
	v.draw(v.L.T("Translated strings since the first commit"), shown[:min(len(shown), maxCurves)])
	return nil
}

// curves reads how many strings of translations were translated: since a time, with the number
// of then first, or since the first commit with the zero time.
func curves(ctx context.Context, snap *store.Snapshot, components, translations []int64, from time.Time) (map[int64]*chart.Series, error) {
	all := map[int64]*chart.Series{}
	err := snap.Curves(ctx, components, translations, func(d store.StatDay) {
		s := all[d.TranslationID]
		if s == nil {
			s = &chart.Series{}
			all[d.TranslationID] = s
		}
		if d.Day.Before(from) {
			d.Day = from
			if n := len(s.Days); n > 0 && s.Days[n-1].Equal(from) {
				s.Values[n-1] = d.Stats.Translated.Units
				return
			}
		}
		s.Days, s.Values = append(s.Days, d.Day), append(s.Values, d.Stats.Translated.Units)
	})
	return all, err
}

// draw draws series and makes the table of their figures.
func (v *view) draw(label string, series []chart.Series) {
	if len(series) == 0 {
		return
	}
	c := &v.Curve
	c.Chart = chart.Curves(label, series, v.now, v.L.Number)
	from := v.now
	for i := range series {
		c.Legend = append(c.Legend, series[i].Name)
		if len(series[i].Days) > 0 && series[i].Days[0].Before(from) {
			from = series[i].Days[0]
		}
	}
	span := v.now.Sub(from)
	for i := range curveRows {
		day := from.Add(span * time.Duration(i) / (curveRows - 1)).Truncate(24 * time.Hour)
		if n := len(c.Rows); n > 0 && c.Rows[n-1].Day.Equal(day) {
			continue
		}
		row := curveRow{Day: day}
		for j := range series {
			value, s := int64(0), &series[j] // at the end of the day
			if n, found := slices.BinarySearchFunc(s.Days, day, time.Time.Compare); found {
				value = s.Values[n]
			} else if n > 0 {
				value = s.Values[n-1]
			}
			row.Values = append(row.Values, value)
		}
		c.Rows = append(c.Rows, row)
	}
	slices.Reverse(c.Rows)
}

// downloads are the forms in which a file, or all files, can be had: as in the repository
// with plain as the query, and in each format of api/export after a prefix.
func downloads(file, plain, prefix string) []link {
	list := []link{{Name: "PO", URL: file + plain}}
	for _, f := range export.Formats() {
		if f.Name != "po" { // PO made from the strings; the file itself is better
			list = append(list, link{Name: strings.ToUpper(f.Name), URL: file + "?format=" + prefix + f.Name})
		}
	}
	return list
}

// badges are pictures of what slugs and codes name, with the text to paste.
func badges(base, title string, names ...string) (list []badge) {
	page := path(append([]string{"projects"}, names...)...)
	for _, b := range []struct{ name, file string }{{"badge", "svg-badge.svg"}, {"languages", "multi-auto.svg"}} {
		picture := "/widget/" + strings.Join(names, "/") + "/" + b.file
		list = append(list, badge{
			Name: b.name, Picture: picture,
			Markdown: "[![" + title + "](" + base + picture + ")](" + base + page + ")",
			HTML:     `<a href="` + base + page + `"><img src="` + base + picture + `" alt="` + template.HTMLEscapeString(title) + `"></a>`,
		})
	}
	return list
}

// isWeb reports whether an address is one of the web, which pages link to.
func isWeb(address string) bool {
	return strings.HasPrefix(address, "https://") || strings.HasPrefix(address, "http://")
}

// repoweb fills in Weblate's template of an address in a repository browser. Only addresses
// of the web become links.
func repoweb(template, branch, file string, at int) string {
	if !isWeb(template) {
		return ""
	}
	escaped, line := (&url.URL{Path: file}).EscapedPath(), strconv.Itoa(at)
	return strings.NewReplacer("{{branch}}", url.PathEscape(branch), "{{filename}}", escaped, "{{line}}", line,
		"%(branch)s", url.PathEscape(branch), "%(file)s", escaped, "%(line)s", line).Replace(template)
}

// fileURL is repoweb for a file that a translation has.
func fileURL(c *catalog.Component, file string) string {
	return placeURL(c, c.Settings.TemplateElsewhere() && file == c.Settings.NewBase, file, 1)
}

// placeURL is repoweb for a place in a component's repository, or, if it is of the code, in that
// of its template: on the same forge, since the address of another one's files is not known.
func placeURL(c *catalog.Component, ofCode bool, file string, line int) string {
	s := &c.Settings
	if !ofCode || !s.TemplateElsewhere() {
		return repoweb(s.Repoweb, cmp.Or(c.Tracking, c.Branch), file, line)
	}
	branch := cmp.Or(s.TemplateBranch, "HEAD")
	if s.TemplateRepo == "" {
		return repoweb(s.Repoweb, branch, file, line)
	}
	m := forges.FindStringSubmatch(s.Repoweb)
	if m == nil || !isWeb(s.TemplateRepo) {
		return ""
	}
	own, err := url.Parse(m[1])
	there, wrong := url.Parse(strings.TrimSuffix(strings.TrimSuffix(s.TemplateRepo, "/"), ".git"))
	if err != nil || wrong != nil || own.Host != there.Host {
		return ""
	}
	if own.Path = there.Path; strings.HasSuffix(m[1], "/-") {
		own.Path += "/-"
	}
	return repoweb(own.String()+s.Repoweb[len(m[1]):], branch, file, line)
}

// forges finds a repository in the template of a file's address on GitHub, GitLab and Forgejo.
var forges = regexp.MustCompile(`^(https?://.+?(?:/-)?)/(?:blob|src/branch|raw)/`)

// commitURL guesses the address of a commit, which is below the same repository as files.
func commitURL(template, commit string) string {
	m := forges.FindStringSubmatch(template)
	if m == nil || commit == "" {
		return ""
	}
	repo, err := url.Parse(m[1])
	if err != nil {
		return ""
	}
	return repo.JoinPath("commit", commit).String()
}

// activity is who changed how much in a time, and when.
type activity struct {
	Contributors []store.Contributor
	More         int
	All          string // the page with all contributors
	Twice        bool   // two have one name
	Changes      string // the list of changes, before the name of an author
	Weeks        template.HTML
	Width        int64 // weeks of a column of Weeks
	Rows         []store.WeekCount
	Since        []link
	First, End   time.Time // the Mondays of the first and the last week
	Longer       bool      // nobody did anything in the last year: it is of all time
}

// fillActivity counts the entries of the time that the parameter since names in days. If
// it names none, that is the last year, or all time if nobody did anything in it.
func fillActivity(ctx context.Context, snap *store.Snapshot, v *view, q store.ActivityQuery) error {
	a := &v.Activity
	since := v.param("since")
	days, known := map[string]int{"30": 30, "90": 90, "365": 365, "all": 0}[since]
	if !known {
		since, days = "365", 365
	}
	if days > 0 {
		q.From = v.now.AddDate(0, 0, -days).Truncate(24 * time.Hour)
	}
	found, err := snap.Activity(ctx, q)
	if err == nil && !known && len(found.Contributors) == 0 {
		q.From = time.Time{}
		if found, err = snap.Activity(ctx, q); len(found.Contributors) > 0 {
			since, a.Longer = "all", true
		}
	}
	if err != nil {
		return err
	}
	a.Since = v.choices("since", since,
		choice{"30", v.L.T("30 days")}, choice{"90", v.L.T("90 days")}, choice{"365", v.L.T("one year")}, choice{"all", v.L.T("all time")})
	for i := range a.Since {
		a.Since[i].URL += "#contributors"
	}
	most, names := maxContributors, map[string]bool{}
	if a.All = v.with("authors", "all") + "#contributors"; v.param("authors") == "all" {
		most = maxAuthors
	}
	a.Contributors = found.Contributors[:min(len(found.Contributors), most)]
	a.More = len(found.Contributors) - len(a.Contributors)
	for i := range a.Contributors {
		name := a.Contributors[i].FullName
		a.Twice, names[name] = a.Twice || names[name], true
	}
	_, of, _ := strings.Cut(v.Path[1:], "/")
	a.Changes = "/changes/browse/" + of + "?author="
	v.fillWeeks(found.Weeks)
	return nil
}

func (v *view) fillWeeks(weeks []store.WeekCount) {
	if len(weeks) == 0 {
		return
	}
	a := &v.Activity
	const week = 7 * 24 * time.Hour
	monday, last := catalog.IntervalWeek.First(v.now), weeks[len(weeks)-1].First
	if monday.Sub(last) > maxWeekBars*week {
		monday = last // what was long ago ends with its last week
	}
	span := int(monday.Sub(weeks[0].First)/week) + 1
	width := max(1, (span+maxWeekBars-1)/maxWeekBars)
	columns := max((span+width-1)/width, minWeekBars)
	bars := make([]int64, columns)
	a.First, a.End, a.Width = monday.Add(-time.Duration(columns*width-1)*week), monday, int64(width)
	for _, w := range weeks {
		if i := int(w.First.Sub(a.First)/week) / width; i < columns {
			bars[i] += w.Entries
		}
	}
	a.Weeks = chart.Weeks(v.L.T("Changed strings by week"), bars)
	for i, n := range slices.Backward(bars) {
		if n > 0 {
			a.Rows = append(a.Rows, store.WeekCount{First: a.First.Add(time.Duration(i*width) * week), Entries: n})
		}
	}
}
