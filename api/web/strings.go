package web

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/repoglot/repoglot/api/resource"
	"github.com/repoglot/repoglot/api/rest"
	"github.com/repoglot/repoglot/api/wire"
	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/checks"
	"github.com/repoglot/repoglot/catalog/ingest/unit"
	"github.com/repoglot/repoglot/catalog/query"
	"github.com/repoglot/repoglot/catalog/store"
)

type stringList struct {
	Row    store.TranslationRow
	Query  string
	Views  []link
	Rows   []str
	Wrong  string // what is wrong with the query
	Source string // code of the source language
	Start  string // the first of them, for whoever may edit it
	Saved  bool   // the last of a search was saved

	Missing    int64  // strings that the file does not have
	Changed    int64  // strings that the template has with another msgid_plural
	MissingURL string // a list of the missing ones
}

type str struct {
	URL, Checksum, Context string
	Source                 []string
	Targets                [][]span
	State                  catalog.State
	Failing                []*checks.Check
	Changed                bool // the template has the string with another msgid_plural
}

// strings is /translate/…: a list of strings, or one of them.
func (p *Pages) strings(ctx context.Context, snap *store.Snapshot, r *rest.Request, v *view, t *store.TranslationRow) error {
	v.Crumbs = append(v.Crumbs, link{Name: v.L.T("Strings"), URL: path("translate", t.Project.Slug, t.Component.Slug, t.Language)})
	if hash, ok := catalog.ParseChecksum(v.param("checksum")); ok {
		o, err := p.openString(ctx, snap, t, hash)
		if err != nil {
			return err
		}
		if o != nil {
			return p.oneString(ctx, snap, r, v, o)
		}
		defer func() { v.Sub = v.L.T("This string is not here any more.") + " " + v.Sub }()
	}
	return p.stringList(ctx, snap, r, v, t)
}

func (p *Pages) stringList(ctx context.Context, snap *store.Snapshot, r *rest.Request, v *view, t *store.TranslationRow) error {
	sources, err := snap.Sources(ctx, []int64{t.ComponentID})
	if err != nil {
		return err
	}
	about := catalog.NewProgress(&t.Translation, sources[t.ComponentID])
	q := strings.TrimSpace(v.param("q"))
	strs := path("translate", t.Project.Slug, t.Component.Slug, t.Language)
	l := stringList{Row: *t, Query: q, Views: stringViews(v, strs, q, &t.Stats), Source: t.Component.Settings.SourceLanguage, Missing: about.Missing, Changed: about.Changed}
	v.named(v.L.T("Strings"), p.title(v, t))
	v.Heading, v.Sub = p.title(v, t), v.Heading
	if l.Missing > 0 {
		l.MissingURL = strs + "?missing=1"
	}
	var units []catalog.Unit
	first, missing := 0, l.Missing > 0 && v.param("missing") != ""
	changed := !missing && l.Changed > 0 && v.param("changed") != ""
	instead := func(about string, count int64) { // a list that no search finds
		l.Views = stringViews(v, strs, noList, &t.Stats)
		v.Pages = window(v, "page", count, stringsOnPage)
		v.Sub = about + " · " + v.Sub
	}
	switch {
	case missing:
		units, err = findAll(ctx, snap, r, t, true, func(files, lacks int64) (from, n int) {
			instead(v.L.T("Not in the file"), lacks)
			first = int(files)
			return first + v.Pages.offset(), stringsOnPage
		})
		l.Wrong, err = wrongQuery(err)
	case changed:
		instead(v.L.T("Changed in the template"), l.Changed)
		units, err = snap.Changed(ctx, t.ComponentID, t.ID, v.Pages.offset(), stringsOnPage)
	default:
		units, err = find(ctx, snap, r, t, func(count int64) (from, n int) {
			v.Pages = window(v, "page", count, stringsOnPage)
			return v.Pages.offset(), stringsOnPage
		})
		l.Wrong, err = wrongQuery(err)
	}
	if err != nil {
		return err
	}
	set, err := p.env.ChecksOf(ctx, snap, t, units)
	for i := range units {
		u := &units[i]
		row := newString(set, t, u)
		switch {
		case missing:
			row = str{Checksum: row.Checksum, Context: row.Context, Source: row.Source}
			if row.URL = stringURL(t, u, q, first+v.Pages.From+i); !p.takesMissing(t) { // the source string, which it is
				row.URL = path("translate", t.Project.Slug, t.Component.Slug, l.Source) + "?checksum=" + row.Checksum
			}
		case changed:
			row.URL, row.Changed = stringURL(t, u, "", 0), true
		default:
			row.URL = stringURL(t, u, q, v.Pages.From+i)
		}
		l.Rows = append(l.Rows, row)
	}
	l.Saved = v.param("saved") != ""
	if err == nil && !changed && p.takesMissing(t) && v.SignedIn && !t.Component.Locked && (resource.MayEdit(ctx, t) == nil || resource.MaySuggest(ctx, t) == nil) {
		l.Start, err = p.start(ctx, snap, r, t, &l)
	}
	v.Body = l
	return err
}

