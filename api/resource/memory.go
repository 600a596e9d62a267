package resource

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/repoglot/repoglot/api/rest"
	"github.com/repoglot/repoglot/api/wire"
	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/query"
	"github.com/repoglot/repoglot/catalog/store"
)

const (
	// maxLookups is the number of strings that one request may ask the memory for.
	maxLookups = 100
	// MaxRemembered is the length of a string that the memory is asked for, in characters.
	MaxRemembered = 2000
	// maxMatches is the number of matches for each.
	maxMatches = 10
)

// listMemory lists the texts of all strings that are translated, by id, in Weblate's shape:
// of each its first form (docs/compatibility.md#memory).
func listMemory(ctx context.Context, snap *store.Snapshot, r *rest.Request) (any, error) {
	q := "state:translated"
	for _, f := range [][2]string{{"project", "project"}, {"source", "source"}, {"source_language", "source_language"}, {"target_language", "language"}} {
		if value, _ := r.Params.Get(f[0]); value != "" {
			q += " " + f[1] + ":" + query.Quote(value)
		}
	}
	expr, err := parseQuery(q, r.Now)
	if err != nil {
		return nil, err
	}
	components, _, err := ServedComponents(ctx, snap)
	if err != nil {
		return nil, err
	}
	found, err := snap.Search(ctx, store.SearchQuery{Components: components, Expr: expr})
	if err != nil {
		return nil, SearchProblem(err)
	}
	return r.List(found.Count(), rest.MaxPageSize, "/api/memory/", func(w rest.Window) (any, error) {
		units, owners, err := found.Page(ctx, int64(w.Offset), w.Limit)
		return rest.Objects(units, func(u *catalog.Unit) wire.Object {
			t := owners[u.TranslationID]
			c := components[t.ComponentID]
			return wire.Object{
				"id", u.ID, "source", catalog.FirstForm(u.Source), "target", catalog.FirstForm(u.Target), "source_language", c.Settings.SourceLanguage, "target_language", t.Language,
				"origin", origin(c), "project", c.Project.ID, "from_file", true, "shared", true,
			}
		}), err
	})
}

// origin says in which component a text is.
func origin(c *store.ComponentRow) string { return c.Project.Slug + "/" + c.Slug }

// lookUp answers what the memory has for some strings, in their order
// (docs/compatibility.md#memory).
func lookUp(ctx context.Context, snap *store.Snapshot, r *rest.Request) (any, error) {
	if r.Asked == nil {
		return writeOnly(ctx, snap, r)
	}
	var q store.MemoryQuery
	var err error
	q.Project, _ = r.Params.Get("project")
	for _, f := range []struct {
		name string
		code *string
	}{{"source_language", &q.SourceLanguage}, {"target_language", &q.Language}} {
		if *f.code, _ = r.Params.Get(f.name); *f.code == "" { // where Weblate has it
			*f.code, err = r.Asked.Text(f.name)
		}
		if err == nil && *f.code == "" {
			err = rest.Required(f.name)
		}
		if err != nil {
			return nil, err
		}
	}
	if q.Strings, err = r.Asked.List("strings"); err == nil && (len(q.Strings) == 0 || len(q.Strings) > maxLookups) {
		err = rest.BadParameter("strings", fmt.Sprintf("Ensure that it has 1 to %d texts.", maxLookups))
	}
	if err == nil && slices.ContainsFunc(q.Strings, func(s string) bool { return utf8.RuneCountInString(s) > MaxRemembered }) {
		err = rest.BadParameter("strings", fmt.Sprintf("Ensure that each has no more than %d characters.", MaxRemembered))
	}
	if err != nil {
		return nil, err
	}
	found, err := Remembered(ctx, snap, q)
	if err != nil {
		return nil, err
	}
	exact, _ := r.Params.Get("exact")
	results := make([]wire.Object, len(found))
	for i, matches := range found {
		if only, _ := strconv.ParseBool(exact); only {
			matches = slices.DeleteFunc(matches, func(m store.Remembered) bool { return m.Similarity < 1 })
		}
		var match any // Weblate's
		if len(matches) > 0 {
			m := matches[0]
			match = wire.Object{
				"id", m.UnitID, "source", catalog.FirstForm(m.Source), "target", catalog.FirstForm(m.Target), "origin", origin(m.Component),
				"exact", m.Similarity == 1, "quality", int64(100 * m.Similarity),
			}
		}
		results[i] = wire.Object{"query", q.Strings[i], "match", match, "matches", rest.Objects(matches, func(m *store.Remembered) wire.Object {
			return wire.Object{
				"source", catalog.SplitForms(m.Source), "target", catalog.SplitForms(m.Target), "similarity", m.Similarity, "unit", r.Link.Unit(m.UnitID),
				"project", m.Component.Project.Slug, "component", m.Component.Slug, "at", wire.OrNull(m.At), "timestamp", wire.UnitTime(m.Time),
			}
		})}
	}
	return wire.Object{"results", results}, nil
}

// Remembered asks the memory, of all components that the client may see.
func Remembered(ctx context.Context, snap *store.Snapshot, q store.MemoryQuery) (found [][]store.Remembered, err error) {
	if q.Components, _, err = ServedComponents(ctx, snap); err != nil {
		return nil, err
	}
	q.Most = maxMatches
	found, err = snap.Memory(ctx, q)
	if price, ok := errors.AsType[*store.ErrPrice](err); ok && price.Price > store.MaxSearchPrice || errors.Is(err, store.ErrTooSlow) {
		return nil, rest.BadParameter("strings", "These are too many texts for so many strings: ask for fewer at a time.")
	}
	return found, SearchProblem(err)
}
