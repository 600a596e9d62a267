package resource

import (
	"cmp"
	"context"
	"maps"
	"net/url"
	"slices"
	"time"

	"github.com/repoglot/repoglot/api/rest"
	"github.com/repoglot/repoglot/api/wire"
	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/checks"
	"github.com/repoglot/repoglot/catalog/store"
)

// matrixDays is how long ago the earlier percentage of a matrix is.
const matrixDays = 30

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
		return rest.Objects(page, func(t *catalog.Translation) wire.MatrixCell {
			var before *catalog.Stats
			if s, ok := past[t.ID]; ok {
				before = &s
			}
			return wire.NewMatrixCell(r.Link, t, project.Slug, slugs[t.ComponentID], sources[t.ComponentID], before)
		}), err
	})
}

// listContributors lists the authors of entries in a time, those with the most first;
// ours. With by_language each language is counted by itself.
func listContributors(ctx context.Context, snap *store.Snapshot, r *rest.Request, of *scope) (any, error) {
	errs := rest.FieldErrors{}
	from, to := r.Timestamp("timestamp_after", errs), r.Timestamp("timestamp_before", errs)
	_, byLanguage := r.Params.Get("by_language")
	list, languages, err := contributorsOf(ctx, snap, of, store.ActivityQuery{From: from, To: to, ByTranslation: byLanguage}, errs)
	if err != nil {
		return nil, err
	}
	return rest.ListOfObjects(r, list, of.path+"contributors/", func(c *store.Contributor) wire.Contributor {
		return wire.Contributor{
			Username: c.Username, FullName: c.FullName, Language: wire.OrNull(languages[c.TranslationID]),
			Updated: c.Updated, Added: c.Added, Removed: c.Removed, First: wire.ChangeTime(c.First), Last: wire.ChangeTime(c.Last), URL: r.Link.User(c.Username),
		}
	})
}

// contributorsOf returns the contributors to a scope in the time of a query, and the languages
// of their translations by id. errs has the errors of the request's parameters so far.
func contributorsOf(ctx context.Context, snap *store.Snapshot, of *scope, q store.ActivityQuery, errs rest.FieldErrors) (list []store.Contributor, languages map[int64]string, err error) {
	q.TranslationID = of.translation
	if q.Components, err = of.components(ctx, snap); err != nil {
		return nil, nil, err
	}
	if err := errs.Err(); err != nil {
		return nil, nil, err
	}
	a, err := snap.Activity(ctx, q)
	if err != nil {
		return nil, nil, err
	}
	var ids []int64
	for i := range a.Contributors {
		if id := a.Contributors[i].TranslationID; id != 0 {
			ids = append(ids, id)
		}
	}
	found, err := snap.TranslationsByID(ctx, ids)
	languages = make(map[int64]string, len(found))
	for i := range found {
		languages[found[i].ID] = found[i].Language
	}
	return a.Contributors, languages, err
}

// listCredits answers who changed strings in a time, by language, as
// Weblate does. Without start or end the time has no such bound.
func (e *Env) listCredits(ctx context.Context, snap *store.Snapshot, r *rest.Request, of *scope) (any, error) {
	errs := rest.FieldErrors{}
	q := store.ActivityQuery{From: dayOrTime(r, "start", 0, errs), To: dayOrTime(r, "end", 24*time.Hour-time.Microsecond, errs), ByTranslation: true}
	list, languages, err := contributorsOf(ctx, snap, of, q, errs)
	if err != nil {
		return nil, err
	}
	wanted, _ := r.Params.Get("lang")
	type author struct{ code, name string }
	byCode := map[string][]wire.Credit{}
	at := map[author]int{}
	for i := range list {
		c := &list[i]
		code, n := languages[c.TranslationID], c.Updated+c.Added
		if code == "" || wanted != "" && wanted != code || n == 0 {
			continue
		}
		key := author{code, c.Username}
		if _, known := at[key]; !known {
			at[key] = len(byCode[code])
			byCode[code] = append(byCode[code], wire.Credit{FullName: c.FullName})
		}
		byCode[code][at[key]].ChangeCount += n
	}
	out := make([]map[string][]wire.Credit, 0, len(byCode))
	for _, code := range slices.Sorted(maps.Keys(byCode)) {
		slices.SortFunc(byCode[code], func(a, b wire.Credit) int {
			return cmp.Or(cmp.Compare(b.ChangeCount, a.ChangeCount), cmp.Compare(a.FullName, b.FullName))
		})
		out = append(out, map[string][]wire.Credit{e.Language(code).Name: byCode[code]})
	}
	return &rest.Array{Items: out}, nil
}