// start is the address of the first string that a reader goes through from a list: the first
// one of its page, or the first that the file lacks.
func (p *Pages) start(ctx context.Context, snap *store.Snapshot, r *rest.Request, t *store.TranslationRow, l *stringList) (string, error) {
	if len(l.Rows) > 0 {
		return l.Rows[0].URL, nil
	}
	first := 0
	units, err := findAll(ctx, snap, r, t, true, func(files, _ int64) (from, n int) { first = int(files); return first, 1 })
	if _, err = wrongQuery(err); err != nil || len(units) == 0 {
		return "", err
	}
	return stringURL(t, &units[0], l.Query, first+1), nil
}

// takesMissing reports whether strings of a translation can be edited, those that its file
// lacks among them.
func (p *Pages) takesMissing(t *store.TranslationRow) bool {
	return p.env.Edits != nil && !t.IsSource && t.Component.Settings.Edits.Taken()
}

// find reads a part of the strings that the query of a request selects in a translation;
// part chooses it by their number.
func find(ctx context.Context, snap *store.Snapshot, r *rest.Request, t *store.TranslationRow, part func(count int64) (from, n int)) ([]catalog.Unit, error) {
	expr, err := resource.UnitQuery(r)
	if err != nil {
		return nil, err
	}
	if expr == query.All {
		from, n := part(t.Stats.Total.Units)
		return snap.Units(ctx, t.ID, from, n)
	}
	found, err := snap.Search(ctx, store.SearchQuery{Components: resource.ComponentOf(t), TranslationID: t.ID, Expr: expr})
	if err != nil {
		return nil, err
	}
	from, n := part(found.Count())
	units, _, err := found.Page(ctx, int64(from), n)
	return units, err
}

// findAll is find for the strings that a reader goes through: those of the file, and then, if
// lacks is set, those of the template that it lacks, as source units.
func findAll(ctx context.Context, snap *store.Snapshot, r *rest.Request, t *store.TranslationRow, lacks bool, part func(files, lacks int64) (from, n int)) ([]catalog.Unit, error) {
	var missing *store.SearchResult
	if lacks {
		expr, err := resource.UnitQuery(r)
		if err == nil {
			missing, err = snap.Search(ctx, store.SearchQuery{Components: resource.ComponentOf(t), TranslationID: t.ID, Missing: true, Expr: expr})
		}
		if err != nil {
			return nil, err
		}
	}
	var after, n int
	units, err := find(ctx, snap, r, t, func(files int64) (from, _ int) {
		most := int64(0)
		if lacks {
			most = missing.Count()
		}
		from, n = part(files, most)
		after = max(0, from-int(files))
		return from, n
	})
	if err != nil || !lacks || len(units) == n {
		return units, err
	}
	more, _, err := missing.Page(ctx, int64(after), n-len(units))
	return append(units, more...), err
}

// wrongQuery says what is wrong with a query, or that it asks for too much. With any other
// error there is no page, such as with a full pool: it would be kept without the strings.
func wrongQuery(err error) (wrong string, other error) {
	if err = resource.SearchProblem(err); err != nil && rest.AsProblem(err).Status == http.StatusBadRequest {
		return rest.AsProblem(err).Detail, nil
	}
	return "", err
}

// stringURL is the address of a string; position is its place in a search, from 1.
func stringURL(t *store.TranslationRow, u *catalog.Unit, q string, position int) string {
	values := url.Values{"checksum": {catalog.Checksum(u.Identity.Hash)}}
	if q != "" {
		values.Set("q", q)
	}
	if position > 0 {
		values.Set("offset", strconv.Itoa(position))
	}
	return path("translate", t.Project.Slug, t.Component.Slug, t.Language) + "?" + values.Encode()
}

