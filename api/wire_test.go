package api

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/lang"
)

// TestPercent is decision 15 in the form of decision 1.
func TestPercent(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		n, total    int64
		share, done string
	}{
		{0, 0, "0.0", "100.0"},
		{0, 5, "0.0", "0.0"},
		{5, 5, "100.0", "100.0"},
		{1, 3, "33.3", "33.3"},
		{2, 3, "66.6", "66.6"},
		{23, 24, "95.8", "95.8"},
		{1, 1000, "0.1", "0.1"},
		{1, 2000, "0.0", "0.0"},
		{1999, 2000, "99.9", "99.9"},
		{9999999, 10000000, "99.9", "99.9"},
	} {
		body, err := renderJSON([]percent{share(tc.n, tc.total), shareDone(tc.n, tc.total)}, 0)
		if want := "[" + tc.share + "," + tc.done + "]"; err != nil || string(body) != want {
			t.Errorf("%d of %d: %s, %v; want %s", tc.n, tc.total, body, err, want)
		}
	}
}

// TestTimes: the form of each kind of time, whatever zone the value has.
func TestTimes(t *testing.T) {
	t.Parallel()
	zone := time.FixedZone("x", 2*60*60)
	for in, want := range map[time.Time][2]string{
		time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC):        {"2026-01-02T03:04:05.000000Z", "2026-01-02T03:04:05Z"},
		time.Date(2026, 1, 2, 3, 4, 5, 120000000, zone):    {"2026-01-02T01:04:05.120000Z", "2026-01-02T01:04:05Z"},
		time.Date(1969, 12, 31, 23, 59, 59, 999, time.UTC): {"1969-12-31T23:59:59.000000Z", "1969-12-31T23:59:59Z"},
	} {
		if got := [2]string{changeTime(in), unitTime(in)}; got != want {
			t.Errorf("%v: %v", in, got)
		}
	}
}

// TestCredentials is decision 28 at its last door.
func TestCredentials(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"https://example.org/a.git":                      "https://example.org/a.git",
		"https://user:pa55@example.org/a.git":            "https://example.org/a.git",
		"https://pa55@example.org/a.git":                 "https://example.org/a.git",
		"https://user:p@ss@example.org/a@b.git":          "https://example.org/a@b.git",
		"https://user:pa55@example.org":                  "https://example.org",
		"https://user:pa55@example.org?x=1":              "https://example.org",
		"HTTPS://user:pa55@example.org:8443/a.git":       "HTTPS://example.org:8443/a.git",
		"https://example.org/a.git?private_token=secret": "https://example.org/a.git",
		"ssh://git@example.org/a.git":                    "ssh://git@example.org/a.git",
		"ssh://git:pa55@example.org:22/a.git":            "ssh://git@example.org:22/a.git",
		"ssh://:pa55@example.org/a.git":                  "ssh://example.org/a.git",
		"git@example.org:a/b.git":                        "git@example.org:a/b.git",
		"file:///srv/git/a@b.git":                        "file:///srv/git/a@b.git",
		"/srv/git/a.git":                                 "/srv/git/a.git",
		"../a.git":                                       "../a.git",
		"":                                               "",
	} {
		if got := withoutCredentials(in); got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
}

func TestLicenseURL(t *testing.T) {
	t.Parallel()
	for id, want := range map[string]string{
		"MIT": "https://spdx.org/licenses/MIT.html", "GPL-3.0-or-later": "https://spdx.org/licenses/GPL-3.0-or-later.html",
		"GPL-2.0": "https://spdx.org/licenses/GPL-2.0.html", "CC-BY-SA-4.0": "https://spdx.org/licenses/CC-BY-SA-4.0.html",
		"Vim": "https://spdx.org/licenses/Vim.html",
		"":    "null", "proprietary": "null", "mit": "null", "MIT OR GPL-2.0": "null", "../MIT": "null",
	} {
		if got := text(licenseURL(id)); got != want {
			t.Errorf("%s: %s", id, got)
		}
	}
}

// TestLanguageOfTranslation is decision 13: the table's language, a language
// made up for an unknown code, a variant for a second file.
func TestLanguageOfTranslation(t *testing.T) {
	t.Parallel()
	table, err := lang.New()
	if err != nil {
		t.Fatal(err)
	}
	s := &Server{langs: table}
	for code, want := range map[string][3]string{
		"cs":    {"cs", "Czech", "ltr"},
		"ar":    {"ar", "Arabic", "rtl"},
		"cs_CZ": {"cs_CZ", "Czech", "ltr"},
		"qqq":   {"qqq", "qqq (generated)", "ltr"},
	} {
		l := newLanguage(links{base: "http://x", format: "api"}, s.language(code))
		if got := [3]string{l.Code, l.Name, l.Direction}; got != want || l.Aliases == nil || l.Plural.ID == 0 {
			t.Errorf("%s: %+v", code, l)
		}
	}
}

// TestLinksEscape: what stands in a path cannot leave its segment.
func TestLinksEscape(t *testing.T) {
	t.Parallel()
	for want, segments := range map[string][]string{
		"/api/users/jan-%C5%BEi%C5%BEka/": {"api", "users", "jan-žižka"},
		"/api/a%2Fb/%3Fc%23/%25/":         {"api", "a/b", "?c#", "%"},
		"/languages/sr@latin/":            {"languages", "sr@latin"},
	} {
		if got := path(segments...); got != want {
			t.Errorf("%v: %s", segments, got)
		}
	}
}

// TestChangeOfEvent: an event's own keys stand in details, unit and
// translation are null (decision 21).
func TestChangeOfEvent(t *testing.T) {
	t.Parallel()
	l := links{base: "http://x", format: "api"}
	body, err := renderJSON(newChange(l, &catalog.Change{
		ID: 5, Action: catalog.ActionParseError, Project: "p", Component: "c", Language: "fr", Username: "jane", AuthorName: "Jane", State: -1, OldState: -1,
		Timestamp: at, Event: map[string]string{"file": "po/fr.po", "line": "7", "message": "bad"},
	}), 0)
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"unit":null,"component":"http://x/api/components/p/c/?format=api","translation":null,"user":null,"author":null,` +
		`"timestamp":"2026-03-04T05:06:07.123456Z","action":24,"target":"","id":5,"action_name":"Parse error","url":"http://x/api/changes/5/?format=api",` +
		`"old":"","details":{"author_name":"Jane","commit":null,"commit_time":null,"context":"","file":"po/fr.po","line":7,"message":"bad",` +
		`"old_state":-1,"source":"","state":-1}}`
	if diff := cmp.Diff(want, string(body)); diff != "" {
		t.Error(diff)
	}
}

// TestCSV: nested objects, arrays, null, and what CSV has to quote.
func TestCSV(t *testing.T) {
	t.Parallel()
	got, err := renderCSV([]any{
		map[string]any{"a": map[string]any{"b": 1, "c": []string{"x", "y"}}, "z": nil},
		map[string]any{"a": map[string]any{"b": true}, "z": "q\"u,o\nte", "more": "<&>"},
	})
	want := "a.b,a.c.0,a.c.1,z,more\n1,x,y,,\ntrue,,,\"q\"\"u,o\nte\",<&>\n"
	if err != nil || string(got) != want {
		t.Errorf("%v\n%s", err, got)
	}
	for _, empty := range []any{[]int{}, []any{map[string]any{}}} {
		if got, err := renderCSV(empty); err != nil || strings.TrimSpace(string(got)) != "" {
			t.Errorf("%v: %v %q", empty, err, got)
		}
	}
}
