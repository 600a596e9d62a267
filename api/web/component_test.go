package web

import (
	"slices"
	"testing"

	"github.com/repoglot/repoglot/api/export"
	"github.com/repoglot/repoglot/catalog"
)

// TestDownloads: the pages offer each format of the exports, and the files as they are.
func TestDownloads(t *testing.T) {
	t.Parallel()
	for prefix, plain := range map[string]string{"": "", "zip:": "?format=zip"} {
		links := downloads("/file/", plain, prefix)
		for _, f := range export.Formats() {
			want := "/file/?format=" + prefix + f.Name
			if f.Name == "po" {
				want = "/file/" + plain
			}
			if !slices.ContainsFunc(links, func(l link) bool { return l.URL == want }) {
				t.Errorf("no link to %s: %v", want, links)
			}
		}
	}
}

// TestPlaces: the code of a component whose template is elsewhere is in the template's
// repository, to which links lead if it is on the forge of repoweb; its own files stay.
func TestPlaces(t *testing.T) {
	t.Parallel()
	const github, gitlab = "https://github.com/o/po/blob/{{branch}}/{{filename}}#L{{line}}", "https://gitlab.com/g/sub/po/-/blob/{{branch}}/{{filename}}#L{{line}}"
	for _, tt := range []struct{ repoweb, repo, branch, code, template, po string }{
		{github, "", "", "https://github.com/o/po/blob/main/a/b.c#L7", "https://github.com/o/po/blob/main/app.pot#L1", "https://github.com/o/po/blob/main/cs.po#L1"},
		{github, "", "code", "https://github.com/o/po/blob/code/a/b.c#L7", "https://github.com/o/po/blob/code/app.pot#L1", "https://github.com/o/po/blob/main/cs.po#L1"},
		{github, "https://github.com/p/app.git", "", "https://github.com/p/app/blob/HEAD/a/b.c#L7", "https://github.com/p/app/blob/HEAD/app.pot#L1", "https://github.com/o/po/blob/main/cs.po#L1"},
		{github, "https://github.com/p/app/", "v/2", "https://github.com/p/app/blob/v%2F2/a/b.c#L7", "https://github.com/p/app/blob/v%2F2/app.pot#L1", "https://github.com/o/po/blob/main/cs.po#L1"},
		{gitlab, "https://gitlab.com/p/app", "", "https://gitlab.com/p/app/-/blob/HEAD/a/b.c#L7", "https://gitlab.com/p/app/-/blob/HEAD/app.pot#L1", "https://gitlab.com/g/sub/po/-/blob/main/cs.po#L1"},
		{github, "https://gitlab.com/p/app", "", "", "", "https://github.com/o/po/blob/main/cs.po#L1"},
		{github, "/srv/git/app", "", "", "", "https://github.com/o/po/blob/main/cs.po#L1"},
		{"https://example.org/{{filename}}", "https://example.org/app", "", "", "", "https://example.org/cs.po"},
	} {
		c := &catalog.Component{Tracking: "main", Settings: catalog.ComponentSettings{Repoweb: tt.repoweb, NewBase: "app.pot", TemplateRepo: tt.repo, TemplateBranch: tt.branch}}
		if got := []string{placeURL(c, true, "a/b.c", 7), fileURL(c, "app.pot"), fileURL(c, "cs.po")}; !slices.Equal(got, []string{tt.code, tt.template, tt.po}) {
			t.Errorf("%q from %q %q: %q", tt.repoweb, tt.repo, tt.branch, got)
		}
	}
}