// urlOf is the address of a string on the way through the search.
func (o *oneString) urlOf(u *catalog.Unit, position int) string {
	url := stringURL(&o.Row, u, o.Query, position)
	if o.Gone > 0 && position > 0 {
		url += "&gone=" + strconv.Itoa(o.Gone)
	}
	return url
}

// newString shows a string with the places where it fails.
func newString(set *checks.Set, t *store.TranslationRow, u *catalog.Unit) str {
	s := str{Checksum: catalog.Checksum(u.Identity.Hash), Context: visible(u.Context), State: u.State, Source: showForms(u.Source)}
	marks := map[int][]place{}
	seen := checks.UnitOf(u, &t.Translation)
	for c := range checks.Mask(u.Failing).Checks() {
		s.Failing = append(s.Failing, c)
		if c.Scope == checks.ScopeAcross || c.Scope == checks.ScopeSource {
			continue
		}
		for _, f := range set.Explain(&seen, c.ID) {
			for _, at := range append(slices.Clone(f.Targets), f.Target) {
				marks[f.Form] = append(marks[f.Form], place{at.From, at.To})
			}
		}
	}
	for i, form := range catalog.TargetForms(u.Source, u.Target, t.PluralNumber) {
		s.Targets = append(s.Targets, marked(form, marks[i]))
	}
	return s
}

// oneString is a string with everything that is known of it.
type oneString struct {
	str
	Row            store.TranslationRow
	Unit           catalog.Unit
	Query          string
	Position       int
	Gone           int   // strings that left the search on the way through it
	Place, Count   int64 // in the search as it was
	Previous, Next string
	Nearby         []str  // in the file
	SameURL        string // a search for strings with the same translation; "" unless a check says that there are
	Others         []said
	Beside         *said // one of Others
	Suggestions    []store.Suggestion
	Elsewhere      []said
	Terms          []store.GlossaryUnit
	PreviousSource []span
	Places         []codePlace
	SourceLang     string
	FileURL        string
	Lacks          bool    // the file does not have it
	Offers         []offer // texts of strings that the template has no more
	Memory         []remembered
	Form           *editForm // nil for whoever may not edit it
	Why            string    // why it is not edited
	Stranger       bool      // a session could edit it
	Saved          string    // the address of the string that was saved before

	id       int64 // in searches: that of the source unit if the file lacks it
	next     *catalog.Unit
	fuzzyOwn bool // the first suggestion is of the file's obsolete entry, which is fuzzy
}

// said is the string in another language, or of another component.
type said struct {
	Where, Code, URL string
	Target           string
	State            catalog.State
	Choose           string // the page with it beside the source, or without it if it is there
}

func saidIn(c *store.ComponentRow, s *store.Said, checksum string) said {
	url := path("translate", c.Project.Slug, c.Slug, s.Language) + "?checksum=" + checksum
	return said{Where: where(c), Code: s.Language, URL: url, Target: s.Unit.Target, State: s.Unit.State}
}

// openString finds the string with an id_hash: of the file, or that it lacks and that can be
// translated, or that it had; nil if there is none.
func (p *Pages) openString(ctx context.Context, snap *store.Snapshot, t *store.TranslationRow, hash int64) (*oneString, error) {
	o := oneString{Row: *t}
	id, found, err := snap.UnitByHash(ctx, t.ID, hash)
	if err == nil && found {
		var row store.UnitRow
		row, err = snap.Unit(ctx, id)
		o.Unit, o.id = row.Unit, id
	}
	var lacks *catalog.Unit
	if err == nil && (!found || o.Unit.Removed) && p.takesMissing(t) {
		lacks, err = snap.MissingUnit(ctx, resource.RowOf(t), t.ID, hash)
	}
	switch {
	case err != nil || lacks == nil && !found:
		return nil, err
	case lacks != nil:
		rules := unit.NewRules(t.Component.Settings.CheckFlags, false)
		u := rules.Missing(lacks)
		u.ID, u.TranslationID, u.Removed, u.Comment = id, t.ID, false, ""
		if u.State == catalog.StateAbsent {
			u.State = catalog.StateEmpty
		}
		o.Unit, o.id, o.Lacks = u, lacks.ID, true
	}
	return &o, nil
}

