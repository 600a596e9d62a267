package config_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/repoglot/repoglot/cmd/repoglot/config"
)

// component makes a file with the keys of a component, from line 4, column 3 on.
func component(keys string) string {
	return "projects:\n- slug: p\n  components:\n  - slug: c\n" + indent(keys)
}

func indent(keys string) string {
	return "    " + strings.ReplaceAll(keys, "\n", "\n    ") + "\n"
}

// TestBroken: every mistake of a file is reported, with its position and the
// remedy.
func TestBroken(t *testing.T) {
	usual := "repo: x\nfilemask: '*.po'\n\n"
	for _, tt := range []struct {
		name, file string
		want       []string
	}{
		{"empty", "", []string{"f: holds no configuration; see docs/configuration.md for a first one"}},
		{"comment", "# nothing\n", []string{"f: holds no configuration; see docs/configuration.md for a first one"}},
		{"a list", "- a\n", []string{"f:1:1: the file must be a mapping of keys to values, but is a list"}},
		{"a word", "hello", []string{`f:1:1: the file must be a mapping of keys to values, but is the text "hello"`}},
		{"no YAML", "listen: [a\nb: c\n", []string{"f:2:1: ',' or ']' must be specified; mend the YAML here or just above"}},
		{"tabs", "projects:\n\t- slug: a\n", []string{"f:2:1: a tab is no indentation in YAML; write blanks; mend the YAML here or just above"}},
		{"a misspelled key that must be there", "projects: [{slug: p, components: [{slug: a, repo: x, filmask: '*.po'}]}]\n", []string{`f:1:54: unknown key "filmask"; did you mean "filemask"?`}},
		{"two documents", "listen: :1\n---\nlisten: :2\n", []string{"f:3:1: a second document begins above; remove the line ---"}},
		{"unknown key", "listne: :1\n", []string{`f:1:1: unknown key "listne"; did you mean "listen"?`}},
		{"unknown key, no guess", "colour: red\n", []string{`f:1:1: unknown key "colour"; remove it, or see docs/configuration.md for the keys of the file`}},
		{"pages too large", "compatibility: {page_size: 1001}\n", []string{"f:1:28: compatibility.page_size must be from 0 to 1000"}},
		{"pages too small", "compatibility: {page_size: -1}\n", []string{"f:1:28: compatibility.page_size must be from 0 to 1000"}},
		{"a word in a section", "compatibility: {address_format: html}\n", []string{`f:1:33: compatibility.address_format must be one of api, none, but is "html"`}},
		{"repeated key", "listen: :1\nlisten: :2\n", []string{`f:2:1: key "listen" is here twice; remove one of the two`}},
		{"several", "listen: 8080\nworkers: few\ngit: svn\nmax_file_size: 12 parsecs\npoll_interval: 300\nbots: robot\n", []string{
			`f:1:9: listen "8080" is no address; write HOST:PORT, like 127.0.0.1:8080 or :8080`,
			`f:2:10: workers: "few" must be a whole number below 2147483648`,
			`f:3:6: git must be one of auto, builtin, binary, but is "svn"`,
			`f:4:16: max_file_size: "12 parsecs" must be a size; write it like 128MiB`,
			`f:5:16: poll_interval: "300" must be a duration; write it like 30s, 5m or 1h30m`,
			`f:6:7: bots must be a list, but is the text "robot"; write it like [a, b]`,
		}},
		{"addresses", "listen: nowhere\nbase_url: https://x.org/path\nmetrics_listen: :999999\ntrusted_proxies: [here]\ncors_origins: [app.example.org]\ndatabase: mysql://u:pw@h/d\nsafe_directories: [git]\nallowed_hosts: [\"x:1\"]\ncommitter: bot\n", []string{
			`f:1:9: listen "nowhere" is no address; write HOST:PORT, like 127.0.0.1:8080 or :8080`,
			`f:2:11: base_url "https://x.org/path" has more than scheme, host and port; write an origin like https://l10n.example.org`,
			`f:3:17: metrics_listen ":999999" is no address; write HOST:PORT, like 127.0.0.1:8080 or :8080`,
			`f:4:19: trusted_proxies[0]: "here" must be an address or a network; write it like 127.0.0.1 or 10.0.0.0/8`,
			`f:5:16: "app.example.org" does not begin with https:// or http://; write it like https://app.example.org, or *`,
			`f:6:11: database "mysql://h/d" is no database; leave it empty for SQLite in data_dir, or write postgres://USER@HOST/NAME`,
			`f:7:20: "git" is no absolute path; write it like /srv/git/app.git, /srv/git/* or *`,
			`f:8:17: "x:1" is no host; write it like l10n.example.org, without a port, or *`,
			`f:9:12: committer "bot" is no name with an address; write it like L10n Bot <l10n-bot@example.org>`,
		}},
		{"rate", "rate_limit: {anonymous: fast, tokens: 1/h}\n", []string{
			`f:1:25: rate_limit.anonymous: "fast" must be a rate; write it like 1000/h (units: s, m, h, d)`,
			`f:1:31: unknown key "tokens"; did you mean "token"?`,
		}},
		{"negative", "workers: -1\nmax_file_size: 0\npoll_interval: 1ms\n", []string{
			"f:1:10: workers must be 0 or more",
			"f:2:16: max_file_size must be 1 or more",
			"f:3:16: poll_interval is below 10ms; write a longer time, or 0 for no polling",
		}},
		{"credentials", "credentials:\n- username: u\n- {host: h, password_env: hunter two}\n- {host: h, password_env: NOT_SET}\n- {host: 'https://g'}\n", []string{
			`f:2:3: credentials[0] has no host; add the key "host"`,
			"f:3:27: credentials[1].password_env must be the name of an environment variable, not a secret; write it like GIT_PASSWORD",
			`f:4:10: credentials[2].host "h" is in the list twice; remove one of the two`,
			"f:4:27: credentials[2].password_env names NOT_SET, which is not set; set it in the environment of repoglot",
			"f:5:3: credentials[3] has neither password_env nor ssh_key; add one of them",
			`f:5:10: credentials[3].host "https://g" is no host; write it like git.example.org or git.example.org:8443`,
		}},
		{"missing", "projects:\n- name: P\n  components:\n  - name: C\n", []string{
			`f:2:3: projects[0] has no slug; add the key "slug"`,
			`f:4:5: projects[0].components[0] has no slug; add the key "slug"`,
			`f:4:5: projects[0].components[0] has no repo; add the key "repo"`,
			`f:4:5: projects[0].components[0] has no filemask; add the key "filemask"`,
		}},
		{"empty values", component("repo:\nfilemask: ''"), []string{
			"f:5:5: projects[0].components[0].repo is empty; write the address of a git repository or a path",
			"f:6:15: projects[0].components[0].filemask is empty; write a path with * for the language, like po/*.po",
		}},
		{"queries", "projects:\n- slug: p\n  components:\n  - {slug: a, filemask: '*.po', repo: 'https://x.org/y.git?tenant=secret-a'}\n  - {slug: b, filemask: '*.po', repo: 'https://x.org/y.git?tenant=secret-a'}\n  - {slug: c, filemask: '*.po', repo: 'https://x.org/y.git?tenant=secret-b'}\n", []string{
			`f:6:39: projects[0].components[2].repo "https://x.org/y.git" differs from the repository of another component in its query only, which repoglot does not tell apart; use another address`,
		}},
		{"empty item", "projects:\n-\n", []string{"f:2:3: projects[0] is empty; remove the dash or write something after it"}},
		{"project slugs", "projects:\n- slug: a\n- slug: a\n- slug: a b\n- slug: 'a-{component}'\n", []string{
			`f:3:9: projects[1].slug "a" is used by another project above; choose another`,
			`f:4:9: projects[2].slug "a b" may hold letters, digits, - and _ only; write it like my-app`,
			`f:5:9: projects[3].slug "a-{component}" may hold letters, digits, - and _ only; write it like my-app`,
		}},
		{"component slugs", component(usual+"name: a {component}") + "  - {slug: c, repo: x, filemask: '*.po'}\n  - {slug: ../c, repo: x, filemask: '*.po'}\n", []string{
			"f:8:11: projects[0].components[0].name holds {component} but slug does not; write it into slug and filemask too",
			`f:9:12: projects[0].components[1].slug "c" is used by another component of the project above; choose another`,
			`f:10:12: projects[0].components[2].slug "../c" may hold letters, digits, - and _ only; write it like my-app`,
		}},
		{"formats", component(usual + "file_format: json\ntemplate: en.json\nvcs: hg"), []string{
			`f:8:18: projects[0].components[0].file_format "json": only po is read; remove the key, or the component`,
			"f:9:15: projects[0].components[0].template must stay empty, since monolingual files are not read; a POT belongs into new_base",
			`f:10:10: projects[0].components[0].vcs "hg": only git is read; remove the key`,
		}},
		{"mask without language", component("repo: x\nfilemask: po/cs.po"), []string{
			`f:6:15: projects[0].components[0].filemask "po/cs.po" holds no * for the language; write one, or name the files' language with the key language`,
		}},
		{"mask with language", component(usual + "language: cs"), []string{
			"f:8:15: projects[0].components[0].language is for a filemask without *; remove it, or the * from filemask",
		}},
		{"mask out of the repository", component("repo: x\nfilemask: ../*.po\nnew_base: /x.pot"), []string{
			`f:6:15: projects[0].components[0]: filemask "../*.po": invalid filemask`,
			`f:7:15: projects[0].components[0].new_base "/x.pot" is no path of a file; write a path within the repository, like po/app.pot`,
		}},
		{"discovery in one place", component("repo: x\nfilemask: '*/{component}.po'"), []string{
			`f:4:11: projects[0].components[0].slug "c" holds no {component} but filemask does; write it into both`,
		}},
		{"regex", component(usual + "language_regex: '('"), []string{
			`f:8:21: projects[0].components[0]: language_regex "(": error parsing regexp: missing closing )`,
		}},
		{"enums", component(usual + "access: secret\nnew_lang: maybe\nmerge_style: octopus\nsource_language: ''\npriority: -1"), []string{
			`f:8:13: projects[0].components[0].access must be one of public, private, but is "secret"`,
			`f:9:15: projects[0].components[0].new_lang must be one of contact, url, add, none, but is "maybe"`,
			`f:10:18: projects[0].components[0].merge_style must be one of merge, rebase, merge_noff, but is "octopus"`,
			"f:12:15: projects[0].components[0].priority must be 0 or more",
		}},
		{"types", component(usual + "is_glossary: sometimes\nenforced_checks: x\nsuggestions: y\nbranch: 1.0\nname: [a]"), []string{
			`f:8:18: projects[0].components[0].is_glossary: "sometimes" must be true or false`,
			`f:9:22: projects[0].components[0].enforced_checks must be a list, but is the text "x"; write it like [a, b]`,
			`f:10:18: projects[0].components[0].suggestions must be a mapping of keys to values, but is the text "y"`,
			"f:12:11: projects[0].components[0].name must be one word, but is a list",
		}},
		{"suggestions", component(usual + "suggestions: {branches: 'l10n/..*', limit: 0}"), []string{
			`f:8:29: projects[0].components[0].suggestions.branches "l10n/..*" is no pattern of branch names; write it like l10n/*`,
			`f:8:48: projects[0].components[0].suggestions.limit must be from 1 to 1000`,
		}},
		{"branch", component(usual + "branch: --upload-pack=x"), []string{
			`f:8:13: projects[0].components[0].branch "--upload-pack=x" is no branch; write the name of a branch, like main`,
		}},
		{"templates", "projects:\n- slug: p\n  access: private\n  components:\n  - {slug: a, filemask: '*.po', repo: 'https://x.org/code', new_base: a.pot}\n" +
			"- slug: q\n  components:\n  - {slug: b, filemask: '*.po', repo: 'https://x.org/po', new_base: a.pot, template_repo: 'https://u:secret@x.org/code'}\n" +
			"  - {slug: c, filemask: '*.po', repo: 'https://x.org/po', new_base: a.pot, template_repo: 'https://x.org/code', access: private}\n" +
			"  - {slug: d, filemask: '*.po', repo: 'https://x.org/po', new_base: a.pot, template_repo: 'https://x.org/read-by-nobody'}\n" +
			"  - {slug: e, filemask: '*.po', repo: 'https://x.org/po', template_branch: code}\n" +
			"  - {slug: f, filemask: '*.po', repo: 'https://x.org/po', branch: main, new_base: a.pot, template_branch: main, template_repo: 'weblate://x'}\n" +
			"  - {slug: g, filemask: '*.po', repo: 'https://x.org/po', branch: main, new_base: a.pot, template_branch: main}\n" +
			"  - {slug: h, filemask: '*.po', repo: 'https://x.org/po', new_base: a.pot, template_branch: a b}\n", []string{
			`f:8:91: projects[1].components[0].template_repo "https://x.org/code" is read by private components only, and this public one would show its strings; write access: private`,
			"f:11:5: projects[1].components[3].new_base is empty, but template_repo or template_branch say where it is; write its path, like po/app.pot",
			`f:12:128: projects[1].components[4].template_repo "weblate://x" names another component; write the repository itself: its mirror is shared anyway`,
			"f:13:83: projects[1].components[5].new_base is of the branch of the translations; remove template_repo and template_branch",
			`f:14:93: projects[1].components[6].template_branch "a b" holds a character that no branch has; write the name of a branch, like main`,
		}},
		{"history", component(usual+"history: some") + "  - {slug: d, repo: x, filemask: '*.po', history: {since: yesterday}}\n  - {slug: e, repo: x, filemask: '*.po', history: {commits: 0}}\n  - {slug: f, repo: x, filemask: '*.po', history: {days: 3}}\n  - {slug: g, repo: x, filemask: '*.po', history: {}}\n  - {slug: h, repo: x, filemask: '*.po', history: {commits: 1, since: 2024-01-31}}\n", []string{
			`f:8:14: projects[0].components[0].history must be full, none, {since: 2024-01-31} or {commits: 200}`,
			`f:9:59: projects[0].components[1].history.since: "yesterday" must be a day; write it like 2024-01-31`,
			"f:10:61: projects[0].components[2].history.commits must be 1 or more",
			`f:11:52: unknown key "days"; remove it`,
			"f:12:51: projects[0].components[4].history must be full, none,",
			"f:13:51: projects[0].components[5].history must be full, none,",
		}},
		{"webhook secret", component(usual + "webhook_secret_env: 'my secret!'"), []string{
			"f:8:25: projects[0].components[0].webhook_secret_env must be the name of an environment variable, not a secret; write it like HOOK_SECRET",
		}},
		{"control character", component(usual + `name: "a\x07b"`), []string{
			"f:8:11: projects[0].components[0].name holds the control character 0x7; remove it",
		}},
		{"alias", "listen: *a\n", []string{"f:1:9: *a names no anchor above it; add &a there"}},
		{"tag", "listen: !!binary aGk=\n", []string{`f:1:9: tags such as "!!binary" are not read; remove it`}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := config.Parse("f", []byte(tt.file), nil)
			var list config.Errors
			if !errors.As(err, &list) {
				t.Fatalf("error %v is no Errors", err)
			}
			got := strings.Split(err.Error(), "\n")
			if len(got) < len(tt.want) {
				t.Fatalf("errors:\n%s\nwant:\n%s", err, strings.Join(tt.want, "\n"))
			}
			for i, want := range tt.want {
				if !strings.HasPrefix(got[i], want) {
					t.Errorf("error %d:\n got %s\nwant %s", i, got[i], want)
				}
			}
			if len(got) > len(tt.want) {
				t.Errorf("more errors than wanted:\n%s", strings.Join(got[len(tt.want):], "\n"))
			}
		})
	}
}

