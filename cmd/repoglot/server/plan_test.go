package server

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/repoglot/repoglot/cmd/repoglot/config"
	"github.com/repoglot/repoglot/gitsource/repourl"
)

func TestPlan(t *testing.T) {
	t.Parallel()
	c, err := config.Parse("/etc/r.yaml", []byte(`
credentials:
- {host: git.example.org, username: u, password_env: PW}
- {host: "git.example.org:8443", username: v, password_env: PW}
projects:
- slug: p
  components:
  - {slug: a, repo: "https://x:y@git.example.org/r.git", push: "https://x:y@git.example.org/r.git", filemask: "a/*.po"}
  - {slug: b, repo: "https://git.example.org/r.git", filemask: "b/*.po"}
  - {slug: "c-{component}", repo: "https://git.example.org/r.git", branch: next, filemask: "*/{component}.po"}
- slug: q
  access: private
  components:
  - {slug: d, repo: "https://git.example.org:8443/s.git", filemask: "*.po"}
  - {slug: e, repo: "../t", filemask: "*.po", access: public}
`), []string{"PW=secret"})
	must(t, err)
	p := NewPlan(c)
	got := map[string][]string{}
	for _, b := range p.branches {
		for _, c := range b.Components {
			got[b.Key] = append(got[b.Key], c.Spec.Project+"/"+c.Spec.Slug)
		}
	}
	want := map[string][]string{
		"/t#HEAD":                                 {"q/e"},
		"https://git.example.org/r.git#HEAD":      {"p/a", "p/b"},
		"https://git.example.org/r.git#next":      {"p/c-{component}"},
		"https://git.example.org:8443/s.git#HEAD": {"q/d"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("branches (-want +got):\n%s", diff)
	}
	if len(p.components) != 4 || len(p.templates) != 1 || p.templates[0].Slug != "c-{component}" {
		t.Errorf("%d components, templates %v", len(p.components), p.templates)
	}
	if b := p.branch("https://git.example.org/r.git#HEAD"); b == nil || b.Remote.URL != "https://x:y@git.example.org/r.git" || b.Remote.Credential.Username != "u" {
		t.Errorf("branch: %v", b)
	}
	if b := p.branch("https://git.example.org:8443/s.git#HEAD"); b.Remote.Credential.Username != "v" || b.Remote.Credential.Password != "secret" {
		t.Errorf("the credential with the port does not win: %v", b.Remote.Credential)
	}
	if b := p.branch("/t#HEAD"); b.Remote.Credential != nil {
		t.Errorf("a local repository got a credential")
	}
	if p.branch("other") != nil {
		t.Error("a branch for a key that is not there")
	}
	for _, s := range p.components {
		if s.Repo == "https://x:y@git.example.org/r.git" || s.Settings.Push == "https://x:y@git.example.org/r.git" {
			t.Errorf("%s carries a password", s.Slug)
		}
	}
	var public []string
	for _, c := range p.public() {
		public = append(public, c.Spec.Slug)
	}
	if diff := cmp.Diff([]string{"e", "a", "b", "c-{component}"}, public); diff != "" {
		t.Errorf("public (-want +got):\n%s", diff)
	}
}

func TestRemoteHost(t *testing.T) {
	t.Parallel()
	for repo, want := range map[string]string{
		"https://u:p@Git.example.org/x": "git.example.org",
		"https://git.example.org:8443/": "git.example.org:8443",
		"git@git.example.org:x/y.git":   "git.example.org",
		"ssh://git@h:22/x":              "h:22",
		"/srv/x":                        "",
		"file:///srv/x":                 "",
	} {
		if got := repourl.Host(repo); got != want {
			t.Errorf("repourl.Host(%s) = %q, want %q", repo, got, want)
		}
	}
}

// TestDiscoveredProject: components are named by their templates or filemasks.
// TestFingerprint: copies of the configuration with another setting of a component, a
// discovery or a project are told apart, and the same text is not.
func TestFingerprint(t *testing.T) {
	t.Parallel()
	const discovery = "      - slug: \"{component}\"\n        repo: /srv/r.git\n        filemask: \"{component}/po/*.po\"\n"
	const single = "      - slug: one\n        repo: /srv/r.git\n        filemask: one/po/*.po\n"
	text := func(project, component string) string {
		return "data_dir: /d\nprojects:\n  - slug: p\n" + project + "    components:\n" + component
	}
	seen := map[string]string{}
	for _, doc := range []string{
		text("", discovery), text("", single), text("    name: Other\n", discovery), text("    name: Other\n", single),
		text("", discovery+single), text("", discovery+"        check_flags: read-only\n"), text("", single+"        check_flags: read-only\n"),
		text("", discovery+"        new_base: \"{component}/po/x.pot\"\n"), text("", discovery+"        language_regex: \"^..$\"\n"),
		text("", discovery+"        history: none\n"), text("", discovery+"        access: private\n"), text("", discovery+"        branch: other\n"),
		text("", strings.Replace(discovery, "po/*", "l10n/*", 1)), text("", strings.Replace(discovery, "r.git", "s.git", 1)),
		text("", strings.Replace(discovery, `"{component}"`, `"x-{component}"`, 1)),
	} {
		var prints []string
		for range 2 {
			c, err := config.Parse("/etc/r.yaml", []byte(doc), nil)
			if err != nil {
				t.Fatalf("%v in\n%s", err, doc)
			}
			print, err := NewPlan(c).fingerprint()
			if err != nil {
				t.Fatal(err)
			}
			prints = append(prints, print.Fingerprint)
		}
		if other := seen[prints[0]]; other != "" || prints[0] != prints[1] {
			t.Errorf("%q: the same fingerprint as of\n%s\n%s", prints, other, doc)
		}
		seen[prints[0]] = doc
	}
}
