package server

import (
	"net/http"
	"strings"
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
