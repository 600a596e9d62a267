package config_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/cmd/repoglot/config"
	"github.com/repoglot/repoglot/gitsource/forge"
)

// withPush is a configuration of one component with further keys.
func withPush(keys string) string {
	return "projects:\n- slug: p\n  components:\n  - slug: app\n    repo: https://example.org/own/app.git\n    branch: main\n    filemask: po/*.po\n" +
		"    " + strings.ReplaceAll(strings.TrimSpace(keys), "\n", "\n    ") + "\n"
}

// TestPushSettings reads the settings of edits.
func TestPushSettings(t *testing.T) {
	t.Parallel()
	for keys, want := range map[string]catalog.Edits{
		"flush: 1h\nsignoff: true": {},
		"push_mode: direct":        {Mode: catalog.PushDirect, CommitBy: "author+language", Flush: 10 * time.Minute, FlushMax: 500},
		"push_mode: branch\npush_branch: l10n\ncommit_by: all\nflush: 5s\nflush_max: 0\non_conflict: edit\ncommit_gate: errors\npo_header: keep\nsignoff: true": {
			Mode: catalog.PushBranch, CommitBy: "all", Flush: 5 * time.Second, Overrule: true, Gate: true, KeepHeader: true, SignOff: true,
		},
		"push_mode: request\nforge: gitea\nforge_url: https://example.org\nforge_token_env: T": {
			Mode: catalog.PushRequest, CommitBy: "author+language", Flush: 10 * time.Minute, FlushMax: 500,
		},
		"push_mode: request\nrequest_per: language\npush_branch: l10n\nforge: github\nforge_token_env: T": {
			Mode: catalog.PushRequest, RequestPer: catalog.PerLanguage, CommitBy: "author+language", Flush: 10 * time.Minute, FlushMax: 500,
		},
		"push_mode: direct\nnew_base: a.pot\nmsgmerge: commit": {
			Mode: catalog.PushDirect, CommitBy: "author+language", Flush: 10 * time.Minute, FlushMax: 500, Update: catalog.Update{On: true},
		},
		"push_mode: direct\nnew_base: a.pot\nmsgmerge: commit\nmsgmerge_options: [previous, no_fuzzy_matching, no_location, no_wrap]\nmsgmerge_after: 1h\nmsgmerge_when: any": {
			Mode: catalog.PushDirect, CommitBy: "author+language", Flush: 10 * time.Minute, FlushMax: 500,
			Update: catalog.Update{On: true, Previous: true, NoFuzzyMatching: true, NoLocation: true, NoWrap: true, After: time.Hour, Any: true},
		},
		"push_mode: direct\nmsgmerge_options: [previous]\nmsgmerge_after: 1h": {
			Mode: catalog.PushDirect, CommitBy: "author+language", Flush: 10 * time.Minute, FlushMax: 500,
		},
	} {
		c, err := config.Parse("f", []byte(withPush(keys)), []string{"T=secret"})
		must(t, err)
		if diff := cmp.Diff(want, c.Projects[0].Components[0].Settings().Edits); diff != "" {
			t.Errorf("%s (-want +got):\n%s", keys, diff)
		}
	}
}

