package main

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/repoglot/repoglot/api/page"
	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store"
)

// home answers / with a page for browsers and with links for programs.
func (s *supervisor) home() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Add("Vary", "Accept")
		if !strings.Contains(r.Header.Get("Accept"), "text/html") {
			writeJSON(w, http.StatusOK, map[string]any{"name": "repoglot", "version": programVersion(), "api": "/api/", "readyz": "/readyz"})
			return
		}
		list, err := s.cards(r.Context())
		if err != nil {
			s.log.Error("home page", "error", err)
			http.Error(w, "The store cannot be read.", http.StatusInternalServerError)
			return
		}
		body, err := page.Home(list)
		if err != nil {
			s.log.Error("home page", "error", err)
			http.Error(w, "The page cannot be made.", http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Content-Security-Policy", page.Policy)
		_, _ = w.Write(body) // the client has gone
	})
}

// cards lists the public components, those on the home page with their share of
// translated strings.
func (s *supervisor) cards(ctx context.Context) ([]page.Component, error) {
	var list []page.Component
	err := s.eachVisible(ctx, func(ctx context.Context, snap *store.Snapshot, c *store.ComponentRow) error {
		card := page.Component{Project: c.Project.Slug, Slug: c.Slug, ProjectName: c.Project.Settings.Name, Name: c.Settings.Name, Imported: c.Imported}
		if c.Imported && len(list) < page.MaxHome {
			sums, err := snap.Sums(ctx, store.SumQuery{Components: []int64{c.ID}, Sources: true})
			if err != nil {
				return err
			}
			var all store.Sum
			for i := range sums {
				all.Add(sums[i])
			}
			card.Languages = int(all.Translations)
			card.Percent = float64(catalog.Percent(all.Stats.Translated.Units, all.Stats.Total.Units, 1000)) / 10
		}
		list = append(list, card)
		return nil
	})
	return list, err
}

// eachVisible calls a function for every public component.
func (s *supervisor) eachVisible(ctx context.Context, each func(context.Context, *store.Snapshot, *store.ComponentRow) error) error {
	err := s.engine.db.Read(ctx, func(ctx context.Context, snap *store.Snapshot) error {
		rows, err := snap.Components(ctx, "")
		if err != nil {
			return err
		}
		for i := range rows {
			if rows[i].Settings.Private(&rows[i].Project) {
				continue
			}
			if err := each(ctx, snap, rows[i]); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("listing components: %w", err)
	}
	return nil
}
