package web

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/repoglot/repoglot/api/resource"
	"github.com/repoglot/repoglot/api/rest"
	"github.com/repoglot/repoglot/api/web/chart"
	"github.com/repoglot/repoglot/api/web/intl"
	"github.com/repoglot/repoglot/api/wire"
	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/checks"
	"github.com/repoglot/repoglot/catalog/store"
)

type translation struct {
	Row     store.TranslationRow
	Views   []link // lists of strings, with their numbers
	Checks  []link // those that fail, the one with the most strings first
	Parts   []row
	FileURL string
}

func (p *Pages) languageName(l *intl.Language, code string) string {
	return l.LanguageName(code, p.env.Language(code).Name)
}

// nameOf names a language. A second one of the same name, such as that of a file cs_CZ.po
// beside cs.po, has its code after it.
func (p *Pages) nameOf(l *intl.Language, code string) string {
	name := p.languageName(l, code)
	if base := p.env.Languages.Match(code); base.Code != code && name == l.LanguageName(base.Code, base.Name) {
		name += " (" + code + ")"
	}
	return name
}

// title names a translation: "Czech · app · demo".
func (p *Pages) title(v *view, t *store.TranslationRow) string {
	return v.L.Join(p.nameOf(v.L, t.Language), t.Component.Settings.Name, t.Project.Settings.Name)
}

func (p *Pages) aboutTranslation(v *view, t *store.TranslationRow) {
	aboutComponent(v, resource.RowOf(t))
	v.Crumbs = append(v.Crumbs, link{Name: p.nameOf(v.L, t.Language), URL: path("projects", t.Project.Slug, t.Component.Slug, t.Language)})
	v.feeds(t.Project.Slug, t.Component.Slug, t.Language)
}

func (p *Pages) translation(ctx context.Context, snap *store.Snapshot, r *rest.Request, v *view, t *store.TranslationRow) error {
	v.Title, v.Heading = p.title(v, t), p.nameOf(v.L, t.Language)
	v.Sub = v.L.Join(t.Component.Settings.Name, t.Project.Settings.Name)
	if v.param("suggestions") != "" {
		return p.review(ctx, snap, v, []int64{t.ComponentID}, []int64{t.ID})
	}
	if err := p.fillProblems(ctx, snap, v, []*store.ComponentRow{resource.RowOf(t)}, false); err != nil {
		return err
	}
	v.Problems = slices.DeleteFunc(v.Problems, func(p problem) bool { return p.Mask != "" || p.File != "" && p.File != t.Filename })
	o := translation{Row: *t}
	sources, err := snap.Sources(ctx, []int64{t.ComponentID})
	if err != nil {
		return err
	}
	v.About = tallyOf(&t.Translation, sources[t.ComponentID])
	strs := path("translate", t.Project.Slug, t.Component.Slug, t.Language)
	if o.Views = stringViews(v, strs, noList, &t.Stats); v.About.Missing > 0 {
		o.Views = append(o.Views, link{Name: v.L.T("Not in the file"), URL: strs + "?missing=1", Count: v.About.Missing})
	}
	failing, err := snap.TranslationChecks(ctx, t.ComponentID, t.ID)
	if err != nil {
		return err
	}
	numbers := resource.UnitsByCheck(failing)
	for _, c := range checks.All() {
		if n := numbers[c.ID]; n > 0 {
			o.Checks = append(o.Checks, link{Name: v.L.T(c.Title), URL: strs + "?q=check:" + c.Name, Count: n})
		}
	}
	slices.SortStableFunc(o.Checks, func(a, b link) int { return cmp.Compare(b.Count, a.Count) })
	if err := fillTranslationCurve(ctx, snap, v, t.ID); err != nil {
		return err
	}
	if err := fillActivity(ctx, snap, v, store.ActivityQuery{Components: []int64{t.ComponentID}, TranslationID: t.ID}); err != nil {
		return err
	}
	if err := p.readChanges(ctx, snap, v, store.ChangeQuery{TranslationID: t.ID, Newest: true, Limit: newest}); err != nil {
		return err
	}
	if o.Parts, err = partsOf(ctx, snap, t, strs); err != nil {
		return err
	}
	v.Downloads = downloads(wire.TranslationPath(t.Project.Slug, t.Component.Slug, t.Language)+"file/", "", "")
	v.Badges = badges(r.Link.Base, v.Heading+" · "+where(resource.RowOf(t)), t.Project.Slug, t.Component.Slug, t.Language)
	o.FileURL = fileURL(&t.Component, t.Filename)
	v.Body = o
	return nil
}

