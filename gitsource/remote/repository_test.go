package remote

import (
	"errors"
	"strings"
	"testing"
)

func TestRemoteValidate(t *testing.T) {
	for _, r := range []Repository{
		{},
		{URL: "--upload-pack=id"},
		{URL: "ext::sh -c id"},
		{URL: "ftp://h/a"},
		{URL: "https:///a"},
		{URL: "ssh://-oProxyCommand=id/a"},
		{URL: "ssh://-x@h/a"},
		{URL: "-h:a"},
		{URL: "https://h"},
		{URL: "a\nb"},
		{URL: "a", Branch: "-x"},
		{URL: "a", Branch: "../x"},
		{URL: "a", Branch: "x..y"},
		{URL: "a", Branch: "x/"},
		{URL: "a", Branch: "x.lock"},
		{URL: "a", Branch: "x y"},
		{URL: "a", Branch: "@{-1}"},
		{URL: "a", Branch: ".x"},
	} {
		if err := r.Validate(); !errors.Is(err, ErrUnsupported) {
			t.Errorf("%q %q: %v, want ErrUnsupported", r.URL, r.Branch, err)
		}
	}
	for _, r := range []Repository{
		{URL: "a"},
		{URL: "/a", Branch: "feature/x"},
		{URL: "https://u:p@h:1/a"},
		{URL: "git@h:a"},
		{URL: "ssh://h/a"},
		{URL: "git://h/a", Branch: "3.13"},
		{URL: "https://h/a", Branch: "ü"},
	} {
		if err := r.Validate(); err != nil {
			t.Errorf("%q %q: %v", r.URL, r.Branch, err)
		}
	}
}

func TestEndpointClean(t *testing.T) {
	for in, want := range map[string]string{
		"https://u:p@h:1/a.git":   "https://h:1/a.git",
		"https://h/a?x=y":         "https://h/a?x=y",
		"ssh://git:pw@h:22/a":     "ssh://git@h:22/a",
		"git@h:a/b":               "git@h:a/b",
		"git@h:/a/b":              "ssh://git@h/a/b",
		"git+ssh://h/a":           "ssh://h/a",
		"https://u:p%40q@h/a%20b": "https://h/a%20b",
	} {
		e, err := parseEndpoint(in)
		if err != nil || e.clean() != want {
			t.Errorf("%q: %q, %v; want %q", in, e.clean(), err, want)
		}
	}
}

func TestBranchPattern(t *testing.T) {
	for _, c := range []struct{ pattern, yes, no string }{
		{"l10n/*", "l10n/x l10n/x/y", "l10n l10nx/y xl10n/y main"},
		{"*", "main a/b", ""},
		{"main", "main", "mai main2 a/main"},
		{"*-po", "cs-po a/b-po -po", "po cs-pot"},
		{"a*b*c", "abc axbxc aabbcc abcbc", "acb ab abcd xabc"},
		{"a*a", "aa aba", "a"},
		{"", "", "main"},
	} {
		p := pattern(t, c.pattern)
		for _, name := range strings.Fields(c.yes) {
			if !p.Match(name) {
				t.Errorf("%s does not match %s", c.pattern, name)
			}
		}
		for _, name := range strings.Fields(c.no) {
			if p.Match(name) {
				t.Errorf("%s matches %s", c.pattern, name)
			}
		}
		if p.String() != c.pattern {
			t.Errorf("%q became %q", c.pattern, p)
		}
	}
	for _, bad := range []string{"a b", "l10n/..", "-x", "a[b]", "a?", "l10n//*", "x/", "a\x00"} {
		if _, err := ParseBranchPattern(bad); err == nil {
			t.Errorf("%q is a pattern", bad)
		}
	}
	long := pattern(t, strings.Repeat("*a", 400)+"*b")
	if long.Match(strings.Repeat("a", 1<<20)) {
		t.Error("matches without its end")
	}
}