func (p *Pages) oneString(ctx context.Context, snap *store.Snapshot, r *rest.Request, v *view, o *oneString) error {
	t, u := &o.Row, &o.Unit
	if v.Body = o; v.Template == "live" {
		return p.fillForm(ctx, snap, r, v, o)
	}
	set, err := p.env.ChecksOf(ctx, snap, t, []catalog.Unit{*u})
	if err != nil {
		return err
	}
	o.str, o.Query, o.SourceLang = newString(set, t, u), strings.TrimSpace(v.param("q")), t.Component.Settings.SourceLanguage
	v.Heading, v.Sub = p.title(v, t), v.L.T("One string")
	v.Title = oneLine(u.Source, 40) + " · " + v.Heading
	if v.API = wire.UnitPath(u.ID); o.Lacks {
		v.API = wire.TranslationPath(t.Project.Slug, t.Component.Slug, t.Language) + "missing/?q=id:" + wire.FormatID(o.id)
	} else {
		for _, below := range []string{"changes", "translations", "occurrences", "checks", "suggestions", "comments"} {
			v.APIs = append(v.APIs, link{Name: below, URL: v.API + below + "/"})
		}
	}
	if slices.ContainsFunc(o.Failing, func(c *checks.Check) bool { return c.Name == "reused" }) {
		q := `project:="` + t.Project.Slug + `" AND target:="` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(u.Target) + `"`
		o.SameURL = "/search/?" + url.Values{"lang": {t.Language}, "q": {q}}.Encode()
	}
	if u.PreviousSource != "" {
		o.PreviousSource = difference(u.PreviousSource, u.Source)
	}
	if u.ID != 0 {
		if o.Suggestions, err = snap.Suggestions(ctx, u.ID); err != nil {
			return err
		}
		o.Suggestions = slices.DeleteFunc(o.Suggestions, func(s store.Suggestion) bool { return resource.HidesText(ctx, s.Stranger) })
		history := store.ChangeQuery{TranslationID: t.ID, UnitID: u.ID, Newest: true, Limit: changesOnPage}
		if err := p.readChanges(ctx, snap, v, history); err != nil {
			return err
		}
		for i := range v.Changes { // the page says it
			v.Changes[i].Where, v.Changes[i].WhereURL = "", ""
		}
	}
	for _, fill := range []func(context.Context, *store.Snapshot, *rest.Request, *view, *oneString) error{
		p.fillPlaces, p.fillNeighbours, p.fillOthers, p.fillElsewhere, p.fillTerms, p.fillOffers, p.fillForm, p.fillNearby, p.fillMemory, // which may be cut off
	} {
		if err := fill(ctx, snap, r, v, o); err != nil {
			return err
		}
	}
	if _, ok := catalog.ParseChecksum(v.param("saved")); ok {
		o.Saved = path("translate", t.Project.Slug, t.Component.Slug, t.Language) + "?checksum=" + v.param("saved")
	}
	return nil
}

func oneLine(s string, most int) string {
	return catalog.Clip(strings.Join(strings.Fields(visible(forms(s))), " "), most)
}

// fillNeighbours finds the strings before and after in the same search. The string may
// have another place than its address says, if strings before it were edited.
func (p *Pages) fillNeighbours(ctx context.Context, snap *store.Snapshot, r *rest.Request, v *view, o *oneString) error {
	if v.param("offset") == "" {
		return nil
	}
	o.Position = v.number("offset")
	if v.param("gone") != "" {
		o.Gone = v.number("gone")
	}
	from := max(o.Position-3, 0)
	units, err := findAll(ctx, snap, r, &o.Row, p.takesMissing(&o.Row), func(files, lacks int64) (int, int) { o.Count = files + lacks; return from, 5 })
	_, err = wrongQuery(err) // the string itself is shown
	before, after := o.Position-2-from, o.Position-from
	if i := slices.IndexFunc(units, func(u catalog.Unit) bool { return u.ID == o.id }); i >= 0 {
		o.Position, before, after = from+i+1, i-1, i+1
	} else if len(units) > 0 {
		after-- // the next one has moved up
	}
	if before >= 0 && before < len(units) {
		o.Previous = o.urlOf(&units[before], from+before+1)
	}
	if after < len(units) {
		o.next = &units[after]
		o.Next = o.urlOf(&units[after], from+after+1)
	}
	o.Place, o.Count = int64(o.Position+o.Gone), o.Count+int64(o.Gone)
	return err
}

