package resource

import (
	"cmp"
	"context"
	"slices"

	"github.com/repoglot/repoglot/api/rest"
	"github.com/repoglot/repoglot/api/wire"
	"github.com/repoglot/repoglot/catalog/lang"
	"github.com/repoglot/repoglot/catalog/store"
)

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
	return rest.ListOfObjects(r, all, "/api/languages/", func(l *lang.Language) *wire.Language {
		return wire.NewLanguage(r.Link, *l)
	})
}

func getLanguage(_ context.Context, _ *store.Snapshot, r *rest.Request, l *lang.Language) (any, error) {
	return wire.NewLanguage(r.Link, *l), nil
}

// VisibleLanguage finds the language that the path names: one of the table; otherwise the
// code of a translation (a second file of one language); otherwise another spelling or an
// alias.
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
