// Package config reads the configuration file of repoglot.
//
// Goals: the struct [Config] is the contract and its field comments are the manual
// (docs/configuration.md is generated from them, and a test compares both); every
// mistake of a file is reported at once, one line each, with file, line, column and
// the remedy; the same file and environment always give the same Config.
//
// Non-goals: it uses no network, reads no repositories and no key files, and writes nothing.
package config

import (
	"iter"
	"net/netip"
	"path/filepath"
	"reflect"
	"time"

	"github.com/repoglot/repoglot/catalog"
)

// Config is a whole configuration file. Every key may be left out, except the
// `slug` of a project and `slug`, `repo` and `filemask` of a component. A change of
// a field with the tag restart takes effect after a restart.
type Config struct {
	// Listen is the address that the server listens on, `HOST:PORT`. An empty host means
	// every address of the machine, port 0 one that the kernel chooses.
	Listen string `yaml:"listen" restart:"true"`
	// BaseURL is the public origin of the server, such as `https://l10n.example.org`,
	// without a path. Empty: taken from each request (see `trusted_proxies`).
	BaseURL string `yaml:"base_url"`
	// DataDir is the folder of the database and of the local mirrors. It is made
	// if it does not exist.
	DataDir Path `yaml:"data_dir" restart:"true"`
	// Database is empty for SQLite in `data_dir`, or the address of a PostgreSQL
	// database, `postgres://USER@HOST/NAME`, of version 15 or newer.
	Database Address `yaml:"database" restart:"true"`
	// DatabaseReaders is the number of answers that are read from the database at a
	// time; 0: twice the number of cores and 4, but at least 8. PostgreSQL needs a
	// connection for each, and 4 more.
	DatabaseReaders int `yaml:"database_readers" range:"0" restart:"true"`
	// Revision numbers the copies of this file where several processes use one
	// database of PostgreSQL: the highest counts, and a process with a lower one
	// changes nothing and pulls nothing (docs/cluster.md). Without it that copy counts
	// whose projects, components and bots were seen first last.
	Revision int `yaml:"revision"`
	// PollInterval is the time between two pulls of a repository that cannot
	// be watched, such as `5m` or `1h30m`; 0 switches polling off. Repositories
	// on this machine are watched and pulled as soon as a ref moves; one that
	// cannot be watched, or does not exist yet, is tried every 2 seconds.
	PollInterval time.Duration `yaml:"poll_interval"`
	// Workers is the number of pulls that may run at a time; 0: one per core, but at least
	// 2. One host gets at most 4 of them, and never the last one while other hosts wait, so
	// that a host that hangs does not delay the others; with `workers: 1` it delays all
	// until its pull times out, after two minutes or more.
	Workers int `yaml:"workers" range:"0" restart:"true"`
	// MaxFileSize is the size above which a PO file is reported instead of read:
	// bytes, or a number with KiB, MiB, GiB, KB, MB or GB. A file that takes more memory
	// than there is for one commit is not read either (docs/operation.md#memory).
	MaxFileSize Size `yaml:"max_file_size" range:"1" restart:"true"`
	// ResponseCache bounds the rendered answers that are kept in memory until
	// something changes that they show: a size like `64MiB`; 0 keeps none.
	ResponseCache Size `yaml:"response_cache" restart:"true"`
	// MetricsListen is a second address, `HOST:PORT`, for `/metrics` and `/debug/pprof/`
	// only. Empty: `/metrics` is on the main address and the profiler is off.
	MetricsListen string `yaml:"metrics_listen" restart:"true"`
	// TrustedProxies lists the networks (`10.0.0.0/8`) and addresses (`127.0.0.1`) whose
	// `X-Forwarded-Proto`, `X-Forwarded-Host` and `X-Forwarded-For` count.
	TrustedProxies []netip.Prefix `yaml:"trusted_proxies"`
	// AllowedHosts lists the hosts that requests may name besides that of `base_url`
	// and this machine (`localhost`, loopback addresses), such as an internal name; `*`
	// allows all. Other requests get 400, except for `/healthz`, `/readyz` and
	// `/metrics`. Without `base_url` and this list every host is allowed.
	AllowedHosts []string `yaml:"allowed_hosts"`
	// CORSOrigins lists the origins of web pages that may read the API, such
	// as `https://app.example.org`, or `*` for all.
	CORSOrigins []string `yaml:"cors_origins"`
	// RateLimit bounds the requests of a client to the API; more requests get 429
	// until the span since the first one is over. Empty: no bound.
	RateLimit RateLimit `yaml:"rate_limit"`
	// Compatibility is for clients of newer Weblates (docs/compatibility.md#newer-clients).
	Compatibility Compatibility `yaml:"compatibility" restart:"true"`
	// Credentials lists user names, passwords and keys for hosts of repositories.
	Credentials []Credential `yaml:"credentials"`
	// Bots lists the names or e-mail addresses of authors that are programs; their
	// users have `is_bot`.
	Bots []string `yaml:"bots"`
	// Committer is the committer of commits with edits, `NAME <ADDRESS>`. Forges show a
	// signature as verified if the account with the key has this address. Empty:
	// `repoglot <noreply@HOST>`, with the host of `base_url`.
	Committer string `yaml:"committer" restart:"true"`
	// Git says which program transports packs: `git` (`binary`), repoglot itself
	// (`builtin`, with go-git), or `git` if it is installed (`auto`).
	Git string `yaml:"git" oneof:"auto builtin binary" restart:"true"`
	// GitExport says whether the repositories of components may be cloned from this server,
	// private ones with a token, by the address in `git_export` (docs/operation.md). It
	// needs the git program: without it, or with `git: builtin`, clones get 503.
	GitExport bool `yaml:"git_export" restart:"true"`
	// SafeDirectories lists repositories on this machine that are read although they
	// belong to another user: absolute paths, `FOLDER/*` for all below a folder, or
	// `*` for all. Git calls this `safe.directory`: such a repository may have been
	// made to show files that its owner may not read.
	SafeDirectories []string `yaml:"safe_directories" restart:"true"`
	// MinFreeSpace is the free space on the disk of `data_dir` below which nothing is
	// pulled: what was pulled before is served, and pulls go on when there is room
	// again. Edits are stored until half of it is left. 0 switches the check off.
	MinFreeSpace Size `yaml:"min_free_space" restart:"true"`
	// Quotas bound what one repository may bring. Where one is exceeded, what was
	// served before is still served, and the problem is shown.
	Quotas Quotas `yaml:"quotas" restart:"true"`
	// SignIn lists the providers with whose accounts people sign in (docs/teams.md). It needs
	// `base_url`.
	SignIn []SignIn `yaml:"sign_in"`
	// Translators are the accounts that edit public projects, by the code of a language or `*`:
	// `{cs: ["gh:jana", "gh:#12345"]}`, each `ID:NAME` or `ID:#SUBJECT`.
	Translators Accounts `yaml:"translators"`
	// Admins are the accounts that administer the server.
	Admins []string `yaml:"admins"`
	// Notify lists the receivers of webhooks that are told what changes here: see
	// docs/operation.md#telling-others.
	Notify []Notify `yaml:"notify"`
	// SMTP is the server that sends digests to who follows languages: see
	// docs/operation.md#telling-others. It needs `base_url`.
	SMTP SMTP `yaml:"smtp"`
	// Projects lists the projects.
	Projects []Project `yaml:"projects"`

	file     string
	source   []byte // the bytes of the file
	warnings []string
}

