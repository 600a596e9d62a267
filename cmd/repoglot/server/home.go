package server

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/repoglot/repoglot/catalog/store"
)

// home answers / with links for programs; a browser gets the page of pages.
func home(pages http.Handler, version string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.Contains(r.Header.Get("Accept"), "text/html") {
			pages.ServeHTTP(w, r)
			return
		}
		w.Header().Add("Vary", "Accept")
		writeJSON(w, http.StatusOK, map[string]any{"name": "repoglot", "version": version, "api": "/api/", "readyz": "/readyz"})
	})
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
