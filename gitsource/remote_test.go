package gitsource

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
)

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
		if got := RedactURL(in); got != want {
			t.Errorf("RedactURL(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestRedactURLHidesSecrets(t *testing.T) {
	for _, secret := range []string{"hunter2", "hun:ter2", "hun/ter2", "hun?ter2", "hun#ter2", "hun@ter2", "hun%ter2", "ter2/@x", "[ter2]", "1234/ter2"} {
		for _, scheme := range []string{"http", "https", "ssh", "git", "HTTPS", "ftp"} {
			in := scheme + "://user:" + secret + "@example.org/a.git"
			if got := RedactURL(in); strings.Contains(got, "ter2") || strings.Contains(got, "hun") || strings.Contains(got, "1234") {
				t.Errorf("RedactURL(%q) = %q", in, got)
			}
		}
	}
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

func TestRemoteValidate(t *testing.T) {
	for _, r := range []Remote{
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
		if err := r.validate(); !errors.Is(err, ErrUnsupported) {
			t.Errorf("%q %q: %v, want ErrUnsupported", r.URL, r.Branch, err)
		}
	}
	for _, r := range []Remote{
		{URL: "a"},
		{URL: "/a", Branch: "feature/x"},
		{URL: "https://u:p@h:1/a"},
		{URL: "git@h:a"},
		{URL: "ssh://h/a"},
		{URL: "git://h/a", Branch: "3.13"},
		{URL: "https://h/a", Branch: "ü"},
	} {
		if err := r.validate(); err != nil {
			t.Errorf("%q %q: %v", r.URL, r.Branch, err)
		}
	}
}

func TestSecretsAreNotPrinted(t *testing.T) {
	c := Credential{Host: "example.org", Username: "u", Password: "hunter2", SSHKey: "/k"}
	r := Remote{URL: "https://u:hunter2@example.org/a", Credential: &c}
	a := access{user: "u", password: "hunter2"}
	var log bytes.Buffer
	slog.New(slog.NewTextHandler(&log, nil)).Info("x", "c", c, "p", &c, "r", r, "a", a)
	slog.New(slog.NewJSONHandler(&log, nil)).Info("x", "c", c, "p", &c, "r", r, "a", a)
	for _, v := range []any{c, &c, r, &r, a, &a, []any{c, r}} {
		fmt.Fprintf(&log, "%v %+v %#v %s\n", v, v, v, v)
	}
	if strings.Contains(log.String(), "hunter2") {
		t.Errorf("a secret was printed:\n%s", log.String())
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
