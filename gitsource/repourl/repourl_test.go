package repourl

import (
	"strings"
	"testing"
)

func TestRedact(t *testing.T) {
	for in, want := range map[string]string{
		"https://example.org/a.git":                      "https://example.org/a.git",
		"https://u:p@example.org/a.git":                  "https://example.org/a.git",
		"https://TOKEN@example.org/a.git":                "https://example.org/a.git",
		"https://u:p@ss@example.org/a.git":               "https://example.org/a.git",
		"https://u:p/q@example.org/a.git":                "https://example.org/a.git",
		"https://u:p?q@example.org/a.git":                "https://example.org/a.git",
		"https://u:%zz@example.org/a.git":                "https://example.org/a.git",
		"https://example.org:8443/@scope/a.git":          "https://example.org:8443/@scope/a.git",
		"https://example.org/a.git?private_token=x":      "https://example.org/a.git",
		"https://example.org/a.git#x":                    "https://example.org/a.git",
		"https://u:p@[::1]:80/a.git":                     "https://[::1]:80/a.git",
		"ssh://git:pw@example.org:22/a.git":              "ssh://git@example.org:22/a.git",
		"git@example.org:a/b.git":                        "git@example.org:a/b.git",
		"git:pw@example.org:a/b.git":                     "git@example.org:a/b.git",
		"/srv/git/a@b.git":                               "/srv/git/a@b.git",
		"file:///srv/a@b.git":                            "file:///srv/a@b.git",
		"https://u:p@example.org/a\nb":                   "https://example.org/a\uFFFDb",
		"":                                               "",
		"https://":                                       "https://",
		"HTTPS://u:secret@EXAMPLE.org":                   "HTTPS://EXAMPLE.org",
		"git+ssh://me:pw@example.org/a":                  "git+ssh://me@example.org/a",
		"unknown+scheme://user:secret@example.org/a.x":   "unknown+scheme://example.org/a.x",
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
		"file:///srv/git/a@b.git":                        "file:///srv/git/a@b.git",
		"/srv/git/a.git":                                 "/srv/git/a.git",
		"../a.git":                                       "../a.git",
	} {
		if got := Redact(in); got != want {
			t.Errorf("RedactURL(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestRedactHidesSecrets(t *testing.T) {
	for _, secret := range []string{"hunter2", "hun:ter2", "hun/ter2", "hun?ter2", "hun#ter2", "hun@ter2", "hun%ter2", "ter2/@x", "[ter2]", "1234/ter2"} {
		for _, scheme := range []string{"http", "https", "ssh", "git", "HTTPS", "ftp"} {
			in := scheme + "://user:" + secret + "@example.org/a.git"
			if got := Redact(in); strings.Contains(got, "ter2") || strings.Contains(got, "hun") || strings.Contains(got, "1234") {
				t.Errorf("RedactURL(%q) = %q", in, got)
			}
		}
	}
}

func FuzzRedact(f *testing.F) {
	f.Add("git.example.org/x.git")
	f.Fuzz(func(t *testing.T, rest string) {
		if s := Redact("https://user:" + "hunter2" + "@" + rest); !strings.Contains(rest, "hunter2") && strings.Contains(s, "hunter2") {
			t.Fatalf("secret in %q", s)
		}
	})
}

func TestIsLocal(t *testing.T) {
	for in, want := range map[string]string{
		"/srv/a.git":                "/srv/a.git",
		"a.git":                     "a.git",
		"../a":                      "../a",
		"./a:b":                     "./a:b",
		"file:///srv/a%20b.git":     "/srv/a b.git",
		"file://localhost/srv/a":    "/srv/a",
		"FILE:///srv/a":             "/srv/a",
		"file://host/srv/a":         "",
		"https://example.org/a.git": "",
		"git@example.org:a.git":     "",
		"host:a":                    "",
		"ssh://h/a":                 "",
		"ext::sh -c id":             "",
		"":                          "",
	} {
		got, ok := IsLocal(in)
		if got != want || ok != (want != "") {
			t.Errorf("IsLocal(%q) = %q, %v; want %q", in, got, ok, want)
		}
	}
}

// TestTransport: schemes in any case, and none that is not read.
func TestTransport(t *testing.T) {
	for scheme, want := range map[string]string{"HTTPS": "https", "git+ssh": "ssh", "ssh+git": "ssh", "git": "git", "file": "file", "ftp": "", "sftp": "", "": "", "ext": ""} {
		if got := Transport(scheme); got != want {
			t.Errorf("%q: %q, want %q", scheme, got, want)
		}
	}
}
