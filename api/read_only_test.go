package api

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/catalogtest"
)

// TestWithoutPushMode: a server that could take edits, of which no component does, answers
// as one that cannot, to strangers and to tokens, with the same status, headers and bytes.
func TestWithoutPushMode(t *testing.T) {
	t.Parallel()
	w := demoWorld(t)
	secrets := map[string]string{"": ""}
	for _, scope := range []catalog.Scope{catalog.ScopeRead, catalog.ScopeWrite} {
		secret, err := w.DB.Access().CreateToken(t.Context(), catalog.Token{Name: string(scope), Scope: scope, Created: time.Now()})
		must(t, err)
		secrets[string(scope)] = "Token " + secret
	}
	secrets["unknown"] = "Token rgt_UNKNOWN"
	p := catalogtest.Puller{Store: w.Store}
	editor := p.NewEditor(p.NewSyncer(catalogtest.Now), catalogtest.Now)
	plain, able := brief(bare(w, Options{})), brief(bare(w, Options{Edits: editor}))
	compare := func(method, path, name string) {
		t.Helper()
		_, want := send(plain, method, path, "Authorization", secrets[name])
		_, got := send(able, method, path, "Authorization", secrets[name])
		if want.Code != got.Code || want.Body.String() != got.Body.String() || !maps.EqualFunc(want.Header(), got.Header(), slices.Equal[[]string]) {
			t.Errorf("%s %s by %q: %d %v %.300s, want %d %v %.300s", method, path, name, got.Code, got.Header(), got.Body, want.Code, want.Header(), want.Body)
		}
	}
	for path := range resources {
		compare("GET", path, "")
		compare("OPTIONS", path, "")
		own := strings.Contains(path, "edits/1/") || strings.Contains(path, "/suggestions/1/")
		for _, method := range []string{"POST", "PUT", "PATCH", "DELETE"} {
			for name := range secrets {
				if name != "write" || !own { // whose edits these are is looked up first
					compare(method, path, name)
				}
			}
		}
	}
	for _, path := range catalogtest.DemoPages() {
		compare("GET", path, "write")
		compare("POST", path, "write")
	}
}
