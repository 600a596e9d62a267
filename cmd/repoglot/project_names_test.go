package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/repoglot/repoglot/cmd/repoglot/config"
	"github.com/repoglot/repoglot/gitsource/filemask"
)

func TestDiscoveredProject(t *testing.T) {
	t.Parallel()
	var found []filemask.FileSet
	for _, f := range []struct{ mask, base string }{
		{"po/*.po", "po/paperboat.pot"},
		{"docs/po/*.po", ""},
		{"locale/*/LC_MESSAGES/django.po", ""},
		{"web/locale/*/LC_MESSAGES/{component}.po", ""},
		{"*.po", ""},
		{"x/po/*.po", "x/paperboat.pot"},
	} {
		mask, err := filemask.Parse(f.mask)
		must(t, err)
		found = append(found, filemask.FileSet{Mask: mask, NewBase: f.base})
	}
	p := discoveredProject("https://u:p@example.org/team/My App.git", found)
	var slugs []string
	for _, c := range p.Components {
		slugs = append(slugs, c.Slug)
	}
	if diff := cmp.Diff([]string{"paperboat", "docs", "django", "web-{component}", "translations", "x"}, slugs); diff != "" {
		t.Errorf("slugs (-want +got):\n%s", diff)
	}
	if p.Slug != "My-App" || p.Name != "My App" {
		t.Errorf("project %s, %q", p.Slug, p.Name)
	}
	c, err := config.FromEnviron(nil)
	must(t, err)
	if err := c.Add(p); err != nil {
		t.Errorf("Add: %v", err)
	}
	for address, want := range map[string]string{
		"/srv/git/app.git":    "app",
		"/home/u/app/.git":    "app",
		"/home/u/app/":        "app",
		"git@example.org:app": "app",
		"https://h/a/b.git/":  "b",
	} {
		if got := repoName(address); got != want {
			t.Errorf("repoName(%s) = %q, want %q", address, got, want)
		}
	}
}
