package config_test

import (
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/cmd/repoglot/config"
)

// contract is a configuration with every kind of key.
const contract = `listen: 127.0.0.1:8080
base_url: ""                  # public origin; empty: taken from each request
data_dir: ./repoglot-data     # database, mirrors
database: ""
poll_interval: 5m             # 0 switches polling off
workers: 0
max_file_size: 128MiB
metrics_listen: ""
trusted_proxies: []
cors_origins: []
rate_limit: {}
credentials: []
bots: []
git: auto
safe_directories: []
projects:
  - slug: demo
    name: Demo
    web: https://example.org/
    components:
      - slug: app
        name: App
        repo: https://example.org/app.git
        branch: main
        filemask: po/*.po
        new_base: po/app.pot
        source_language: en
        language_regex: "^[^.]+$"
        license: GPL-3.0-or-later
        check_flags: ignore-same
        is_glossary: false
        webhook_secret_env: APP_HOOK_SECRET
        suggestions: {branches: "l10n/*"}
        access: public
        history: full
      - slug: "docs-{component}"
        filemask: "locale/*/LC_MESSAGES/{component}.po"
        repo: https://example.org/app.git
      - slug: "manual-{component}"
        filemask: "{component}.po"
        language: es
        repo: https://example.org/manual-es.git
`

func parse(t *testing.T, text string, environ ...string) (*config.Config, error) {
	t.Helper()
	return config.Parse("/etc/repoglot/r.yaml", []byte(text), environ)
}

func mustParse(t *testing.T, text string, environ ...string) *config.Config {
	t.Helper()
	c, err := parse(t, text, environ...)
	if err != nil {
		t.Fatalf("Parse: %v", err)
	}
	return c
}

func TestContract(t *testing.T) {
	c := mustParse(t, contract)
	if c.Listen != "127.0.0.1:8080" || c.PollInterval != 5*time.Minute || c.MaxFileSize != 128<<20 || c.Git != "auto" {
		t.Errorf("scalars: %+v", c)
	}
	if c.DataDir != "/etc/repoglot/repoglot-data" {
		t.Errorf("data_dir = %s, want it beside the file", c.DataDir)
	}
	list := c.Projects[0].Components
	if len(list) != 3 {
		t.Fatalf("%d components", len(list))
	}
	app := config.DefaultComponent()
	app.Slug, app.Name, app.Repo, app.Branch = "app", "App", "https://example.org/app.git", "main"
	app.Filemask, app.NewBase, app.License, app.CheckFlags = "po/*.po", "po/app.pot", "GPL-3.0-or-later", "ignore-same"
	app.WebhookSecretEnv, app.Suggestions.Branches, app.Access = "APP_HOOK_SECRET", "l10n/*", catalog.AccessPublic
	app.WebhookSecured = true
	if diff := cmp.Diff(app, list[0]); diff != "" {
		t.Errorf("app (-want +got):\n%s", diff)
	}
	if list[1].Name != "{component}" || !list[1].Discovers() || list[0].Discovers() {
		t.Errorf("discovery: %+v", list[1])
	}
	if list[2].Language != "es" {
		t.Errorf("language = %q", list[2].Language)
	}
	want := []string{
		"webhook_secret_env names APP_HOOK_SECRET, which is not set: webhooks are refused until it is",
	}
	if diff := cmp.Diff(want, c.Warnings()); diff != "" {
		t.Errorf("warnings (-want +got):\n%s", diff)
	}
}

// minimal is the smallest configuration with a component.
const minimal = `projects:
- slug: p
  components:
  - {slug: c, repo: ../r, filemask: "*.po"}
`

