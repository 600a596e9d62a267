package server

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/repoglot/repoglot/api/gitexport"
	"github.com/repoglot/repoglot/catalog/store"
)

// TestGitExportWithoutDatabase: while the database is away, a clone is to be tried again.
func TestGitExportWithoutDatabase(t *testing.T) {
	t.Parallel()
	away := exports{clonable: func(*http.Request, string, string) (store.ComponentRow, string, bool, error) {
		return store.ComponentRow{}, "", false, fmt.Errorf("asking: %w", store.ErrUnavailable)
	}}
	rec := httptest.NewRecorder()
	gitexport.New(away.find, func(*http.Request) string { return "" }, nil).ServeHTTP(rec, httptest.NewRequest(http.MethodGet, "/git/p/app/info/refs?service=git-upload-pack", http.NoBody))
	if rec.Code != http.StatusServiceUnavailable || rec.Header().Get("Retry-After") == "" {
		t.Errorf("%d %v %s", rec.Code, rec.Header(), rec.Body)
	}
}