// RateLimit bounds the requests of one client; an empty rate means no bound.
type RateLimit struct {
	// Anonymous bounds the requests of one address (of IPv6: one network of 64
	// bits) without a token, such as `1000/h` (units: s, m, h, d).
	Anonymous Rate `yaml:"anonymous"`
	// Token bounds the requests with one token.
	Token Rate `yaml:"token"`
}

// Compatibility is for clients of newer Weblates than 4.x.
type Compatibility struct {
	// PageSize is the number of entries of a page of a list without the parameter
	// `page_size`; of strings four times as many. 0: 20 of everything, as Weblate 4.x;
	// newer ones have 50.
	PageSize int `yaml:"page_size" range:"0 1000" restart:"true"`
	// AddressFormat says how addresses in answers end: `api`: with `?format=api`; `none`:
	// without, unless the request has a `format`.
	AddressFormat string `yaml:"address_format" oneof:"api none" restart:"true"`
	// ChangesOrder is the order of lists of changes without `ordering` and `after_id`:
	// `ascending`, or `newest` for the newest first.
	ChangesOrder string `yaml:"changes_order" oneof:"ascending newest" restart:"true"`
}

// Quotas bound what one repository may bring. No known project meets the defaults.
type Quotas struct {
	// Components bounds the components that one discovery makes.
	Components int `yaml:"components" range:"1"`
	// Files bounds the files of one component.
	Files int `yaml:"files" range:"1"`
	// Units bounds the strings of one component, in all languages together.
	Units int `yaml:"units" range:"1"`
	// Mirror bounds the local copy of one repository and branch: a size like `4GiB`.
	Mirror Size `yaml:"mirror" range:"1"`
	// Growth bounds what one pull writes to the database: a size like `2GiB`.
	Growth Size `yaml:"growth" range:"1"`
}

