package web_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/repoglot/repoglot/api"
	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/catalogtest"
	"github.com/repoglot/repoglot/testrepos"
)

// Below the form are the three strings before and after it, as the file has them now; who cannot
// edit pays nothing for them.
func TestNearby(t *testing.T) {
	t.Parallel()
	file := func(sources string) string {
		text := "msgid \"\"\nmsgstr \"Content-Type: text/plain; charset=UTF-8\\n\"\n"
		for source := range strings.FieldsSeq(sources) {
			text += "\nmsgid \"" + source + "\"\nmsgstr \"" + strings.ToLower(source) + "\"\n"
		}
		return text
	}
	repo := testrepos.Empty(t)
	repo.Commit(t, testrepos.Change{Files: map[string]string{"po/cs.po": file("One Two Three Four Five Six Seven Eight Nine")}})
	p := catalogtest.NewPuller(t, repo.URL(), map[string]catalog.ComponentSettings{"app": {Edits: catalog.Edits{Mode: catalog.PushDirect}}})
	p.Sync()
	p.Commit(repo, testrepos.Change{Files: map[string]string{"po/cs.po": file("Nine One Two Three Four New Five Six Seven Eight")}})
	o := api.Options{DB: p.DB, Languages: p.Languages, Edits: p.Editor, CacheBytes: 1 << 20}
	o.Settings.SignIn = providers
	w := &translating{p, t, api.New(o)}
	jana := w.signIn(jana)
	row := regexp.MustCompile(`<span class="text">(\w+)</span>.*?<div class="text"[^>]*>(\w+)</div>`)
	near := func(v *catalogtest.Visitor, source string) (list []string) {
		_, table, _ := strings.Cut(v.Get(w.address("app", "cs", source, "")).Body.String(), `id="nearby"`)
		table, _, _ = strings.Cut(table, "</section>")
		for _, m := range row.FindAllStringSubmatch(table, -1) {
			if m[2] != strings.ToLower(m[1]) {
				t.Errorf("%s: %q", source, m)
			}
			list = append(list, m[1])
		}
		return list
	}
	for source, want := range map[string]string{
		"Nine": "One Two Three", "Two": "Nine One Three Four New", "Five": "Three Four New Six Seven Eight", "Eight": "Five Six Seven",
	} {
		if got := near(jana.Visitor, source); !slices.Equal(got, strings.Fields(want)) {
			t.Errorf("near %s: %q, want %s", source, got, want)
		}
	}
	if got := near(catalogtest.NewVisitor(t, w.s), "Five"); got != nil {
		t.Errorf("who cannot edit has %q", got)
	}
}
