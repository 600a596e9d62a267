package api

import (
	"cmp"
	"context"
	"slices"

	"github.com/repoglot/repoglot/catalog/lang"
	"github.com/repoglot/repoglot/catalog/store"
)

// listLanguages lists the languages that have a translation (facts §6), by the
// only id that a language has, that of its plural.
func (s *Server) listLanguages(ctx context.Context, snap *store.Snapshot, r *request) (any, error) {
	components, err := visibleComponents(ctx, snap, "")
	if err != nil {
		return nil, err
	}
	translations, err := translationsOf(ctx, snap, components)
	if err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	var all []lang.Language
	for i := range translations {
		if code := translations[i].Language; !seen[code] {
			seen[code] = true
			all = append(all, s.language(code))
		}
	}
	slices.SortFunc(all, func(a, b lang.Language) int {
		return cmp.Or(cmp.Compare(a.Plural.ID, b.Plural.ID), cmp.Compare(a.Code, b.Code))
	})
	w, err := r.window(int64(len(all)), maxPageSize)
	if err != nil {
		return nil, err
	}
	objects := []*languageObject{}
	for _, l := range slice(all, w) {
		objects = append(objects, newLanguage(r.link, l))
	}
	return r.list(w, "/api/languages/", objects), nil
}

func (s *Server) getLanguage(ctx context.Context, snap *store.Snapshot, r *request) (any, error) {
	l, err := s.visibleLanguage(ctx, snap, r.segment("code"))
	if err != nil {
		return nil, err
	}
	return newLanguage(r.link, l), nil
}

// visibleLanguage finds every language of the table, then the codes that
// translations have beside those (a second file of one language), then other
// spellings and aliases.
func (s *Server) visibleLanguage(ctx context.Context, snap *store.Snapshot, code string) (lang.Language, error) {
	if l, ok := s.langs.ByCode(code); ok {
		return l, nil
	}
	components, err := visibleComponents(ctx, snap, "")
	if err != nil {
		return lang.Language{}, err
	}
	translations, err := translationsOf(ctx, snap, components)
	if err != nil {
		return lang.Language{}, err
	}
	if slices.ContainsFunc(translations, func(t placedTranslation) bool { return t.Language == code }) {
		return s.language(code), nil
	}
	if l, ok := s.langs.Lookup(code); ok {
		return l, nil
	}
	return lang.Language{}, errNotFound
}

// translationsOf reads the translations of components whose first import is
// done, by id.
func translationsOf(ctx context.Context, snap *store.Snapshot, components []store.ComponentRow) ([]placedTranslation, error) {
	var all []placedTranslation
	for i := range components {
		if !components[i].Imported {
			continue
		}
		translations, err := snap.Translations(ctx, components[i].ID)
		if err != nil {
			return nil, err
		}
		for _, t := range translations {
			all = append(all, placedTranslation{Translation: t, component: &components[i]})
		}
	}
	slices.SortFunc(all, func(a, b placedTranslation) int { return cmp.Compare(a.ID, b.ID) })
	return all, nil
}
