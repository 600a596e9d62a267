package resource

import (
	"bytes"
	"cmp"
	"context"
	"encoding/csv"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/repoglot/repoglot/api/export"
	"github.com/repoglot/repoglot/api/rest"
	"github.com/repoglot/repoglot/api/widget"
	"github.com/repoglot/repoglot/api/wire"
	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store"
)

func (e *Env) getTranslationStatistics(ctx context.Context, snap *store.Snapshot, r *rest.Request, t *store.TranslationRow) (any, error) {
	sources, err := snap.Sources(ctx, []int64{t.ComponentID})
	return e.newTranslationStatistics(r.Link, &t.Translation, t.Project.Slug, t.Component.Slug, sources[t.ComponentID]), err
}

// componentStatistics are the statistics of a component's translations, by id.
func (e *Env) componentStatistics(ctx context.Context, snap *store.Snapshot, r *rest.Request, component *store.ComponentRow) ([]wire.Object, error) {
	all, err := snap.Translations(ctx, component.ID)
	if err != nil {
		return nil, err
	}
	sources, err := snap.Sources(ctx, []int64{component.ID})
	return rest.Objects(all, func(t *catalog.Translation) wire.Object {
		return e.newTranslationStatistics(r.Link, t, component.Project.Slug, component.Slug, sources[component.ID])
	}), err
}

func (e *Env) listComponentStatistics(ctx context.Context, snap *store.Snapshot, r *rest.Request, component *store.ComponentRow) (any, error) {
	all, err := e.componentStatistics(ctx, snap, r, component)
	if err != nil {
		return nil, err
	}
	return rest.ListOf(r, all, rest.MaxPageSize, wire.ComponentPath(component.Project.Slug, component.Slug)+"statistics/")
}

func getProjectStatistics(ctx context.Context, snap *store.Snapshot, r *rest.Request, project *catalog.Project) (any, error) {
	sums, err := sumsOf(ctx, snap, project.Slug, "")
	if err != nil {
		return nil, err
	}
	total := addUp(sums)
	translate := r.Link.Web(wire.Path("translate", project.Slug))
	return append(newStatistics(&total), "name", wire.NameOrSlug(project.Settings.Name, project.Slug), "url", r.Link.Web(wire.Path("projects", project.Slug)),
		"translate_url", translate, "url_translate", translate, "missing", total.Progress.Missing), nil
}

// listProjectLanguages answers a bare array, sorted by the names of the languages.
func (e *Env) listProjectLanguages(ctx context.Context, snap *store.Snapshot, r *rest.Request, project *catalog.Project) (any, error) {
	sums, err := sumsOf(ctx, snap, project.Slug, "")
	slices.SortFunc(sums, func(a, b store.Sum) int {
		return cmp.Or(cmp.Compare(e.Language(a.Language).Name, e.Language(b.Language).Name), cmp.Compare(a.Language, b.Language))
	})
	return &rest.Array{Items: e.languageStatistics(r, project, sums)}, err
}

// getStatistics answers the statistics of a language, or ours of all that the client may see.
func (e *Env) getStatistics(ctx context.Context, snap *store.Snapshot, r *rest.Request, of *scope) (any, error) {
	sums, err := sumsOf(ctx, snap, "", of.language)
	if err != nil {
		return nil, err
	}
	total := addUp(sums)
	name, path := wire.SiteTitle, "/"
	if of.language != "" {
		name, path = e.Language(of.language).Name, wire.Path("languages", of.language)
	}
	return append(newStatistics(&total), "name", name, "url", r.Link.Web(path), "missing", total.Progress.Missing), nil
}

// sumsOf adds up the served translations by language: of a project, or of all
// with ""; in one language, or in each with "".
func sumsOf(ctx context.Context, snap *store.Snapshot, project, language string) ([]store.Sum, error) {
	ids, err := importedIDs(ctx, snap, project)
	if err != nil {
		return nil, err
	}
	return snap.Sums(ctx, store.SumQuery{Components: ids, Language: language, Sources: true})
}

func addUp(sums []store.Sum) (total store.Sum) {
	for _, sum := range sums {
		total.Add(sum)
	}
	return total
}

func newStatistics(sum *store.Sum) wire.Object {
	return wire.NewStatistics(&sum.Stats, sum.LastChange, sum.RecentChanges)
}

func (e *Env) newTranslationStatistics(l wire.Links, t *catalog.Translation, project, component string, source *catalog.Translation) wire.Object {
	translate := l.Web(wire.TranslatePath(project, component, t.Language))
	return append(wire.NewStatistics(&t.Stats, t.LastChange, t.RecentChanges), "code", t.Language, "name", e.Language(t.Language).Name,
		"url", l.Web(wire.Path("projects", project, component, t.Language)), "translate_url", translate, "component", component, "project", project,
		"url_translate", translate, "last_author", wire.OrNull(t.LastAuthor), "missing", catalog.NewProgress(t, source).Missing)
}

