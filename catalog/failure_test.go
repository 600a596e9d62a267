package catalog

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestWithoutPrivate(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"Author 'jana.secret@example.org' is no member":                           "Author '…' is no member",
		"You cannot push commits for <jana@example.org>; x@y":                     "You cannot push commits for …; …",
		"mkdir /srv/data/mirrors/91/git-000001/objects/64: not a directory":       "mkdir …: not a directory",
		`open "/srv/my data/x.git": no such file`:                                 `open "…": no such file`,
		"stat '/srv/x y/z', then (/a/b) and `/c`; d=/e/f,/g":                      "stat '…', then (…) and `…`; d=…,…",
		"https://example.org/a/b.git: access refused":                             "https://example.org/a/b.git: access refused",
		"ssh://git@host/x: refused; git@github.com:a/b.git: no":                   "ssh://git@host/x: refused; git@github.com:a/b.git: no",
		"ssh://jana@example.org/x, https://anna@example.org/y":                    "ssh://example.org/x, https://example.org/y",
		"file:///srv/git/x.git: gone":                                             "…: gone",
		`open C:\Users\jana\x.git: denied; \d and a/b, po/cs.po:4, 1/2, and / or`: `open …: denied; \d and a/b, po/cs.po:4, 1/2, and / or`,
		"/srv/git/app.git: repository cannot be reached":                          "…: repository cannot be reached",
		"quotas.files allows 5":                                                   "quotas.files allows 5",
	} {
		if got := WithoutPrivate(text); got != want {
			t.Errorf("%s\n got %s\nwant %s", text, got, want)
		}
	}
}

// TestWithoutPrivateAnywhere: wherever an address or a path stands in a text, no part of it
// is left, and what was removed once needs no removal again.
func TestWithoutPrivateAnywhere(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		secret := rapid.SampledFrom([]string{"jana.geheim@example.org", "<geheim@example.org>", "/srv/geheim/x", "'/srv/a b/geheim'", `"/geheim"`, "file:///geheim", `C:\geheim`}).Draw(t, "secret")
		word := rapid.StringMatching(`[a-zA-Z0-9 .:;,()'"/@-]{0,12}`)
		before, after := word.Draw(t, "before"), word.Draw(t, "after")
		text := before + " " + secret + " " + after
		got := WithoutPrivate(text)
		if strings.Contains(got, "geheim") {
			t.Errorf("%q became %q", text, got)
		}
		if again := WithoutPrivate(got); strings.Contains(again, "geheim") || len(again) > len(got)+3 {
			t.Errorf("%q became %q, then %q", text, got, again)
		}
	})
}

func TestFailurePublic(t *testing.T) {
	t.Parallel()
	f := Failure{Kind: FailureRefused, Words: "geheim", Since: time.Unix(1_700_000_000, 0)}
	if got := f.Public(); got != "refused since 2023-11-14T22:13:20Z" || !f.Failed() {
		t.Error(got)
	}
	f.Since = time.Time{}
	if got := f.Public(); got != "refused" {
		t.Error(got)
	}
	if got := (&Failure{}).Public(); got != "" {
		t.Error(got)
	}
	for text, want := range map[string]FailureKind{"refused": FailureRefused, "no branch": FailureNoBranch, "fetch x: no": FailureOther, "": FailureOther} {
		if got := KnownFailure(text); got != want {
			t.Errorf("%q is %q", text, got)
		}
	}
}
