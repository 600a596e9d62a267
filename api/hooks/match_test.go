package hooks

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestNothingOfStrangers: texts of a payload get into an entry only if the
// configuration has them too.
func TestNothingOfStrangers(t *testing.T) {
	t.Parallel()
	n := &notification{
		service: "GitHub", repoURL: "https://spam.example/", fullName: "buy/spam",
		repos: []string{"https://spam.example/", "https://user:pw@GitHub.com/kitchen/teapot.git/"}, branches: []string{"refs/heads/main"},
	}
	n.normalize()
	event, ok := n.about(teapot)
	want := map[string]string{"service_long_name": "GitHub", "repo_url": teapot, "repos": teapot, "full_name": "", "branch": ""}
	if diff := cmp.Diff(want, event); diff != "" || !ok {
		t.Errorf("about: %v (-want +got):\n%s", ok, diff)
	}
	event, ok = (&notification{service: "Gitea", fullName: "KITCHEN/Teapot", branches: []string{"STRANGER WAS HERE"}}).about(teapot)
	want = map[string]string{"service_long_name": "Gitea", "repo_url": teapot, "repos": "", "full_name": "kitchen/teapot", "branch": ""}
	if diff := cmp.Diff(want, event); diff != "" || !ok {
		t.Errorf("by its name: %v (-want +got):\n%s", ok, diff)
	}
	for _, name := range []string{"", "/", ".git", "a", "kitchen/teapot\x00", strings.Repeat("x", maxText+1), "it", "//"} {
		n := &notification{fullName: name}
		n.normalize()
		if _, ok := n.about(teapot); ok {
			t.Errorf("a repository is called %q", name)
		}
	}
}

// TestMatchStatus: an answer counts components by how far they match.
func TestMatchStatus(t *testing.T) {
	t.Parallel()
	s := newServer(
		t,
		Component{ID: 1, Project: "p", Slug: "app", Branch: "main", Enabled: true},
		Component{ID: 2, Project: "p", Slug: "docs", Branch: "main", Enabled: true},
		Component{ID: 3, Project: "off", Slug: "app", Branch: "main"},
		Component{ID: 4, Project: "p", Slug: "next", Branch: "next", Enabled: true},
		Component{ID: 5, Project: "p", Slug: "head", Tracking: "main", Enabled: true},
		Component{ID: 6, Project: "p", Slug: "old", Tracking: "master", Enabled: true},
		Component{ID: 0, Project: "p", Slug: "new-{component}", Enabled: true},
	)
	status, a, _ := s.push()
	want := answer{
		Status: "success", Message: "Update triggered: p/app, p/docs, p/head, p/new-{component}",
		Match: &matchStatus{7, 5, 4}, Updated: []string{"p/app", "p/docs", "p/head", "p/new-{component}"},
	}
	if diff := cmp.Diff(want, a, cmp.AllowUnexported(answer{})); diff != "" || status != 200 {
		t.Errorf("status %d (-want +got):\n%s", status, diff)
	}
	if diff := cmp.Diff([]string{"53 teapot# [5] GitHub main", "pull teapot#", "53 teapot#main [1 2] GitHub main", "pull teapot#main"}, s.pulls.did()); diff != "" {
		t.Errorf("done (-want +got):\n%s", diff)
	}
	// HEAD has moved to a branch that no pull has seen.
	s.clock.pass(time.Hour)
	_, a, _ = s.send("POST", "/hooks/github/", strings.ReplaceAll(pushed, "heads/main", "heads/trunk"), "X-GitHub-Event", "push")
	if diff := cmp.Diff([]string{"p/head", "p/old", "p/new-{component}"}, a.Updated); diff != "" {
		t.Errorf("the default branch (-want +got):\n%s", diff)
	}
	// Hooks that are switched off: nothing happens.
	s = newServer(t, Component{ID: 3, Project: "off", Slug: "app", Branch: "main"})
	if status, a, _ := s.push(); status != 202 || *a.Match != (matchStatus{1, 1, 0}) || len(s.pulls.did()) > 0 {
		t.Errorf("enable_hooks false: %d %+v", status, a)
	}
	if status, _, _ := s.send("GET", "/hooks/update/off/", ""); status != 405 || len(s.pulls.did()) > 0 {
		t.Errorf("enable_hooks false: update %d, want 405", status)
	}
}

// TestSuggestingBranches: a push to a branch whose texts are suggestions has the
// component pulled, without an entry: nothing of its own branch is new.
func TestSuggestingBranches(t *testing.T) {
	t.Parallel()
	from := func(branch string) bool { return strings.HasPrefix(branch, "l10n/") }
	s := newServer(
		t,
		Component{ID: 1, Project: "p", Slug: "app", Branch: "main", Enabled: true, Suggests: from},
		Component{ID: 2, Project: "p", Slug: "docs", Branch: "main", Enabled: true},
		Component{ID: 3, Project: "off", Slug: "app", Branch: "main", Suggests: from},
		Component{ID: 4, Project: "p", Slug: "next", Branch: "next", Enabled: true, Secured: true, Secret: "x", Suggests: from},
	)
	push := func(branch string) (int, answer) {
		t.Helper()
		status, a, _ := s.send("POST", "/hooks/github/", strings.ReplaceAll(pushed, "heads/main", "heads/"+branch), "X-GitHub-Event", "push")
		s.clock.pass(time.Hour)
		return status, a
	}
	if status, a := push("l10n/cs"); status != 200 || fmt.Sprint(a.Updated, *a.Match) != "[p/app] {3 2 1}" {
		t.Errorf("a branch that suggests: %d %+v", status, a)
	}
	if diff := cmp.Diff([]string{"pull teapot#main"}, s.pulls.did()); diff != "" {
		t.Errorf("done (-want +got):\n%s", diff)
	}
	if status, a := push("other"); status != 202 || a.Match.Branch != 0 || s.pulls.did() != nil {
		t.Errorf("another branch: %d %+v", status, a)
	}
	push("main")
	if diff := cmp.Diff([]string{"53 teapot#main [1 2] GitHub main", "pull teapot#main"}, s.pulls.did()); diff != "" {
		t.Errorf("the branch itself (-want +got):\n%s", diff)
	}
	request := strings.Replace(pushed, `"ref":"refs/heads/main"`, `"action":"synchronize","pull_request":{"base":{"ref":"main"}}`, 1)
	if status, a, _ := s.send("POST", "/hooks/github/", request, "X-GitHub-Event", "pull_request"); status != 200 || fmt.Sprint(a.Updated) != "[p/app p/docs]" {
		t.Errorf("a request: %d %+v", status, a)
	}
	if diff := cmp.Diff([]string{"pull teapot#main"}, s.pulls.did()); diff != "" {
		t.Errorf("a request (-want +got):\n%s", diff)
	}
}