// languagesOfProject are the statistics of a project's languages, by code.
func (e *Env) languagesOfProject(ctx context.Context, snap *store.Snapshot, r *rest.Request, project *catalog.Project) ([]wire.Object, error) {
	sums, err := sumsOf(ctx, snap, project.Slug, "")
	return e.languageStatistics(r, project, sums), err
}

func (e *Env) languageStatistics(r *rest.Request, project *catalog.Project, sums []store.Sum) []wire.Object {
	return rest.Objects(sums, func(sum *store.Sum) wire.Object {
		code := sum.Language
		translate := r.Link.Web(wire.TranslatePath(project.Slug, "-", code))
		return append(newStatistics(sum), "code", code, "name", e.Language(code).Name, "url", r.Link.Web(wire.Path("projects", project.Slug, "-", code)),
			"translate_url", translate, "url_translate", translate, "missing", sum.Progress.Missing)
	})
}

// importedIDs are the ids of visible imported components, of a project or of all with "".
func importedIDs(ctx context.Context, snap *store.Snapshot, project string) ([]int64, error) {
	rows, err := VisibleComponents(ctx, snap, project)
	return ImportedIDs(rows), err
}

// ImportedIDs are the ids of the imported ones of components, in their order.
func ImportedIDs(rows []*store.ComponentRow) []int64 {
	ids := make([]int64, 0, len(rows))
	for _, c := range rows {
		if c.Imported {
			ids = append(ids, c.ID)
		}
	}
	return ids
}

func listHistory(ctx context.Context, snap *store.Snapshot, r *rest.Request, of *scope) (any, error) {
	q := store.StatQuery{TranslationID: of.translation, Language: of.language}
	var err error
	if q.Components, err = of.components(ctx, snap); err != nil {
		return nil, err
	}
	errs := rest.FieldErrors{}
	interval, _ := r.Params.Get("interval")
	line := catalog.Timeline{Interval: cmp.Or(catalog.Interval(interval), catalog.IntervalDay)}
	if !slices.Contains([]catalog.Interval{catalog.IntervalDay, catalog.IntervalWeek, catalog.IntervalMonth}, line.Interval) {
		errs.Add("interval", "Select a valid choice: day, week or month.")
	}
	from, to := r.Timestamp("timestamp_after", errs), r.Timestamp("timestamp_before", errs)
	if err := errs.Err(); err != nil {
		return nil, err
	}
	if err := snap.Timeline(ctx, q, &line); err != nil {
		return nil, err
	}
	return rest.ListOfObjects(r, line.Points(from, to), of.path+"statistics/history/", wire.NewStatisticsPoint)
}

const exportColumns = "name code total translated translated_percent translated_words_percent total_words translated_words " +
	"total_chars translated_chars translated_chars_percent failing failing_percent fuzzy fuzzy_percent url_translate url " +
	"translate_url last_change last_author recent_changes readonly readonly_percent approved approved_percent suggestions comments missing"

// exported makes the handler of statistics as an indented array, or as CSV for
// download: those that read reads of what find finds.
func exported[T any](find finder[T], read func(context.Context, *store.Snapshot, *rest.Request, *T) ([]wire.Object, error)) Handler {
	return with(find, func(ctx context.Context, snap *store.Snapshot, r *rest.Request, of *T) (any, error) {
		format, _ := r.Params.Get("format")
		if format != "" && format != "api" && format != "json" && format != "csv" {
			return nil, rest.ErrNotFound
		}
		rows, err := read(ctx, snap, r, of)
		if err != nil {
			return nil, err
		}
		body, err := wire.JSON(rows, 4)
		if err != nil || format != "csv" {
			return &rest.Document{ContentType: rest.TypeJSON, Body: body}, err
		}
		columns := strings.Fields(exportColumns)
		records := [][]string{columns}
		for _, value := range gjson.ParseBytes(body).All() {
			row := make([]string, len(columns))
			for i, column := range columns {
				if cell := value.Get(column); cell.Type == gjson.Number {
					row[i] = cell.Raw // 100.0 stays
				} else {
					row[i] = export.HarmlessCell(cell.String())
				}
			}
			records = append(records, row)
		}
		var buf bytes.Buffer
		err = csv.NewWriter(&buf).WriteAll(records)
		return &rest.Document{ContentType: rest.TypeCSV, Filename: "stats-" + strings.Join(pathNames(r), "-") + ".csv", Body: buf.Bytes()}, err
	})
}