// TestDefaults checks the defaults of docs/configuration.md.
func TestDefaults(t *testing.T) {
	c := mustParse(t, minimal)
	p := c.Projects[0]
	if diff := cmp.Diff(catalog.ProjectSettings{Name: "p", SetLanguageTeam: true, EnableHooks: true, Access: catalog.AccessPublic}, p.ProjectSettings); diff != "" {
		t.Errorf("project (-want +got):\n%s", diff)
	}
	if p.Components[0].Repo != "/etc/r" {
		t.Errorf("repo = %q, want it relative to the file", p.Components[0].Repo)
	}
	got := p.Components[0].Settings()
	for _, m := range []*string{&got.CommitMessage, &got.AddMessage, &got.DeleteMessage, &got.MergeMessage, &got.AddonMessage, &got.PullMessage} {
		if *m == "" || strings.Contains(strings.ReplaceAll(*m, "\r\n", ""), "\n") || !strings.Contains(*m, "{{ ") {
			t.Errorf("message template %q", *m)
		}
		*m = ""
	}
	want := catalog.ComponentSettings{
		Name: "c", VCS: "git", Filemask: "*.po", EditTemplate: true, FileFormat: "po", NewLang: "add",
		SourceLanguage: "en", LanguageRegex: "^[^.]+$", Priority: 100, MergeStyle: "merge",
		AllowTranslationPropagation: true, EnableSuggestions: true, AutoLockError: true, GlossaryColor: "silver",
		History: catalog.History{Full: true},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("component (-want +got):\n%s", diff)
	}
	if len(c.Warnings()) != 0 {
		t.Errorf("warnings: %q", c.Warnings())
	}
}

// TestSettingsCarryEverything: Settings has every field of a configured component.
func TestSettingsCarryEverything(t *testing.T) {
	fill := func(v reflect.Value) {
		for i := range v.NumField() {
			switch f := v.Field(i); f.Kind() {
			case reflect.String:
				f.SetString("x")
			case reflect.Bool:
				f.SetBool(true)
			case reflect.Int:
				f.SetInt(7)
			case reflect.Slice:
				if f.Type().Elem().Kind() == reflect.String {
					f.Set(reflect.ValueOf([]string{"x"}))
				}
			}
		}
	}
	var c config.Component
	for _, part := range []any{&c, &c.ComponentSettings, &c.History, &c.Suggestions} {
		fill(reflect.ValueOf(part).Elem())
	}
	v := reflect.ValueOf(c.Settings())
	for i := range v.NumField() {
		name := v.Type().Field(i).Name
		if name == "Discovery" { // set where a discovery finds a component
			continue
		}
		if v.Field(i).IsZero() {
			t.Errorf("%s does not come from the configuration", name)
		}
	}
}

func TestEnvironment(t *testing.T) {
	c := mustParse(t, contract+"# x\n",
		"REPOGLOT_LISTEN=:9", "REPOGLOT_BASE_URL=https://L10N.example.org/", "REPOGLOT_DATA_DIR=/var/lib/r",
		"REPOGLOT_POLL_INTERVAL=90s", "REPOGLOT_WORKERS=3", "REPOGLOT_MAX_FILE_SIZE=2KB", "REPOGLOT_METRICS_LISTEN=:10",
		"REPOGLOT_GIT=builtin", "REPOGLOT_DATABASE=postgres://u:secret@h/d", "REPOGLOT_LISTN=x", "PATH=/bin")
	if c.Listen != ":9" || c.BaseURL != "https://l10n.example.org" || c.DataDir != "/var/lib/r" || c.PollInterval != 90*time.Second ||
		c.Workers != 3 || c.MaxFileSize != 2000 || c.MetricsListen != ":10" || c.Git != "builtin" || c.Database.Raw() != "postgres://u:secret@h/d" {
		t.Errorf("not overridden: %+v", c)
	}
	if !slicesContain(c.Warnings(), "REPOGLOT_LISTN") {
		t.Errorf("warnings %q do not name the variable with the typing error", c.Warnings())
	}
	named := mustParse(t, minimal+"notify:\n- {url: https://example.org, secret_env: REPOGLOT_NAMED}\nsmtp: {password_env: REPOGLOT_NAMED_TOO}\n",
		"REPOGLOT_NAMED=MDEyMzQ1Njc4OWFiY2RlZg==", "REPOGLOT_NAMED_TOO=x")
	if slicesContain(named.Warnings(), "NAMED") {
		t.Errorf("warnings of variables that the file names: %q", named.Warnings())
	}
	if c := mustParse(t, contract, "REPOGLOT_LISTEN="); c.Listen != "127.0.0.1:8080" {
		t.Errorf("an empty variable overrode listen: %q", c.Listen)
	}
	// A variable replaces a broken value of the file.
	mustParse(t, "listen: nowhere\n"+minimal, "REPOGLOT_LISTEN=:1")
	for env, want := range map[string]string{
		"REPOGLOT_WORKERS=many":      `REPOGLOT_WORKERS: "many" must be a whole number below 2147483648`,
		"REPOGLOT_WORKERS=-1":        `REPOGLOT_WORKERS: must be 0 or more`,
		"REPOGLOT_LISTEN=8080":       `REPOGLOT_LISTEN: "8080" is no address; write HOST:PORT, like 127.0.0.1:8080 or :8080`,
		"REPOGLOT_GIT=svn":           `REPOGLOT_GIT: must be one of auto, builtin, binary, but is "svn"`,
		"REPOGLOT_MAX_FILE_SIZE=big": `REPOGLOT_MAX_FILE_SIZE: "big" must be a size; write it like 128MiB`,
	} {
		_, err := parse(t, contract, env)
		if err == nil || err.Error() != want {
			t.Errorf("%s: error %q, want %q", env, err, want)
		}
	}
}