// dayOrTime reads a time, or a day and adds a part of it.
func dayOrTime(r *rest.Request, name string, part time.Duration, errs rest.FieldErrors) time.Time {
	value, _ := r.Params.Get(name)
	if day, err := time.Parse(time.DateOnly, value); err == nil {
		return day.Add(part)
	}
	return r.Timestamp(name, errs)
}

// maxOccurrences is the number of components that are searched for the same string.
const maxOccurrences = 1000

// listOccurrences lists the same string, with its context, in the same language of all
// components that the client may see, by id; ours.
func listOccurrences(ctx context.Context, snap *store.Snapshot, r *rest.Request, u *store.UnitRow) (any, error) {
	components, said, err := Occurrences(ctx, snap, u.Identity, u.Translation.Language, maxOccurrences)
	if err != nil {
		return nil, err
	}
	return r.List(int64(len(said)), rest.MaxUnitsSize, wire.UnitPath(u.ID)+"occurrences/", func(w rest.Window) (any, error) {
		var units []catalog.Unit
		var translations []int64
		for _, s := range rest.Slice(said, w) {
			units, translations = append(units, s.Unit), append(translations, s.Unit.TranslationID)
		}
		list, err := snap.TranslationsByID(ctx, translations)
		owners := map[int64]catalog.Translation{}
		for i := range list {
			owners[list[i].ID] = list[i]
		}
		return pageOfUnits(r.Link, units, owners, components), err
	})
}

// Occurrences finds a string in a language of the components that the client may see, by id:
// of most components at most. It returns those components, too.
func Occurrences(ctx context.Context, snap *store.Snapshot, identity catalog.Identity, language string, most int) (map[int64]*store.ComponentRow, []store.Said, error) {
	components, _, err := ServedComponents(ctx, snap)
	if err != nil {
		return nil, nil, err
	}
	ids, err := snap.Occurrences(ctx, identity, components, most)
	if err != nil {
		return nil, nil, err
	}
	sources, of := make([]catalog.Unit, len(ids)), make([]int64, len(ids))
	for i, id := range ids {
		sources[i], of[i] = catalog.Unit{ID: id, Identity: identity}, id/catalog.UnitsPerComponent
	}
	said, err := snap.SaidIn(ctx, sources, of, []string{language})
	return components, said, err
}

// listCheckSums lists the quality checks with the number of strings that fail each, the
// greatest first; ours.
func listCheckSums(ctx context.Context, snap *store.Snapshot, r *rest.Request) (any, error) {
	numbers, err := CheckUnits(ctx, snap)
	if err != nil {
		return nil, err
	}
	all := checks.All()
	slices.SortStableFunc(all, func(a, b checks.Check) int { return cmp.Compare(numbers[b.ID], numbers[a.ID]) })
	return rest.ListOfObjects(r, all, "/api/checks/", func(c *checks.Check) wire.CheckSum {
		return wire.CheckSum{
			Check: c.Name, Name: c.Title, Description: c.Description, Units: numbers[c.ID],
			UnitsURL: r.Link.Base + "/api/units/?q=" + url.QueryEscape("check:"+c.Name),
		}
	})
}

// CheckUnits are the numbers of strings by check that they fail, in all components that the
// client may see.
func CheckUnits(ctx context.Context, snap *store.Snapshot) (map[checks.ID]int64, error) {
	ids, err := importedIDs(ctx, snap, "")
	if err != nil {
		return nil, err
	}
	counts, err := snap.CheckCounts(ctx, ids)
	return UnitsByCheck(counts), err
}

// UnitsByCheck are numbers of strings by check.
func UnitsByCheck(counts []store.CheckCount) map[checks.ID]int64 {
	numbers := map[checks.ID]int64{}
	for i := range counts {
		numbers[checks.ID(counts[i].Check)] += counts[i].Units
	}
	return numbers
}