// Credential is the credential for one host.
type Credential struct {
	// Host is the host that the credential is for, `git.example.org` or
	// `git.example.org:8443`. It is never sent to another host.
	Host string `yaml:"host" required:"true"`
	// Username is the name to log in with.
	Username string `yaml:"username"`
	// PasswordEnv names the environment variable that holds the password or access token;
	// it must be set. Passwords themselves do not belong in the file.
	PasswordEnv string `yaml:"password_env" env:"GIT_PASSWORD"`
	// SSHKey is the path of a private key for `ssh://` addresses. Empty: the SSH
	// agent and the usual keys are tried.
	SSHKey Path `yaml:"ssh_key"`

	// Password is the value of the variable that PasswordEnv names; "" without
	// one. It is never printed.
	Password Secret `yaml:"-"`
}

// Project groups components.
type Project struct {
	// Slug is the project's name in URLs: letters, digits, `-` and `_` of
	// ASCII, at most 100.
	Slug string `yaml:"slug" required:"true"`
	catalog.ProjectSettings
	// WebhookSecretEnv names the environment variable with the secret of
	// webhooks for the project's components: only calls that are signed with it are
	// accepted. If the variable is not set, no call is. Empty: any call is accepted
	// and pulls at most once a minute. See docs/webhooks.md.
	WebhookSecretEnv string `yaml:"webhook_secret_env" env:"HOOK_SECRET"`
	// Translators are those of the project, as at the top level. They and those below see what
	// is private in it.
	Translators Accounts `yaml:"translators"`
	// Admins are the accounts that administer the project.
	Admins []string `yaml:"admins"`
	// Readers are the accounts that see it.
	Readers []string `yaml:"readers"`
	// Components lists the project's components.
	Components []Component `yaml:"components"`
}

// DefaultListen is the address of a server whose configuration names none.
const DefaultListen = "127.0.0.1:8080"

// Default returns the configuration of an empty file.
func Default() *Config {
	return &Config{
		Listen:        DefaultListen,
		DataDir:       "./repoglot-data",
		PollInterval:  5 * time.Minute,
		MaxFileSize:   128 << 20,
		ResponseCache: 32 << 20,
		Git:           "auto",
		GitExport:     true,
		MinFreeSpace:  512 << 20,
		SMTP:          SMTP{TLS: "starttls"},
		Compatibility: Compatibility{AddressFormat: "api", ChangesOrder: "ascending"},
		Quotas:        Quotas{Components: 20_000, Files: 200_000, Units: 50_000_000, Mirror: 32 << 30, Growth: 16 << 30},
	}
}

// DefaultProject returns a project with the defaults of docs/configuration.md, without slug.
func DefaultProject() Project {
	return Project{ProjectSettings: catalog.ProjectSettings{SetLanguageTeam: true, EnableHooks: true, Access: catalog.AccessPublic}}
}

// File is the path of the file that the configuration was read from; "" without a file.
func (c *Config) File() string { return c.file }

// Components yields all components, each with its project.
func (c *Config) Components() iter.Seq2[*Project, *Component] { return components(c.Projects) }

func components(list []Project) iter.Seq2[*Project, *Component] {
	return func(yield func(*Project, *Component) bool) {
		for i := range list {
			for j := range list[i].Components {
				if !yield(&list[i], &list[i].Components[j]) {
					return
				}
			}
		}
	}
}

// DatabaseAddress is the address of the database: that of PostgreSQL, or the path of
// SQLite's file in the data directory.
func (c *Config) DatabaseAddress() string {
	if dsn := c.Database.Raw(); dsn != "" {
		return dsn
	}
	return filepath.Join(string(c.DataDir), "repoglot.db")
}

// Warnings lists, in one line each, the settings that this version does not act
// on, and the environment variables and check flags that look like a mistake.
func (c *Config) Warnings() []string { return c.warnings }

// RestartKeys returns the keys that differ and take effect only after a restart.
func (c *Config) RestartKeys(now *Config) []string {
	var keys []string
	old, changed := reflect.ValueOf(c).Elem(), reflect.ValueOf(now).Elem()
	for i := range old.NumField() {
		f := old.Type().Field(i)
		if f.Tag.Get("restart") != "" && !reflect.DeepEqual(old.Field(i).Interface(), changed.Field(i).Interface()) {
			keys = append(keys, f.Tag.Get("yaml"))
		}
	}
	return keys
}