func (p *Pages) fillOthers(ctx context.Context, snap *store.Snapshot, r *rest.Request, v *view, o *oneString) error {
	source := o.Unit
	source.ID = o.Unit.SourceID
	list, err := snap.SaidIn(ctx, []catalog.Unit{source}, []int64{o.Row.ComponentID}, nil)
	for i := range list {
		s := &list[i]
		if s.Language != o.Row.Language && !s.Source {
			other := saidIn(resource.RowOf(&o.Row), s, o.Checksum)
			if other.Choose = v.with(besideCookie, s.Language); s.Language == beside(r.HTTP) {
				other.Choose = v.with(besideCookie, "-")
				o.Beside = &other
			}
			o.Others = append(o.Others, other)
		}
	}
	slices.SortStableFunc(o.Others, func(a, b said) int {
		return cmp.Or(cmp.Compare(v.reads(b.Code), v.reads(a.Code)), cmp.Compare(p.languageName(v.L, a.Code), p.languageName(v.L, b.Code)))
	})
	return err
}

// showForms are the plural forms of a text, fit to be shown.
func showForms(s string) []string {
	list := catalog.SplitForms(s)
	for i := range list {
		list[i] = visible(list[i])
	}
	return list
}

// fillNearby reads the strings around it in the file, for whoever edits it.
func (p *Pages) fillNearby(ctx context.Context, snap *store.Snapshot, _ *rest.Request, _ *view, o *oneString) error {
	if o.Form == nil || o.Lacks {
		return nil
	}
	at := int64(o.Unit.Position)
	found, err := snap.Search(ctx, store.SearchQuery{
		Components: resource.ComponentOf(&o.Row), TranslationID: o.Row.ID, Expr: query.Number{Field: query.Position, Spans: []query.Span{{Lo: at - nearby, Hi: at + nearby}}},
	})
	if err != nil {
		_, err = wrongQuery(err)
		return err
	}
	units, _, err := found.Page(ctx, 0, 2*nearby+1)
	slices.SortFunc(units, func(a, b catalog.Unit) int { return cmp.Compare(a.Position, b.Position) })
	for i := range units {
		u := &units[i]
		if u.Failing = [2]uint64{}; u.ID != o.Unit.ID {
			near := newString(nil, &o.Row, u)
			near.URL = stringURL(&o.Row, u, "", 0)
			o.Nearby = append(o.Nearby, near)
		}
	}
	return err
}

// fillElsewhere looks the same string up in all components that the client may see.
func (p *Pages) fillElsewhere(ctx context.Context, snap *store.Snapshot, _ *rest.Request, _ *view, o *oneString) error {
	components, list, err := resource.Occurrences(ctx, snap, o.Unit.Identity, o.Row.Language, maxElsewhere)
	for i := range list {
		s := &list[i]
		if c := components[s.Unit.ID/catalog.UnitsPerComponent]; c.ID != o.Row.ComponentID {
			o.Elsewhere = append(o.Elsewhere, saidIn(c, s, o.Checksum))
		}
	}
	return err
}

// fillTerms finds the terms of the project's glossaries in the source.
func (p *Pages) fillTerms(ctx context.Context, snap *store.Snapshot, _ *rest.Request, _ *view, o *oneString) error {
	settings := &o.Row.Component.Settings
	if settings.IsGlossary || o.Row.IsSource {
		return nil
	}
	found, err := snap.GlossaryUnits(ctx, store.GlossaryQuery{
		Project: o.Row.Project.ID, Source: settings.SourceLanguage, Language: o.Row.Language, Private: settings.Private(&o.Row.Project),
	})
	text := " " + strings.Join(strings.FieldsFunc(strings.ToLower(forms(o.Unit.Source)), notWord), " ") + " "
	for i := range found {
		name := strings.Join(strings.FieldsFunc(strings.ToLower(found[i].Source), notWord), " ")
		if name != "" && strings.Contains(text, " "+name+" ") && len(o.Terms) < 20 {
			o.Terms = append(o.Terms, found[i])
		}
	}
	return err
}

func notWord(r rune) bool { return strings.ContainsRune(" \t\n.,;:!?()[]{}\"'<>/|_&…", r) }
