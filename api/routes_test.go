package api

import (
	"net/http"
	"strings"
	"testing"

	"github.com/repoglot/repoglot/api/resource"
	"github.com/repoglot/repoglot/catalog/catalogtest"
)

// TestLiveRoutes finds routes that answer differently while a first import goes
// on, which the store does not know of: their kind must be resource.KindLive, or
// an old answer would be kept.
func TestLiveRoutes(t *testing.T) {
	t.Parallel()
	w := catalogtest.Demo(t)
	at := func(percent int) *Server {
		return bare(w, Options{Progress: func(int64) (resource.Progress, bool) {
			return resource.Progress{Percent: percent, Stage: "importing"}, true
		}})
	}
	before, after := at(10), at(20)
	fill := strings.NewReplacer(":project", "demo", ":component", "app", ":language", "cs", ":username", "karel", ":code", "cs",
		":uuid", resource.TaskID("demo", "docs"), ":slug", "x", ":linked", "x", ":widget", "svg-badge.svg", "/units/:id", "/units/268435458",
		"/changes/:id", "/changes/1", "/addons/:id", "/addons/6")
	found := 0
	for _, rt := range resource.Routes(&before.env) {
		if rt.Kind == resource.KindEvents {
			continue
		}
		for _, target := range []string{fill.Replace(rt.Path), strings.ReplaceAll(fill.Replace(rt.Path), "demo/app/", "demo/docs/")} {
			_, first := send(before, http.MethodGet, target)
			_, second := send(after, http.MethodGet, target)
			if first.Code != http.StatusOK || first.Body.String() == second.Body.String() {
				continue
			}
			found++
			if rt.Kind != resource.KindLive {
				t.Errorf("%s depends on the progress of imports: its kind must be KindLive", rt.Path)
			}
		}
	}
	if found == 0 {
		t.Error("no answer depends on the progress of imports")
	}
}
