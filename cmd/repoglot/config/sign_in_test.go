package config_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/cmd/repoglot/config"
)

const github = "sign_in: [{id: gh, provider: github, client_id: a, client_secret_env: SECRET}]\n"

// TestSignIn: providers and roles are read, and mistakes are named with line and remedy.
func TestSignIn(t *testing.T) {
	t.Parallel()
	c := mustParse(t, `base_url: http://127.0.0.1:8080
sign_in:
  - {id: gh, provider: github, client_id: a, client_secret_env: SECRET, allow: anyone}
  - {provider: forgejo, url: "http://localhost:3000", client_id: b, client_secret_env: SECRET, allow: {members: [org, org/team]}}
  - {id: sso, provider: oidc, url: https://id.example.org/realm/, client_id: c, client_secret_env: SECRET}
translators: {cs: ["gh:Jana", "gh:#12345", "sso:jana@example.org"], "*": ["gh:boss"]}
admins: ["gh:boss"]
projects:
  - slug: p
    readers: ["forgejo:eve"]
    translators: {pt_BR: ["sso:#x y|z"], cs_CZ@hantec: [], no: []}
    components: [{slug: a, repo: "https://github.com/o/r.git", filemask: "*.po", push_mode: direct, forge: github, forge_token_env: TOKEN, translators: push}]
  - slug: q
`, "SECRET=s", "TOKEN=t")
	want := catalog.RoleBook{
		Admins: []string{"gh:boss"}, Translators: map[string][]string{"cs": {"gh:Jana", "gh:#12345", "sso:jana@example.org"}, "*": {"gh:boss"}},
		Projects: map[string]catalog.ProjectRoles{"p": {Readers: []string{"forgejo:eve"}, Translators: map[string][]string{"pt_BR": {"sso:#x y|z"}, "cs_CZ@hantec": nil, "no": nil}}},
	}
	if diff := cmp.Diff(want, c.Roles()); diff != "" {
		t.Errorf("roles (-want +got):\n%s", diff)
	}
	if s := c.SignIn; s[0].Forge() != "github.com" || s[1].ID != "forgejo" || s[1].Forge() != "localhost:3000" || !cmp.Equal(s[1].Allow.Members, []string{"org", "org/team"}) || s[2].Forge() != "" || s[2].ClientSecret != "s" {
		t.Errorf("%+v", s)
	}
	base := "base_url: https://l10n.example.org\n"
	for name, test := range map[string]struct {
		file, want string
		environ    []string
	}{
		"no base_url":                         {github, "f:1:1: sign_in needs base_url, where providers send people back to; write it, like https://l10n.example.org", []string{"SECRET=s"}},
		"base_url of the environment":         {github, "", []string{"SECRET=s", "REPOGLOT_BASE_URL=https://l10n.example.org"}},
		"base_url over http":                  {"base_url: http://l10n.example.org\n" + github, `f:1:11: base_url "http://l10n.example.org" is not https, which sign_in needs: on the way others could take sessions`, []string{"SECRET=s"}},
		"unset secret":                        {base + github, "f:2:71: sign_in[0].client_secret_env names SECRET, which is not set; set it in the environment of repoglot", nil},
		"a secret in the file":                {base + "sign_in: [{provider: github, client_id: a, client_secret_env: a-b}]\n", "f:2:63: sign_in[0].client_secret_env must be the name of an environment variable, not a secret; write it like GITHUB_SECRET", nil},
		"two of one id":                       {base + "sign_in:\n- {provider: gitlab, client_id: a, client_secret_env: SECRET}\n- {provider: gitlab, client_id: a, client_secret_env: SECRET}\n", `f:4:3: sign_in[1].id "gitlab" is that of a provider above; write an id for each`, []string{"SECRET=s"}},
		"an id that is no part of an address": {base + "sign_in: [{id: a/b, provider: gitlab, client_id: a, client_secret_env: SECRET}]\n", `f:2:16: sign_in[0].id "a/b" may hold small letters, digits, - and _ only; write it like gh`, []string{"SECRET=s"}},
		"no address":                          {base + "sign_in: [{provider: gitea, client_id: a, client_secret_env: SECRET}]\n", "f:2:11: sign_in[0].url is needed by gitea; write the address of the provider", []string{"SECRET=s"}},
		"an address over http":                {base + "sign_in: [{provider: gitea, url: http://git.example.org, client_id: a, client_secret_env: SECRET}]\n", `f:2:34: sign_in[0].url "http://git.example.org" is not https; secrets are sent there`, []string{"SECRET=s"}},
		"who may sign in":                     {base + "sign_in: [{provider: github, client_id: a, client_secret_env: SECRET, allow: nobody}]\n", `f:2:78: sign_in[0].allow must be a mapping of keys to values, but is the text "nobody"`, []string{"SECRET=s"}},
		"nobody may":                          {base + "sign_in: [{provider: github, client_id: a, client_secret_env: SECRET, allow: {members: []}}]\n", "f:2:79: sign_in[0].allow.members is empty; name who may sign in, or write allow: anyone", []string{"SECRET=s"}},
		"members of oidc":                     {base + "sign_in: [{provider: oidc, url: https://id.example.org, client_id: a, client_secret_env: SECRET, allow: {members: [a]}}]\n", "f:2:106: sign_in[0].allow.members are of forges; let the provider of oidc say who may use this server, and write anyone", []string{"SECRET=s"}},
		"unknown provider":                    {base + github + "admins: [\"gl:boss\"]\n", `f:3:10: admins[0] "gl:boss" names no provider of sign_in; write ID:NAME or ID:#SUBJECT with one of gh`, []string{"SECRET=s"}},
		"roles without providers":             {"admins: [\"gh:boss\"]\n", `f:1:10: admins[0] "gh:boss" names no provider of sign_in; write ID:NAME or ID:#SUBJECT with one of sign_in, which is empty`, nil},
		"a name of oidc":                      {base + "sign_in: [{id: sso, provider: oidc, url: https://id.example.org, client_id: a, client_secret_env: SECRET}]\nprojects: [{slug: p, readers: [\"sso:jana\"]}]\n", `f:3:32: projects[0].readers[0] "sso:jana" is neither an address nor a subject, and names of oidc may change hands; write sso:jana@example.org or sso:#SUBJECT`, []string{"SECRET=s"}},
		"no name":                             {base + github + "translators: {cs: [\"gh:\"]}\n", `f:3:20: translators.cs[0] "gh:" is no account; write gh:NAME or gh:#SUBJECT`, []string{"SECRET=s"}},
		"an unknown language":                 {base + github + "translators:\n  cs: []\n  csz: []\n", `f:5:3: translators.csz: "csz" is no language code; write one as in addresses, like cs or pt_BR, or "*"`, []string{"SECRET=s"}},
		"a language twice":                    {base + github + "translators:\n  cs: []\n  cs: []\n", `f:5:3: key "cs" is here twice, or merges; write each key once`, []string{"SECRET=s"}},
		"no languages":                        {base + github + "translators: [\"gh:jana\"]\n", "f:3:14: translators must be a mapping of keys to lists, but is a list", []string{"SECRET=s"}},
		"push without a forge":                {base + github + "projects: [{slug: p, components: [{slug: a, repo: x, filemask: \"*.po\", translators: push}]}]\n", "f:3:85: projects[0].components[0].translators push needs push_mode, forge and forge_token_env; write them", []string{"SECRET=s"}},
		"push of another forge":               {base + github + "projects: [{slug: p, components: [{slug: a, repo: \"https://gitlab.com/o/r\", filemask: \"*.po\", push_mode: direct, forge: gitlab, forge_token_env: T, translators: push}]}]\n", "f:3:162: projects[0].components[0].translators push needs sign_in with accounts of gitlab.com; add that provider", []string{"SECRET=s", "T=t"}},
		"push without its token":              {base + github + "projects: [{slug: p, components: [{slug: a, repo: \"https://github.com/o/r\", filemask: \"*.po\", push_mode: direct, forge: github, forge_token_env: T, translators: push}]}]\n", "f: component p/a: forge_token_env names T, which is not set: set it", []string{"SECRET=s"}},
	} {
		_, err := config.Parse("f", []byte(test.file), test.environ)
		if got := ""; err != nil {
			got = err.Error()
			if got != test.want {
				t.Errorf("%s:\n got %s\nwant %s", name, got, test.want)
			}
		} else if got != test.want {
			t.Errorf("%s: no error, want %s", name, test.want)
		}
	}
	if s := strings.Join([]string{c.SignIn[0].ClientSecret.String()}, ""); s != "***" {
		t.Errorf("the secret is printed: %s", s)
	}
}
