package resource

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"

	"github.com/repoglot/repoglot/api/rest"
	"github.com/repoglot/repoglot/api/wire"
	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/lang"
	"github.com/repoglot/repoglot/catalog/store"
)

func (e *Env) getTranslation(ctx context.Context, snap *store.Snapshot, r *rest.Request, t *store.TranslationRow) (any, error) {
	within := e.newComponent(r.Link, RowOf(t), true).Encoded()
	sources, err := snap.Sources(ctx, []int64{t.ComponentID})
	return e.newTranslation(r.Link, &t.Translation, sources[t.ComponentID], t.Project.Slug, t.Component.Slug, within), err
}

func (e *Env) listComponentTranslations(ctx context.Context, snap *store.Snapshot, r *rest.Request, component *store.ComponentRow) (any, error) {
	all, err := snap.Translations(ctx, component.ID)
	if err != nil {
		return nil, err
	}
	sources, err := snap.Sources(ctx, []int64{component.ID})
	if err != nil {
		return nil, err
	}
	return rest.ListOfObjects(r, all, wire.ComponentPath(component.Project.Slug, component.Slug)+"translations/", func(t *catalog.Translation) wire.Object {
		return e.newTranslation(r.Link, t, sources[component.ID], component.Project.Slug, component.Slug, nil)
	})
}

// listTranslations lists all served translations, by id.
func (e *Env) listTranslations(ctx context.Context, snap *store.Snapshot, r *rest.Request) (any, error) {
	return e.translationsOf(ctx, snap, r, "/api/translations/", snap.TranslationIDs)
}

// listContributions lists the translations in which an author has entries, by id.
func (e *Env) listContributions(ctx context.Context, snap *store.Snapshot, r *rest.Request, user *store.User) (any, error) {
	of := func(ctx context.Context, served []int64) ([]int64, error) {
		return snap.ContributedTranslations(ctx, user.ID, served)
	}
	return e.translationsOf(ctx, snap, r, wire.UserPath(user.Username)+"contributions/", of)
}

// translationsOf is a page of the list at path of translations of the served components.
func (e *Env) translationsOf(ctx context.Context, snap *store.Snapshot, r *rest.Request, path string, of func(context.Context, []int64) ([]int64, error)) (any, error) {
	components, served, err := ServedComponents(ctx, snap)
	if err != nil {
		return nil, err
	}
	ids, err := of(ctx, served)
	if err != nil {
		return nil, err
	}
	return r.List(int64(len(ids)), rest.MaxPageSize, path, func(w rest.Window) (any, error) {
		all, err := snap.TranslationsByID(ctx, rest.Slice(ids, w))
		if err != nil {
			return nil, err
		}
		of := rest.Objects(all, func(t *catalog.Translation) int64 { return t.ComponentID })
		slices.Sort(of)
		sources, err := snap.Sources(ctx, slices.Compact(of))
		within, languages := map[int64]json.RawMessage{}, map[string]json.RawMessage{} // a component has most of the JSON
		return rest.Objects(all, func(t *catalog.Translation) wire.Object {
			of := components[t.ComponentID]
			if within[of.ID] == nil {
				within[of.ID] = e.newComponent(r.Link, of, true).Encoded()
			}
			if languages[t.Language] == nil {
				languages[t.Language] = wire.NewLanguage(r.Link, e.Language(t.Language)).Encoded()
			}
			return wire.NewTranslation(r.Link, languages[t.Language], t, sources[t.ComponentID], of.Project.Slug, of.Slug, within[of.ID])
		}), err
	})
}

// ServedComponents returns the visible components that are imported, by id, and the sorted ids.
func ServedComponents(ctx context.Context, snap *store.Snapshot) (served map[int64]*store.ComponentRow, ids []int64, err error) {
	rows, err := VisibleComponents(ctx, snap, "")
	served = make(map[int64]*store.ComponentRow, len(rows))
	for _, c := range rows {
		if c.Imported {
			served[c.ID] = c
		}
	}
	return served, ImportedIDs(rows), err
}

// RowOf is the component of a translation.
func RowOf(t *store.TranslationRow) *store.ComponentRow {
	return &store.ComponentRow{Component: t.Component, Project: t.Project}
}

// ComponentOf is the component of a translation, by its id.
func ComponentOf(t *store.TranslationRow) map[int64]*store.ComponentRow {
	return map[int64]*store.ComponentRow{t.Component.ID: RowOf(t)}
}

func (e *Env) newTranslation(l wire.Links, t, source *catalog.Translation, project, component string, within json.RawMessage) wire.Object {
	return wire.NewTranslation(l, wire.NewLanguage(l, e.Language(t.Language)).Encoded(), t, source, project, component, within)
}

// listLanguages lists the languages that have a translation, by the id of their
// plural: a language has no other id.
func (e *Env) listLanguages(ctx context.Context, snap *store.Snapshot, r *rest.Request) (any, error) {
	codes, err := servedLanguages(ctx, snap)
	if err != nil {
		return nil, err
	}
	all := rest.Objects(codes, func(code *string) lang.Language { return e.Language(*code) })
	slices.SortFunc(all, func(a, b lang.Language) int {
		return cmp.Or(cmp.Compare(a.Plural.ID, b.Plural.ID), cmp.Compare(a.Code, b.Code))
	})
	return rest.ListOfObjects(r, all, "/api/languages/", func(l *lang.Language) wire.Object {
		return wire.NewLanguage(r.Link, *l)
	})
}

// VisibleLanguage finds the language that the path names: one of the table; otherwise the code
// of a translation (a second file of one language); otherwise another spelling or an alias.
func (e *Env) VisibleLanguage(ctx context.Context, snap *store.Snapshot, r *rest.Request) (lang.Language, error) {
	code := cmp.Or(r.PathParam("code"), r.PathParam("language"))
	if l, ok := e.Languages.ByCode(code); ok {
		return l, nil
	}
	codes, err := servedLanguages(ctx, snap)
	if err != nil {
		return lang.Language{}, err
	}
	if slices.Contains(codes, code) {
		return e.Language(code), nil
	}
	if l, ok := e.Languages.Lookup(code); ok {
		return l, nil
	}
	return lang.Language{}, rest.ErrNotFound
}