func slicesContain(list []string, part string) bool {
	return strings.Contains(strings.Join(list, "\n"), part)
}

func TestEnvironmentPathIsOfTheWorkingDirectory(t *testing.T) {
	wd, err := os.Getwd()
	must(t, err)
	c := mustParse(t, minimal, "REPOGLOT_DATA_DIR=d")
	if want := filepath.Join(wd, "d"); string(c.DataDir) != want {
		t.Errorf("data_dir = %s, want %s", c.DataDir, want)
	}
	if c := mustParse(t, "data_dir: ~/d\n"+minimal, "HOME=/home/u"); c.DataDir != "/home/u/d" {
		t.Errorf("data_dir = %s", c.DataDir)
	}
}

func TestValues(t *testing.T) {
	c := mustParse(t, `
trusted_proxies: [127.0.0.1, 10.1.2.3/8, "::1"]
cors_origins: ["*", https://app.example.org]
rate_limit: {anonymous: 1000/h, token: 5/s}
bots: [weblate, bot@example.org]
max_file_size: 4096
poll_interval: 0
credentials:
- host: Git.Example.org
  username: u
  password_env: GIT_PW
- {host: git.example.net, ssh_key: keys/id}
projects:
- slug: p
  access: private
  set_language_team: false
  components:
  - &base
    slug: a
    repo: git@git.example.net:x/y.git
    filemask: "*.po"
    license: 1.0
    priority: 50
    commit_message: |+
      one

      two

    history: {since: 2024-01-31}
    branch:
  - <<: *base
    slug: b
    history: {commits: 200}
  - <<: *base
    slug: c
    repo: file:///srv/x.git
    history: none
`, "GIT_PW=hunter2")
	if slicesContain(c.Warnings(), "rate_limit is not acted on") || slicesContain(c.Warnings(), "bots is not acted on") {
		t.Errorf("warnings: %q", c.Warnings())
	}
	var prefixes []string
	for _, p := range c.TrustedProxies {
		prefixes = append(prefixes, p.String())
	}
	if diff := cmp.Diff([]string{"127.0.0.1/32", "10.0.0.0/8", "::1/128"}, prefixes); diff != "" {
		t.Error(diff)
	}
	if !c.TrustedProxies[1].Contains(netip.MustParseAddr("10.200.0.1")) {
		t.Error("the network 10.1.2.3/8 does not hold 10.200.0.1")
	}
	if c.RateLimit.Anonymous != (config.Rate{Count: 1000, Per: time.Hour}) || c.RateLimit.Token.Per != time.Second {
		t.Errorf("rate_limit = %+v", c.RateLimit)
	}
	if c.MaxFileSize != 4096 || c.PollInterval != 0 {
		t.Errorf("max_file_size %v, poll_interval %v", c.MaxFileSize, c.PollInterval)
	}
	if c.Credentials[0].Host != "git.example.org" || c.Credentials[0].Password != "hunter2" || c.Credentials[1].SSHKey != "/etc/repoglot/keys/id" {
		t.Errorf("credentials = %+v", c.Credentials)
	}
	list := c.Projects[0].Components
	if got := list[0].Settings().CommitMessage; got != "one\r\n\r\ntwo\r\n\r\n" {
		t.Errorf("commit_message = %q", got)
	}
	if list[1].Slug != "b" || list[1].License != "1.0" || list[1].Priority != 50 || list[1].Repo.Raw() != "git@git.example.net:x/y.git" {
		t.Errorf("merged: %+v", list[1])
	}
	for i, want := range []catalog.History{{Full: true, Since: time.Date(2024, 1, 31, 0, 0, 0, 0, time.UTC)}, {Full: true, Commits: 200}, {}} {
		if got := list[i].History; got != want {
			t.Errorf("history %d = %+v, want %+v", i, got, want)
		}
	}
	if list[2].Repo != "file:///srv/x.git" {
		t.Errorf("repo = %s", list[2].Repo)
	}
	if c.Projects[0].SetLanguageTeam || c.Projects[0].Access != catalog.AccessPrivate {
		t.Errorf("project = %+v", c.Projects[0])
	}
}

