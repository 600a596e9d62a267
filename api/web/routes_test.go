package web

import (
	"html/template"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"github.com/repoglot/repoglot/api/rest"
	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/docs"
)

// TestManualParts: each page of the manual is in one part, and each named page exists.
func TestManualParts(t *testing.T) {
	t.Parallel()
	var named []string
	for _, part := range readManual() {
		for _, c := range part.Chapters {
			named = append(named, c.Name)
		}
	}
	slices.Sort(named)
	have, err := fs.Glob(docs.Files, "*.md")
	must(t, err)
	for i := range have {
		have[i] = strings.TrimSuffix(have[i], ".md")
	}
	if !slices.Equal(named, have) {
		t.Errorf("parts have %v, docs %v", named, have)
	}
}

// TestDifference: words are compared, and plural forms without a text are left out.
func TestDifference(t *testing.T) {
	t.Parallel()
	sep := catalog.FormSeparator
	for _, test := range []struct {
		old, new string
		want     []span
	}{
		{"a b", "a c", []span{{Text: "a "}, {Kind: "del", Text: "b"}, {Kind: "ins", Text: "c"}}},
		{sep + sep, "a" + sep + "b" + sep + "c", []span{{Kind: "ins", Text: "a\nb\nc"}}},
	} {
		if got := difference(test.old, test.new); !slices.Equal(got, test.want) {
			t.Errorf("%s: %q, want %q", strings.ReplaceAll(test.new, sep, "|"), got, test.want)
		}
	}
}

// TestPageOf: an answer of the API leads to the page about the same.
func TestPageOf(t *testing.T) {
	t.Parallel()
	for api, want := range map[string]string{
		"/api/":                                    "/projects/",
		"/api/projects/":                           "/projects/",
		"/api/projects/demo/languages/":            "/projects/demo/",
		"/api/projects/demo/changes/":              "/changes/browse/demo/",
		"/api/components/demo/app/":                "/projects/demo/app/",
		"/api/components/demo/a%252Fb/lock/":       "/projects/demo/a%252Fb/",
		"/api/components/demo/":                    "/projects/",
		"/api/translations/demo/app/cs/":           "/projects/demo/app/cs/",
		"/api/translations/demo/app/cs/units/":     "/translate/demo/app/cs/?q=is%3Afuzzy",
		"/api/translations/demo/app/cs/changes/":   "/changes/browse/demo/app/cs/",
		"/api/components/demo/changes/statistics/": "/projects/demo/changes/",
		"/api/languages/":                          "/languages/",
		"/api/languages/cs/statistics/":            "/languages/cs/",
		"/api/users/ada/contributions/":            "/user/ada/",
		"/api/units/":                              "/search/?q=is%3Afuzzy",
		"/api/checks/":                             "/checks/",
	} {
		if got := PageOf(api, rest.ParseQuery("q=is:fuzzy")); got != want {
			t.Errorf("%s: %s, want %s", api, got, want)
		}
	}
}

// TestBidi: in a text from right to left a placeholder is isolated, in a part of one too; nowhere
// else, and what is shown is escaped.
func TestBidi(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		text any
		want template.HTML
	}{
		{"Delete %d <b>files</b>", "Delete %d &lt;b&gt;files&lt;/b&gt;"},
		{"حذف %1$d من <b>", `حذف <bdi dir="ltr">%1$d</bdi> من <bdi dir="ltr">&lt;b&gt;</bdi>`},
		{"50% من &lt; {name}", `50% من <bdi dir="ltr">&amp;lt;</bdi> <bdi dir="ltr">{name}</bdi>`},
		{[]span{{Text: "מחק "}, {Kind: "ins", Text: "%(n)s"}, {Kind: "mark", Text: `"`}}, `מחק <ins><bdi dir="ltr">%(n)s</bdi></ins><mark>&#34;</mark>`},
		{[]span{{Kind: "del", Text: "%s"}}, "<del>%s</del>"},
	} {
		if got := bidi(tt.text); got != tt.want {
			t.Errorf("%q: %s, want %s", tt.text, got, tt.want)
		}
	}
}
