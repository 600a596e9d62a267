package resource

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/repoglot/repoglot/api/rest"
	"github.com/repoglot/repoglot/api/wire"
	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/edit"
	"github.com/repoglot/repoglot/catalog/query"
	"github.com/repoglot/repoglot/catalog/store"
)

func listUnits(ctx context.Context, snap *store.Snapshot, r *rest.Request, t *store.TranslationRow) (any, error) {
	path := pathOf(t) + "units/"
	expr, err := UnitQuery(r)
	if err != nil {
		return nil, err
	}
	if expr != query.All {
		return searchUnits(ctx, snap, r, store.SearchQuery{Components: ComponentOf(t), TranslationID: t.ID, Expr: expr}, path)
	}
	return r.List(t.Stats.Total.Units, rest.MaxUnitsSize, path, func(w rest.Window) (any, error) {
		units, err := snap.Units(ctx, t.ID, w.Offset, w.Limit)
		scope := wire.NewUnitScope(r.Link, &t.Translation, t.Project.Slug, t.Component.Slug)
		return wire.NewUnitPage(units, func(*catalog.Unit) *wire.UnitScope { return &scope }), err
	})
}

// listMissing lists the strings of the template that the file of a translation lacks, by the
// ids of their source units; ours (docs/compatibility.md#missing-strings).
func listMissing(ctx context.Context, snap *store.Snapshot, r *rest.Request, t *store.TranslationRow) (any, error) {
	expr, err := UnitQuery(r)
	if err != nil {
		return nil, err
	}
	found, err := snap.Search(ctx, store.SearchQuery{Components: ComponentOf(t), TranslationID: t.ID, Missing: true, Expr: expr})
	if err != nil {
		return nil, SearchProblem(err)
	}
	return r.List(found.Count(), rest.MaxUnitsSize, pathOf(t)+"missing/", func(w rest.Window) (any, error) {
		units, _, err := found.Page(ctx, int64(w.Offset), w.Limit)
		return rest.Objects(units, func(u *catalog.Unit) wire.Object {
			return wire.Object{ // the id is of its source unit
				"id", u.ID, "source_unit", r.Link.Unit(u.ID), "source", catalog.SplitForms(u.Source), "context", u.Context, "location", u.Location, "note", u.Note, "flags", u.Flags,
			}
		}), err
	})
}

// getUnit also answers removed units and units of a removed translation: change
// entries link to them (docs/compatibility.md#ids).
func getUnit(_ context.Context, _ *store.Snapshot, r *rest.Request, unit *store.UnitRow) (any, error) {
	t := &unit.Translation
	scope := wire.NewUnitScope(r.Link, &t.Translation, t.Project.Slug, t.Component.Slug)
	return scope.Unit(&unit.Unit), nil
}

// listAllUnits lists the units of all served translations, by id.
func listAllUnits(ctx context.Context, snap *store.Snapshot, r *rest.Request) (any, error) {
	expr, err := UnitQuery(r)
	if err != nil {
		return nil, err
	}
	components, ids, err := ServedComponents(ctx, snap)
	if err != nil {
		return nil, err
	}
	if expr != query.All {
		return searchUnits(ctx, snap, r, store.SearchQuery{Components: components, Expr: expr}, "/api/units/")
	}
	totals, err := snap.UnitTotals(ctx, ids)
	if err != nil {
		return nil, err
	}
	var count int64
	for _, n := range totals {
		count += n
	}
	return r.List(count, rest.MaxUnitsSize, "/api/units/", func(w rest.Window) (any, error) {
		units, owners, err := snap.AllUnits(ctx, totals, int64(w.Offset), w.Limit)
		return pageOfUnits(r.Link, units, owners, components), err
	})
}

// listUnitTranslations lists a string in all languages except the source
// language, by id. The id in the path may be the string's in any language.
func listUnitTranslations(ctx context.Context, snap *store.Snapshot, r *rest.Request, unit *store.UnitRow) (any, error) {
	all, owners, err := snap.UnitsByIdentity(ctx, unit.Translation.Component.ID, unit.Identity)
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(u catalog.Unit) bool { return owners[u.TranslationID].IsSource })
	return r.List(int64(len(all)), rest.MaxUnitsSize, wire.UnitPath(unit.ID)+"translations/", func(w rest.Window) (any, error) {
		return pageOfUnits(r.Link, rest.Slice(all, w), owners, ComponentOf(&unit.Translation)), nil
	})
}