// TestPushMistakes: each mistake is found when the configuration is read.
func TestPushMistakes(t *testing.T) {
	t.Parallel()
	for keys, want := range map[string]string{
		"push_mode: sometimes":                                                          "must be one of direct, branch, request",
		"push_mode: branch\npush_branch: main":                                          "is the branch that is read",
		"push_mode: branch\npush_branch: a b":                                           "holds a character that no branch has",
		"push_mode: branch\npush_branch: a/.b":                                          "is no branch",
		"push_mode: direct\npush: sftp://example.org/b.git":                             `push has the scheme "sftp", which is not read`,
		"push_mode: direct\npush: -b":                                                   "begins with a dash",
		"push_mode: direct\nflush: 9000h":                                               "must be from 0s to 8760h",
		"push_mode: direct\nflush_max: -1":                                              "must be 0 or more",
		"push_mode: direct\ncommit_message: '{{ x }}'":                                  "is no template: 1:",
		"push_mode: direct\nadd_message: '{{ x }}'":                                     "add_message is no template: 1:",
		"push_mode: direct\ndelete_message: '{{ x }}'":                                  "delete_message is no template: 1:",
		"push_mode: direct\naddon_message: '{{ x }}'":                                   "addon_message is no template: 1:",
		"push_mode: direct\nnew_base: a.pot\nmsgmerge: always":                          "must be one of none, commit",
		"push_mode: direct\nmsgmerge: commit":                                           "commit needs push_mode and new_base",
		"new_base: a.pot\nmsgmerge: commit":                                             "commit needs push_mode and new_base",
		"push_mode: direct\nmsgmerge_after: 9000h":                                      "msgmerge_after must be from 0s to 8760h",
		"push_mode: direct\nmsgmerge_options: [no_python]":                              "is not one of previous, no_fuzzy_matching, no_location, no_wrap",
		"push_mode: direct\nmsgmerge_when: never":                                       "must be one of strings, any",
		"push_mode: branch\nrequest_per: component":                                     "request_per needs push_mode: request",
		"push_mode: request\nrequest_per: sometimes":                                    "must be one of component, language, author, repository",
		"push_mode: request\nrequest_per: author\nforge: github\nforge_token_env: T":    "author needs push_branch",
		"push_mode: request":                                                            "needs forge; write one of forgejo, ",
		"push_mode: request\nforge: github":                                             "needs forge_token_env",
		"push_mode: request\nforge: gitea\nforge_token_env: T":                          "set forge_url",
		"push_mode: request\nforge: gitea\nforge_url: http://x.org\nforge_token_env: T": "https",
		"push_mode: request\nforge: github\nforge_token_env: T\npush: /local/path":      "no address of a forge",
		"push_mode: request\nforge: github\nforge_token_env: NONE":                      "names NONE, which is not set",
		"push_mode: direct\nsigning_key_env: NONE":                                      "names NONE, which is not set",
		"push_mode: direct\nsigning_key_env: T":                                         "signing key: it is neither",
		"push_mode: direct\nsigning_key_env: '-----BEGIN OPENSSH PRIVATE KEY-----'":     "must be the name of an environment variable",
	} {
		_, err := config.Parse("f", []byte(withPush(keys)), []string{"T=secret"})
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret\"") {
			t.Errorf("%s: %v, want %s", keys, err, want)
		}
	}
}

// TestLoadWithoutSecrets: commands that do not push warn of secrets that cannot be used,
// and refuse all other mistakes.
func TestLoadWithoutSecrets(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "repoglot.yaml")
	for _, tt := range []struct{ keys, warning, mistake string }{
		{"push_mode: direct\nsigning_key_env: NONE", "component p/app: signing_key_env names NONE, which is not set", ""},
		{"push_mode: direct\nsigning_key_env: T", "signing key: it is neither", ""},
		{"push_mode: request\nforge: github\nforge_token_env: NONE", "forge_token_env names NONE, which is not set", ""},
		{"push_mode: sometimes", "", "must be one of direct, branch, request"},
	} {
		must(t, os.WriteFile(file, []byte(withPush(tt.keys)), 0o600))
		c, err := config.Load(file, []string{"T=secret"}, false)
		switch {
		case tt.mistake != "":
			if err == nil || !strings.Contains(err.Error(), tt.mistake) {
				t.Errorf("%s: %v, want %s", tt.keys, err, tt.mistake)
			}
		case err != nil:
			t.Errorf("%s: %v", tt.keys, err)
		case !strings.Contains(strings.Join(c.Warnings(), "\n"), tt.warning):
			t.Errorf("%s: warnings %q, want %s", tt.keys, c.Warnings(), tt.warning)
		}
		if _, err := config.Load(file, []string{"T=secret"}, true); err == nil {
			t.Errorf("%s: a server takes it", tt.keys)
		}
	}
}