// TestRepositories: which addresses are valid.
func TestRepositories(t *testing.T) {
	for repo, want := range map[string]string{
		"https://example.org/a.git":     "",
		"HTTPS://example.org/a.git":     "",
		"ssh://git@example.org/a.git":   "",
		"git@example.org:a.git":         "",
		"git://example.org/a":           "",
		"git+ssh://git@example.org/a":   "",
		"file:///srv/a.git":             "",
		"/srv/a.git":                    "",
		"./a:b":                         "",
		"https://":                      "names no repository",
		"ext::sh -c true":               `asks for the helper "ext"`,
		"ftp://example.org/a":           `has the scheme "ftp", which is not read`,
		"sftp://example.org/a":          `has the scheme "sftp", which is not read`,
		"weblate://p/c":                 "names another component",
		"-oProxyCommand=x":              "begins with a dash",
		"https://u:hunter2@example.org": "",
	} {
		_, err := config.Parse("f", []byte(component(fmt.Sprintf("repo: '%s'\nfilemask: '*.po'", repo))), nil)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("repo %q: error %v, want %q", repo, err, want)
		}
	}
}

// TestSecretsStayInside: no way of printing a configuration shows a secret.
func TestSecretsStayInside(t *testing.T) {
	const secret = "hunter2"
	c := mustParse(t, `
database: postgres://u:hunter2@h/d
credentials: [{host: h, password_env: PW}]
`+component("repo: https://u:hunter2@example.org/a.git\npush: https://u:hunter2@example.org/b.git\nfilemask: '*.po'"), "PW="+secret)
	for _, format := range []string{"%v", "%+v", "%#v", "%s"} {
		co := c.Projects[0].Components[0]
		text := fmt.Sprintf(format+format+format+format, c.Credentials, co, c.Database, co.Settings())
		if strings.Contains(text, secret) {
			t.Errorf("%s prints the secret: %s", format, text)
		}
	}
	if c.Projects[0].Components[0].Repo.Raw() != "https://u:hunter2@example.org/a.git" {
		t.Error("Raw has lost the credentials")
	}
	for _, bad := range []string{"ftp://u:hunter2@h/x", "weblate://u:hunter2@h/x"} {
		_, err := parse(t, component("filemask: '*.po'\nrepo: "+bad))
		if err == nil || strings.Contains(err.Error(), secret) {
			t.Errorf("error for %s: %v", bad, err)
		}
	}
}

