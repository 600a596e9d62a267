package resource

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"github.com/repoglot/repoglot/api/rest"
	"github.com/repoglot/repoglot/api/wire"
	"github.com/repoglot/repoglot/catalog/store"
)

// listUsers lists git authors by id, or those whose username begins with the parameter.
func listUsers(ctx context.Context, snap *store.Snapshot, r *rest.Request) (any, error) {
	shown, err := ShownComponents(ctx, snap)
	if err != nil {
		return nil, err
	}
	q := store.UserQuery{Components: shown}
	q.Prefix, _ = r.Params.Get("username")
	_, count, err := snap.Users(ctx, q)
	if err != nil {
		return nil, err
	}
	return r.List(int64(count), rest.MaxPageSize, "/api/users/", func(w rest.Window) (any, error) {
		q.Offset, q.Limit = w.Offset, w.Limit
		users, _, err := snap.Users(ctx, q)
		return rest.Objects(users, func(u *store.User) wire.Object { return newUser(r.Link, u) }), err
	})
}

func getUserStatistics(ctx context.Context, snap *store.Snapshot, r *rest.Request, user *store.User) (any, error) {
	ids, err := importedIDs(ctx, snap, "")
	if err != nil {
		return nil, err
	}
	all, err := snap.Contributions(ctx, user.ID, ids)
	var translated, suggested, uploaded int64
	for _, c := range all {
		translated, suggested, uploaded = translated+c.Updated, suggested+c.Suggested, uploaded+c.Added
	}
	return wire.Object{"translated", translated, "suggested", suggested, "uploaded", uploaded, "commented", 0, "languages", len(all)}, err
}

// newUser makes the object of a git author (docs/compatibility.md#users). From url on the keys are
// ours; date_joined is the time of the first commit, null if none has a date that can be read.
func newUser(l wire.Links, u *store.User) wire.Object {
	path := wire.UserPath(u.Username)
	return wire.Object{
		"username", u.Username, "full_name", u.FullName, "url", l.API(path), "date_joined", wire.TimeOrNull(u.Joined, wire.UnitTime),
		"statistics_url", l.API(path + "statistics/"), "is_bot", u.Bot,
	}
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
	return rest.ListOfObjects(r, list, of.path+"contributors/", func(c *store.Contributor) wire.Object {
		return wire.Object{
			"username", c.Username, "full_name", c.FullName, "language", wire.OrNull(languages[c.TranslationID]), "updated", c.Updated, "added", c.Added,
			"removed", c.Removed, "first", wire.ChangeTime(c.First), "last", wire.ChangeTime(c.Last), "url", r.Link.User(c.Username),
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
	byCode := map[string]map[string]wire.Credit{} // and by username
	for i := range list {
		c := &list[i]
		code, n := languages[c.TranslationID], c.Updated+c.Added
		if code == "" || wanted != "" && wanted != code || n == 0 {
			continue
		}
		if byCode[code] == nil {
			byCode[code] = map[string]wire.Credit{}
		}
		byCode[code][c.Username] = wire.Credit{FullName: c.FullName, ChangeCount: byCode[code][c.Username].ChangeCount + n}
	}
	out := make([]map[string][]wire.Credit, 0, len(byCode))
	for _, code := range slices.Sorted(maps.Keys(byCode)) {
		credits := slices.SortedFunc(maps.Values(byCode[code]), func(a, b wire.Credit) int {
			return cmp.Or(cmp.Compare(b.ChangeCount, a.ChangeCount), cmp.Compare(a.FullName, b.FullName))
		})
		out = append(out, map[string][]wire.Credit{e.Language(code).Name: credits})
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