// TestWebhookSecrets: which secret belongs to which component.
func TestWebhookSecrets(t *testing.T) {
	const text = `projects:
  - slug: a
    webhook_secret_env: OF_A
    components:
      - {slug: inherits, repo: r, filemask: "*.po"}
      - {slug: own, repo: r, filemask: "*.po", webhook_secret_env: OWN}
      - {slug: unset, repo: r, filemask: "*.po", webhook_secret_env: NOBODY}
  - slug: b
    components:
      - {slug: open, repo: r, filemask: "*.po"}
`
	c := mustParse(t, text, "OF_A=first", "OWN=second")
	type secret struct {
		Value   string
		Secured bool
	}
	got := map[string]secret{}
	for _, p := range c.Projects {
		for _, co := range p.Components {
			got[co.Slug] = secret{string(co.WebhookSecret), co.WebhookSecured}
		}
	}
	want := map[string]secret{"inherits": {"first", true}, "own": {"second", true}, "unset": {"", true}, "open": {}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("secrets (-want +got):\n%s", diff)
	}
	if s := fmt.Sprintf("%v %+v %#v", c.Projects, c.Projects, c.Projects); strings.Contains(s, "first") || strings.Contains(s, "second") {
		t.Errorf("a secret is printed: %s", s)
	}
	warning := []string{"webhook_secret_env names NOBODY, which is not set: webhooks are refused until it is"}
	if diff := cmp.Diff(warning, c.Warnings()); diff != "" {
		t.Errorf("warnings (-want +got):\n%s", diff)
	}
}

// TestEveryKeyIsOverridden: an environment variable overrides every key of the top
// level that is one word, except true and false.
func TestEveryKeyIsOverridden(t *testing.T) {
	words := map[string]string{
		"database_readers": "3", "listen": ":9", "base_url": "https://l10n.example.org", "data_dir": "/d", "database": "postgres://h/d", "poll_interval": "90s",
		"workers": "3", "max_file_size": "2KB", "response_cache": "1MiB", "metrics_listen": ":10", "git": "builtin", "min_free_space": "1GiB",
		"revision": "4", "committer": "L10n Bot <l10n-bot@example.org>",
	}
	defaults := reflect.ValueOf(*mustParse(t, minimal))
	for i := range defaults.NumField() {
		f := defaults.Type().Field(i)
		key := f.Tag.Get("yaml")
		if kind := f.Type.Kind(); key == "" || kind == reflect.Slice || kind == reflect.Map || kind == reflect.Struct || kind == reflect.Bool {
			continue
		}
		if words[key] == "" {
			t.Errorf("this test has no word for %s", key)
			continue
		}
		changed := mustParse(t, minimal, config.EnvName(key)+"="+words[key])
		if reflect.ValueOf(*changed).Field(i).Equal(defaults.Field(i)) {
			t.Errorf("%s does not override %s", config.EnvName(key), key)
		}
		if keys := mustParse(t, minimal).RestartKeys(changed); (f.Tag.Get("restart") != "") != (len(keys) == 1 && keys[0] == key) {
			t.Errorf("a change of %s needs a restart of %q", key, keys)
		}
	}
}