// noList is no query of a list: none of the lists is what the reader sees.
const noList = "\x00"

// stringViews are the lists of strings that readers look for, with their numbers; q is
// the query of the one that the reader sees.
func stringViews(v *view, strs, q string, s *catalog.Stats) (list []link) {
	for _, f := range []struct {
		q, name string
		n       int64
	}{
		{"", v.L.T("all strings"), s.Total.Units},
		{"state:empty", v.L.T("untranslated"), max(0, s.Total.Units-s.Translated.Units-s.Fuzzy.Units)},
		{"state:needs-editing", v.L.T("needs editing"), s.Fuzzy.Units},
		{"has:check", v.L.T("failing checks"), s.Failing.Units},
		{"has:suggestion", v.L.T("with suggestions"), s.Suggestions},
		{"has:comment", v.L.T("with comments"), s.Comments},
	} {
		if f.n == 0 && f.q != "" && f.q != q {
			continue
		}
		l := link{Name: f.name, URL: strs, Current: f.q == q, Count: f.n}
		if f.q != "" {
			l.URL += "?q=" + f.q
		}
		list = append(list, l)
	}
	return list
}

// fillTranslationCurve draws the strings, the translated ones and those that need
// editing since the first commit.
func fillTranslationCurve(ctx context.Context, snap *store.Snapshot, v *view, id int64) error {
	days, err := snap.StatDays(ctx, id)
	if err != nil || len(days) == 0 {
		return err
	}
	series := []chart.Series{{Name: v.L.T("translated")}, {Name: v.L.T("strings in the file")}, {Name: v.L.T("needs editing")}}
	for i := range days {
		st := &days[i].Stats
		for j, n := range []int64{st.Translated.Units, st.Total.Units, st.Fuzzy.Units} {
			series[j].Days, series[j].Values = append(series[j].Days, days[i].Day), append(series[j].Values, n)
		}
	}
	if slices.Max(series[2].Values) == 0 {
		series = series[:2]
	}
	v.draw(v.L.T("Strings since the first commit"), series)
	return nil
}

// partsOf counts the strings of a document by folder or file they come from; nil if only one.
func partsOf(ctx context.Context, snap *store.Snapshot, t *store.TranslationRow, strs string) ([]row, error) {
	if t.Stats.Total.Units > maxPartStrings || t.IsSource {
		return nil, nil
	}
	units, err := snap.Units(ctx, t.ID, 0, maxPartStrings)
	if err != nil {
		return nil, err
	}
	names := make([]string, len(units))
	for i := range units {
		first, _, _ := strings.Cut(units[i].Location, ",") // the file of the first reference
		first = strings.TrimSpace(first)
		if colon := strings.LastIndexByte(first, ':'); colon > 0 {
			first = first[:colon]
		}
		names[i] = strings.TrimPrefix(first, "./")
	}
	byFolder := map[string]*row{}
	cut := commonFolder(names)
	for i := range units {
		if names[i] == "" {
			continue
		}
		name, _, _ := strings.Cut(names[i][cut:], "/")
		f := byFolder[name]
		if f == nil {
			f = &row{Name: names[i][:cut] + name}
			f.URL = strs + "?q=" + "location:" + strconv.Quote(f.Name)
			byFolder[name] = f
		}
		u := &units[i]
		one := catalog.Translation{IsSource: true}
		one.Stats.AddUnit(u)
		if u.Failing != [2]uint64{} {
			one.Stats.Failing.Units = 1
		}
		f.add(tallyOf(&one, nil))
	}
	if len(byFolder) < minParts || len(byFolder) > maxParts {
		return nil, nil
	}
	var list []row
	for _, f := range byFolder {
		list = append(list, *f)
	}
	sorted(list, "")
	return list, nil
}

// commonFolder is the length of the folders that all names begin with; "" is no name.
func commonFolder(names []string) int {
	names = slices.DeleteFunc(slices.Clone(names), func(name string) bool { return name == "" })
	if len(names) == 0 {
		return 0
	}
	first, last, n := slices.Min(names), slices.Max(names), 0
	for n < len(first) && first[n] == last[n] { // first is not longer where they are the same
		n++
	}
	return strings.LastIndexByte(first[:n], '/') + 1
}