func TestLoad(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "r.yaml")
	must(t, os.WriteFile(file, []byte(minimal), 0o600))
	c, err := config.Load(file, nil, true)
	must(t, err)
	if c.File() != file || string(c.DataDir) != filepath.Join(dir, "repoglot-data") {
		t.Errorf("file %s, data_dir %s", c.File(), c.DataDir)
	}
	for path, want := range map[string]string{
		filepath.Join(dir, "none.yaml"): "there is no such file; name the configuration with --config FILE",
		dir:                             "is a folder; name the configuration file in it",
	} {
		if _, err := config.Load(path, nil, true); err == nil || err.Error() != path+": "+want {
			t.Errorf("Load(%s): %v", path, err)
		}
	}
	large := filepath.Join(dir, "large.yaml")
	must(t, os.WriteFile(large, make([]byte, 9<<20), 0o600))
	if _, err := config.Load(large, nil, true); err == nil || !strings.Contains(err.Error(), "is larger than 8MiB") {
		t.Errorf("Load of a large file: %v", err)
	}
}

// TestHostileYAML: files on which the YAML library would overflow the stack or run
// for ever are refused.
func TestHostileYAML(t *testing.T) {
	for name, file := range map[string]string{
		"brackets":    strings.Repeat("[", 1<<19),
		"braces":      strings.Repeat("{a: ", 1<<17),
		"dashes":      strings.Repeat("- ", 1<<18),
		"questions":   strings.Repeat("? ", 1<<18),
		"merges":      "<<: &a [*a, *a]\n",
		"aliases":     "projects:\n- {slug: a, components: &b [" + strings.Repeat("{slug: x},", 700) + "]}\n" + strings.Repeat("- {slug: a, components: *b}\n", 5000),
		"bracketsrow": strings.Repeat("[\n", 1<<18),
	} {
		if _, err := config.Parse("f", []byte(file), nil); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(contract)
	f.Add(minimal)
	f.Add("a: &a [*a, *a]\n<<: *a\n")
	f.Add(component("history: {since: 2024-01-31}\nrepo: x"))
	f.Fuzz(func(t *testing.T, file string) {
		c, err := config.Parse("f", []byte(file), []string{"REPOGLOT_WORKERS=1"})
		if (c == nil) == (err == nil) {
			t.Fatalf("Parse = %v, %v", c, err)
		}
		var list config.Errors
		if err != nil && (!errors.As(err, &list) || len(list) == 0) {
			t.Fatalf("error %v is no Errors", err)
		}
		for _, e := range list {
			if strings.ContainsAny(e.Error(), "\n\r") {
				t.Errorf("more than one line: %q", e.Error())
			}
		}
		if err == nil {
			again, err := config.Parse("f", []byte(file), []string{"REPOGLOT_WORKERS=1"})
			if err != nil {
				t.Fatalf("second time: %v", err)
			}
			if len(again.Projects) != len(c.Projects) || cmp.Diff(again.Warnings(), c.Warnings()) != "" {
				t.Error("two readings differ")
			}
		}
	})
}