// pageOfUnits makes a page of units of several translations.
func pageOfUnits(l wire.Links, units []catalog.Unit, owners map[int64]catalog.Translation, components map[int64]*store.ComponentRow) wire.ListWriter {
	scopes := map[int64]*wire.UnitScope{}
	return wire.NewUnitPage(units, func(u *catalog.Unit) *wire.UnitScope {
		scope := scopes[u.TranslationID]
		if scope == nil {
			t := owners[u.TranslationID]
			of := components[t.ComponentID]
			made := wire.NewUnitScope(l, &t, of.Project.Slug, of.Slug)
			scope = &made
			scopes[u.TranslationID] = scope
		}
		return scope
	})
}

// The answers to searches that would delay other requests.
var (
	errSearchTooSlow = rest.BadParameter("q", "The search takes too long: "+narrowIt+".")
	errSearchBusy    = &rest.Problem{Status: http.StatusServiceUnavailable, Detail: "Too many searches are running.", RetryAfter: 1}
)

// narrowIt is what a client with a large search can do.
const narrowIt = "name a project, a component or a language, or leave regular expressions away"

// UnitQuery reads the parameter q; an empty or missing one is query.All. An
// error names its column (docs/compatibility.md#search).
func UnitQuery(r *rest.Request) (query.Expr, error) {
	q, _ := r.Params.Get("q")
	return parseQuery(q, r.Now)
}

func parseQuery(q string, now time.Time) (query.Expr, error) {
	expr, err := query.ParseAt(q, now)
	if wrong, ok := errors.AsType[*query.Error](err); ok {
		return nil, rest.BadParameter("q", wrong.Error())
	}
	return expr, err
}

// searchUnits answers the list at path with the units that q finds.
func searchUnits(ctx context.Context, snap *store.Snapshot, r *rest.Request, q store.SearchQuery, path string) (any, error) {
	found, err := snap.Search(ctx, q)
	if err != nil {
		return nil, SearchProblem(err)
	}
	return r.List(found.Count(), rest.MaxUnitsSize, path, func(w rest.Window) (any, error) {
		units, owners, err := found.Page(ctx, int64(w.Offset), w.Limit)
		return pageOfUnits(r.Link, units, owners, q.Components), err
	})
}

// SearchProblem is what a client is told of a failed search.
func SearchProblem(err error) error {
	var price *store.ErrPrice
	switch {
	case errors.As(err, &price) && price.Price > store.MaxSearchPrice:
		return rest.BadParameter("q", fmt.Sprintf("The search is too large, by about %d times: %s.", (price.Price+store.MaxSearchPrice-1)/store.MaxSearchPrice, narrowIt))
	case errors.Is(err, store.ErrTooSlow):
		return errSearchTooSlow
	case errors.Is(err, store.ErrBusy):
		return errSearchBusy
	}
	return err
}

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

// listUnitSuggestions lists the suggestions of a unit, by branch, those of people first. user is null
// for authors without a change entry: they are no users.
func listUnitSuggestions(ctx context.Context, snap *store.Snapshot, r *rest.Request, unit *store.UnitRow) (any, error) {
	objects, err := suggestionsOf(ctx, snap, r, unit, 0)
	if err != nil {
		return nil, err
	}
	return rest.ListOf(r, objects, rest.MaxPageSize, wire.UnitPath(unit.ID)+"suggestions/")
}

// suggestionsOf are the suggestions of a unit, or only the one of an edit.
func suggestionsOf(ctx context.Context, snap *store.Snapshot, r *rest.Request, unit *store.UnitRow, only int64) ([]wire.Object, error) {
	list, err := snap.Suggestions(ctx, unit.ID)
	if err != nil {
		return nil, err
	}
	list = slices.DeleteFunc(list, func(n store.Suggestion) bool { return HidesText(ctx, n.Stranger) || only != 0 && n.EditID != only })
	shown, err := ShownComponents(ctx, snap)
	if err != nil {
		return nil, err
	}
	objects := make([]wire.Object, len(list))
	for i := range list {
		n, wrote := &list[i], false
		if n.UserID != 0 {
			if wrote, err = snap.WroteIn(ctx, n.UserID, shown); err != nil {
				return nil, err
			}
		}
		objects[i] = newSuggestion(r.Link, unit, n, wrote)
	}
	return objects, nil
}

