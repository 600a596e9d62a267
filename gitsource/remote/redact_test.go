package remote

import (
	"strings"
	"testing"
)

func TestRedactText(t *testing.T) {
	const url = "https://git.example.org/x.git"
	for _, c := range []struct {
		remote Repository
		access access
		text   string
		want   string
	}{
		{Repository{URL: url}, access{user: "u", password: "pw-secret"}, "fatal: Authentication failed for '" + url + "/'", "fatal: Authentication failed for '" + url + "/'"},
		{Repository{URL: url}, access{user: "u", password: "pw-secret"}, "bad pw-secret\nfor u@git.example.org", "bad ***; for git.example.org"},
		{Repository{URL: "https://u:pw%2Fx@git.example.org/x.git"}, access{}, "cannot open https://u:pw%2Fx@git.example.org/x.git, pw/x, pw%2Fx", "cannot open " + url + ", ***, ***"},
		{Repository{URL: "https://ghp_0123456789@git.example.org/x.git"}, access{}, "no ghp_0123456789", "no ***"},
		{Repository{URL: "https://ghp_0123456789abcdef:x-oauth-basic@git.example.org/x.git"}, access{}, "no ghp_0123456789abcdef", "no ***"},
		{Repository{URL: "ssh://production-deploy@git.example.org/x.git"}, access{user: "production-deploy"}, "production-deploy: denied", "production-deploy: denied"},
		{Repository{URL: url + "?private_token=abc"}, access{}, "at " + url + "?private_token=abc: private_token=abc", "at " + url + ": ***"},
	} {
		if got := redactText(c.text, c.remote, c.access); got != c.want {
			t.Errorf("%q becomes %q, want %q", c.text, got, c.want)
		}
	}
}

func TestRedactURL(t *testing.T) {
	for in, want := range map[string]string{
		"https://example.org/a.git":                    "https://example.org/a.git",
		"https://u:p@example.org/a.git":                "https://example.org/a.git",
		"https://TOKEN@example.org/a.git":              "https://example.org/a.git",
		"https://u:p@ss@example.org/a.git":             "https://example.org/a.git",
		"https://u:p/q@example.org/a.git":              "https://example.org/a.git",
		"https://u:p?q@example.org/a.git":              "https://example.org/a.git",
		"https://u:%zz@example.org/a.git":              "https://example.org/a.git",
		"https://example.org:8443/@scope/a.git":        "https://example.org:8443/@scope/a.git",
		"https://example.org/a.git?private_token=x":    "https://example.org/a.git",
		"https://example.org/a.git#x":                  "https://example.org/a.git",
		"https://u:p@[::1]:80/a.git":                   "https://[::1]:80/a.git",
		"ssh://git:pw@example.org:22/a.git":            "ssh://git@example.org:22/a.git",
		"git@example.org:a/b.git":                      "git@example.org:a/b.git",
		"git:pw@example.org:a/b.git":                   "git@example.org:a/b.git",
		"/srv/git/a@b.git":                             "/srv/git/a@b.git",
		"file:///srv/a@b.git":                          "file:///srv/a@b.git",
		"https://u:p@example.org/a\nb":                 "https://example.org/a\uFFFDb",
		"":                                             "",
		"https://":                                     "https://",
		"HTTPS://u:secret@EXAMPLE.org":                 "HTTPS://EXAMPLE.org",
		"git+ssh://me:pw@example.org/a":                "git+ssh://me@example.org/a",
		"unknown+scheme://user:secret@example.org/a.x": "unknown+scheme://example.org/a.x",
	} {
		if got := Redact(in); got != want {
			t.Errorf("RedactURL(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestRedactURLHidesSecrets(t *testing.T) {
	for _, secret := range []string{"hunter2", "hun:ter2", "hun/ter2", "hun?ter2", "hun#ter2", "hun@ter2", "hun%ter2", "ter2/@x", "[ter2]", "1234/ter2"} {
		for _, scheme := range []string{"http", "https", "ssh", "git", "HTTPS", "ftp"} {
			in := scheme + "://user:" + secret + "@example.org/a.git"
			if got := Redact(in); strings.Contains(got, "ter2") || strings.Contains(got, "hun") || strings.Contains(got, "1234") {
				t.Errorf("RedactURL(%q) = %q", in, got)
			}
		}
	}
}

func FuzzRedactURL(f *testing.F) {
	f.Add("git.example.org/x.git")
	f.Fuzz(func(t *testing.T, rest string) {
		if s := Redact("https://user:" + "hunter2" + "@" + rest); !strings.Contains(rest, "hunter2") && strings.Contains(s, "hunter2") {
			t.Fatalf("secret in %q", s)
		}
	})
}