// TestSharedPushBranch: components share a push_branch if they have the same branch and
// push_mode; else each would overwrite what the other pushed.
func TestSharedPushBranch(t *testing.T) {
	t.Parallel()
	const head = "projects:\n- slug: p\n  components:\n"
	component := func(slug, keys string) string {
		return "  - {slug: " + slug + ", repo: https://example.org/a.git, filemask: " + slug + "/*.po, " + keys + "}\n"
	}
	a, c := component("a", "branch: main, push_mode: branch, push_branch: l10n"), component("c", "branch: main, push_mode: branch")
	for keys, refused := range map[string]bool{
		"branch: main, push_mode: branch, push_branch: l10n":                                     false,
		"branch: next, push_mode: branch, push_branch: l10n-next":                                false,
		"branch: next, push_mode: branch, push_branch: l10n, push: https://example.org/b.git":    false,
		"branch: next, push_mode: direct, push_branch: l10n":                                     false,
		"branch: next, push_mode: branch, push_branch: l10n":                                     true,
		"branch: main, push_mode: request, push_branch: l10n, forge: github, forge_token_env: T": true,
		"branch: main, push_mode: branch, push_branch: l10n/b":                                   true,
		"branch: next, push_mode: branch, push_branch: repoglot/p/c":                             true,
		"branch: main, push_mode: branch, push_branch: repoglot/p/c":                             false,
	} {
		_, err := config.Parse("f", []byte(head+a+c+component("b", keys)), []string{"T=x"})
		if _, swapped := config.Parse("f", []byte(head+component("b", keys)+a+c), []string{"T=x"}); (swapped != nil) != (err != nil) {
			t.Errorf("%s: %v, but before the others %v", keys, err, swapped)
		}
		if got := err != nil && (strings.Contains(err.Error(), "each would overwrite") || strings.Contains(err.Error(), "is a folder of the branch")); got != refused || !refused && err != nil {
			t.Errorf("%s: %v, refused should be %v", keys, err, refused)
		}
	}
}

// TestRequestsInTheWay: components whose requests would get into each other's way are
// refused, and no others.
func TestRequestsInTheWay(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ app, web, repo, want string }{
		{"push_branch: l10n", "push_branch: l10n\nrequest_per: language", "app", "components[1].request_per language is repository for another component"},
		{"push_branch: l10n\nrequest_per: author", "push_branch: l10n\nrequest_per: language", "app", "components[1].request_per language is author for another component"},
		{"push_branch: l10n/web", "push_branch: l10n", "app", `components[1].push_branch "l10n" is a folder of the branch "l10n/web"`},
		{"push_branch: repoglot\nrequest_per: author", "", "app", `components[0].push_branch "repoglot" is a folder of the branch "repoglot/p/web"`},
		{"push_branch: l10n\nrequest_per: author", "push_branch: l10n/web", "other", ""},
		{"push_branch: l10n\nrequest_per: author", "push_branch: l10n-web", "app", ""},
		{"push_branch: l10n\nrequest_per: repository", "push_branch: l10n", "app", ""},
		{"request_per: component", "", "app", ""},
	} {
		const forge = "push_mode: request\nforge: github\nforge_token_env: T\n"
		web := "slug: web\nrepo: https://example.org/own/" + tt.repo + ".git\nbranch: main\nfilemask: web/*.po\n" + forge + tt.web
		text := withPush(forge+tt.app) + "  - " + strings.ReplaceAll(strings.TrimSpace(web), "\n", "\n    ") + "\n"
		_, err := config.Parse("f", []byte(text), []string{"T=secret"})
		if got := fmt.Sprint(err); tt.want == "" && err != nil || tt.want != "" && !strings.Contains(got, tt.want) {
			t.Errorf("%s beside %s: %s, want %q", tt.app, tt.web, got, tt.want)
		}
	}
}

// TestForgeKinds: the key forge takes every kind that there is, and the manual names the
// rights of its token.
func TestForgeKinds(t *testing.T) {
	field, _ := reflect.TypeFor[config.Component]().FieldByName("Forge")
	kinds := strings.Fields(field.Tag.Get("oneof"))
	slices.Sort(kinds)
	if !slices.Equal(kinds, forge.Kinds()) {
		t.Errorf("the key takes %q; there are %q", kinds, forge.Kinds())
	}
	page, err := os.ReadFile("../../../docs/editing.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range forge.Kinds() {
		if !bytes.Contains(page, []byte("`"+kind+"`")) {
			t.Errorf("docs/editing.md does not name %s", kind)
		}
	}
}