// listMatrix lists the translations of a project, except into source languages, with
// their percentage now and 30 days ago, by id.
func (e *Env) listMatrix(ctx context.Context, snap *store.Snapshot, r *rest.Request, project *catalog.Project) (any, error) {
	rows, err := VisibleComponents(ctx, snap, project.Slug)
	if err != nil {
		return nil, err
	}
	ids, slugs := ImportedIDs(rows), map[int64]string{}
	for _, c := range rows {
		slugs[c.ID] = c.Slug
	}
	sources, err := snap.Sources(ctx, ids)
	if err != nil {
		return nil, err
	}
	translations, err := snap.TargetIDs(ctx, ids)
	if err != nil {
		return nil, err
	}
	path := wire.ProjectPath(project.Slug) + "matrix/"
	return r.List(int64(len(translations)), rest.MaxPageSize, path, func(w rest.Window) (any, error) {
		page, err := snap.TranslationsByID(ctx, rest.Slice(translations, w))
		if err != nil {
			return nil, err
		}
		past, err := snap.PastStats(ctx, ids, rest.Slice(translations, w), e.Now().AddDate(0, 0, -matrixDays))
		return rest.Objects(page, func(t *catalog.Translation) wire.Object {
			var before *catalog.Stats
			if s, ok := past[t.ID]; ok {
				before = &s
			}
			return wire.NewMatrixCell(r.Link, t, project.Slug, slugs[t.ComponentID], sources[t.ComponentID], before)
		}), err
	})
}

// widgetRoutes are the widgets, under the addresses of Weblate 5.x (/widget/)
// and of 4.x (/widgets/), which has the language before the component.
func (e *Env) widgetRoutes() []Route {
	var routes []Route
	for _, pattern := range []string{
		"/widget/:project/:widget/",
		"/widget/:project/:component/:widget/",
		"/widget/:project/:component/:language/:widget/",
		"/widgets/:project/:language/:widget/",
		"/widgets/:project/:language/:component/:widget/",
	} {
		routes = append(routes, Route{
			Path: pattern, Allow: AllowRead, Name: "Widget", About: "A picture of how much is translated.",
			Kind: KindFile, Handle: e.getWidget,
		})
	}
	return routes
}

// getWidget answers a picture of how much is translated, of a project, a component or a
// translation; "-" as the component means a language of a project. Private ones are not found,
// other than in Weblate (docs/compatibility.md#badges).
func (e *Env) getWidget(ctx context.Context, snap *store.Snapshot, r *rest.Request) (any, error) {
	draw, ok := widget.Lookup(r.PathParam("widget"))
	if !ok {
		return nil, rest.ErrNotFound
	}
	p, err := e.progressOf(ctx, snap, r)
	if err != nil {
		return nil, err
	}
	picture, err := draw(p)
	return &rest.Document{ContentType: rest.TypeSVG, Body: picture, MaxAge: 3600}, err
}

// progressOf adds up the statistics of what the path names by language, or those of one
// language, as people understand them: the source language is left out unless it is asked
// for (docs/compatibility.md#badges).
func (e *Env) progressOf(ctx context.Context, snap *store.Snapshot, r *rest.Request) (*widget.Progress, error) {
	component, language := r.PathParam("component"), strings.TrimPrefix(r.PathParam("language"), "-")
	p := &widget.Progress{}
	var ids []int64
	switch {
	case component != "" && component != "-" && language != "":
		t, err := e.VisibleTranslation(ctx, snap, r)
		if err != nil {
			return nil, err
		}
		p.Name, ids, language = t.Component.Settings.Name, []int64{t.ComponentID}, t.Language
	case component != "" && component != "-":
		c, err := e.ImportedComponent(ctx, snap, r)
		if err != nil {
			return nil, err
		}
		p.Name, ids = c.Settings.Name, []int64{c.ID}
	default:
		project, err := VisibleProject(ctx, snap, r)
		if err != nil {
			return nil, err
		}
		if ids, err = importedIDs(ctx, snap, project.Slug); err != nil {
			return nil, err
		}
		if p.Name = project.Settings.Name; language != "" {
			p.Components = len(ids)
		}
	}
	sums, err := snap.Sums(ctx, store.SumQuery{Components: ids, Language: language, Sources: language != ""})
	if err == nil && len(sums) == 0 && language != "" {
		err = rest.ErrNotFound
	}
	p.Progress = addUp(sums).Progress
	for i := range sums {
		p.Languages = append(p.Languages, widget.Language{
			Code: sums[i].Language, Name: e.Language(sums[i].Language).Name, Progress: sums[i].Progress,
		})
	}
	slices.SortFunc(p.Languages, func(a, b widget.Language) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Code, b.Code))
	})
	return p, err
}