// newSuggestion makes the object of a suggestion; ours (docs/compatibility.md#comments-and-suggestions).
// A branch's has no id.
func newSuggestion(l wire.Links, u *store.UnitRow, n *store.Suggestion, user bool) (o wire.Object) {
	var url *string
	if user {
		url = wire.OrNull(l.User(n.Username))
	}
	if n.EditID != 0 {
		o = wire.Object{"id", n.EditID}
	}
	return append(
		o, "unit", l.Unit(u.ID), "target", catalog.TargetForms(u.Source, n.Target, u.Translation.PluralNumber), "user", url,
		"author_name", n.AuthorName, "timestamp", wire.TimeOrNull(n.At, wire.ChangeTime), "branch", n.Branch, "commit", n.Commit,
	)
}

// listUnitComments lists the comment of a unit: the translator comments that
// are in its file and not in the template, as one text. Removed units have no
// comment. Its author and time are null: git blames lines, and msgmerge moves lines.
func listUnitComments(_ context.Context, _ *store.Snapshot, r *rest.Request, unit *store.UnitRow) (any, error) {
	objects := []wire.Object{}
	if unit.Comment != "" {
		objects = append(objects, wire.Object{"id", unit.ID, "comment", unit.Comment, "user", nil, "timestamp", nil, "unit", r.Link.Unit(unit.ID)})
	}
	return rest.ListOf(r, objects, rest.MaxPageSize, wire.UnitPath(unit.ID)+"comments/")
}

// suggest makes a text a suggestion for a string (POST units/ID/suggestions/).
func (e *Env) suggest(ctx context.Context, r *rest.Request, u *store.UnitRow, body *rest.Body) (any, error) {
	target, err := body.List("target")
	if err != nil {
		return nil, err
	}
	by := SuggesterOf(ctx, &u.Translation)
	id, err := e.Suggest(ctx, u.Translation.Component.ID, u.TranslationID, by, edit.Request{UnitID: u.ID, Target: target, State: catalog.StateTranslated})
	if err != nil {
		return nil, err
	}
	made := newSuggestion(r.Link, u, &store.Suggestion{EditID: id, Target: catalog.JoinForms(target), AuthorName: by.Name}, false)
	err = e.Store.Read(ctx, func(ctx context.Context, snap *store.Snapshot) error {
		all, err := suggestionsOf(ctx, snap, r, u, id)
		if len(all) > 0 {
			made = all[0]
		}
		return err
	})
	if err != nil { // it is stored all the same
		e.Logger.Warn("a suggestion is answered without its time", "suggestion", id, "error", err)
	}
	return rest.Answer{Status: http.StatusCreated, Value: made}, nil
}

// WhyOf is a word that goes with an answer, in one line that is not too long.
func WhyOf(sent string) string { return catalog.Clip(strings.Join(strings.Fields(sent), " "), maxWhy) }

// answerSuggestion accepts a suggestion that somebody made, or rejects it.
func (e *Env) answerSuggestion(accept bool) func(context.Context, *rest.Request, *editRow, *rest.Body) (any, error) {
	return func(ctx context.Context, _ *rest.Request, j *editRow, body *rest.Body) (any, error) {
		if text, _ := body.Text("approve"); accept && text != "" && text != "false" && text != "0" {
			return nil, rest.BadParameter("approve", "Invalid state") // a PO file cannot keep it
		}
		why, err := body.Text("reason")
		if err != nil {
			return nil, err
		}
		return wire.Done{Result: true}, e.AnswerSuggestion(ctx, j.row.ID, j.TranslationID, edit.Answer{ID: j.ID, UnitID: j.UnitID, Accept: accept, Why: WhyOf(why), Own: mayRedo(ctx, j) != nil})
	}
}
