package config

import (
	"net/netip"
	"time"

	"github.com/repoglot/repoglot/catalog"
)

// Config is a whole configuration file. Every key may be left out but the
// `slug` of a project and `slug`, `repo` and `filemask` of a component.
type Config struct {
	// Listen is the address that the server listens on, `HOST:PORT`. An empty
	// host means every address of the machine, port 0 one that the kernel
	// chooses. A change needs a restart.
	Listen string `yaml:"listen"`
	// BaseURL is the public origin of the server, such as
	// `https://l10n.example.org`, without a path. Empty: taken from each
	// request (see `trusted_proxies`).
	BaseURL string `yaml:"base_url"`
	// DataDir is the folder of the database and of the local mirrors. It is
	// made if it is not there. A change needs a restart.
	DataDir Path `yaml:"data_dir"`
	// Database is empty for SQLite in `data_dir`, or the address of a
	// PostgreSQL database, `postgres://USER@HOST/NAME`. This version knows
	// SQLite only. A change needs a restart.
	Database Address `yaml:"database"`
	// PollInterval is the time between two pulls of a repository that cannot
	// be watched, such as `5m` or `1h30m`; 0 switches polling off. Repositories
	// on this machine are watched and pulled as soon as a ref moves; one that
	// cannot be watched, or is not there yet, is looked at every 2 seconds.
	PollInterval time.Duration `yaml:"poll_interval"`
	// Workers is the number of pulls that may run at a time; 0: one per core,
	// but at least 2. A host has 4 of them at most, and never the last one while
	// others wait, so one that hangs delays nobody; with `workers: 1` it delays
	// all until it is given up, for two minutes and more. A change needs a
	// restart.
	Workers int `yaml:"workers"`
	// MaxFileSize is the size above which a PO file is reported instead of
	// read: bytes, or a number with KiB, MiB, GiB, KB, MB or GB. A change needs a restart.
	MaxFileSize Size `yaml:"max_file_size"`
	// ResponseCache bounds the rendered answers that are kept in memory until
	// the next change: a size like `64MiB`; 0 keeps none. A change needs a
	// restart.
	ResponseCache Size `yaml:"response_cache"`
	// MetricsListen is a second address, `HOST:PORT`, that alone serves
	// `/metrics` and `/debug/pprof/`. Empty: `/metrics` is on the main address
	// and the profiler is off. A change needs a restart.
	MetricsListen string `yaml:"metrics_listen"`
	// TrustedProxies lists the networks (`10.0.0.0/8`) and addresses
	// (`127.0.0.1`) whose `X-Forwarded-Proto`, `X-Forwarded-Host` and
	// `X-Forwarded-For` count.
	TrustedProxies []Network `yaml:"trusted_proxies"`
	// CORSOrigins lists the origins of web pages that may read the API, such
	// as `https://app.example.org`, or `*` for all.
	CORSOrigins []string `yaml:"cors_origins"`
	// RateLimit bounds the requests of a client to the API; who sends more gets
	// 429 until the span since the first of them is over. Empty: no bound.
	RateLimit RateLimit `yaml:"rate_limit"`
	// Credentials lists what to log in with at hosts of repositories.
	Credentials []Credential `yaml:"credentials"`
	// Bots lists authors, by name or e-mail address, that are programs:
	// their users say so.
	Bots []string `yaml:"bots"`
	// Git says who transports packs: the `git` program (`binary`), repoglot
	// itself (`builtin`), or the program where there is one (`auto`). A change
	// needs a restart.
	Git Transport `yaml:"git" oneof:"auto builtin binary"`
	// GitExport says whether the repositories of components may be cloned from
	// this server, private ones with a token, by the address in `git_export`
	// (docs/operation.md). It needs the git program: without it, or with
	// `git: builtin`, clones get 503. A change needs a restart.
	GitExport bool `yaml:"git_export"`
	// Projects lists what is served.
	Projects []Project `yaml:"projects"`

	file     string
	source   []byte // the bytes of the file
	warnings []string
}

// Transport says who transports packs: see Config.Git.
type Transport string

// RateLimit bounds the requests of one client; an empty rate is no bound.
type RateLimit struct {
	// Anonymous bounds the requests of one address (of IPv6: one network of 64
	// bits) without a token, such as `1000/h` (units: s, m, h, d).
	Anonymous Rate `yaml:"anonymous"`
	// Token bounds the requests with one token.
	Token Rate `yaml:"token"`
}

// Credential is what to log in with at one host.
type Credential struct {
	// Host is the host that the credential is for, `git.example.org` or
	// `git.example.org:8443`. No other host ever sees it.
	Host string `yaml:"host" required:"true"`
	// Username is the name to log in with.
	Username string `yaml:"username"`
	// PasswordEnv names the environment variable that holds the password or
	// access token; it must be set. Passwords themselves do not belong into
	// the file.
	PasswordEnv string `yaml:"password_env"`
	// SSHKey is the path of a private key for `ssh://` addresses. Empty: the
	// SSH agent and the usual keys are asked.
	SSHKey Path `yaml:"ssh_key"`

	// Password is the value of the variable that PasswordEnv names, "" without
	// one. It is never printed.
	Password Secret `yaml:"-"`
}

// Project groups components.
type Project struct {
	// Slug is the project's name in URLs: letters, digits, `-` and `_` of
	// ASCII, at most 100.
	Slug string `yaml:"slug" required:"true"`
	// Name is the project's name for people. Empty: the slug.
	Name string `yaml:"name"`
	// Web is the address of the project's own site.
	Web string `yaml:"web"`
	// Instructions for translators: an address or a text.
	Instructions string `yaml:"instructions"`
	// LanguageAliases is a comma-separated list of `from:to` language codes.
	LanguageAliases string `yaml:"language_aliases"`
	// TranslationReview is served as it stands here.
	TranslationReview bool `yaml:"translation_review"`
	// SourceReview is served as it stands here.
	SourceReview bool `yaml:"source_review"`
	// SetLanguageTeam is served as it stands here.
	SetLanguageTeam bool `yaml:"set_language_team"`
	// EnableHooks says that webhooks may have the project's components pulled.
	EnableHooks bool `yaml:"enable_hooks"`
	// Access is who may see the project: everybody (`public`), or nobody
	// without a token (`private`: the API answers 404).
	Access catalog.Access `yaml:"access" oneof:"public private"`
	// WebhookSecretEnv names the environment variable with the secret of
	// webhooks for the project's components: only calls that are signed with it
	// count. If the variable is not set, none does. Empty: everybody may call,
	// which pulls at most once a minute. See docs/webhooks.md.
	WebhookSecretEnv string `yaml:"webhook_secret_env"`
	// Components lists the project's components.
	Components []Component `yaml:"components"`
}

// Default is the configuration of an empty file.
func Default() *Config {
	return &Config{
		Listen:        "127.0.0.1:8080",
		DataDir:       "./repoglot-data",
		PollInterval:  5 * time.Minute,
		MaxFileSize:   128 << 20,
		ResponseCache: 64 << 20,
		Git:           "auto",
		GitExport:     true,
	}
}

// DefaultProject is a project of which only the slug is missing (decision 33).
func DefaultProject() Project {
	return Project{SetLanguageTeam: true, EnableHooks: true, Access: catalog.AccessPublic}
}

// Settings returns the project as the catalogue keeps it.
func (p *Project) Settings() catalog.ProjectSettings {
	return catalog.ProjectSettings{
		Name:              p.Name,
		Web:               p.Web,
		Instructions:      p.Instructions,
		LanguageAliases:   p.LanguageAliases,
		TranslationReview: p.TranslationReview,
		SourceReview:      p.SourceReview,
		SetLanguageTeam:   p.SetLanguageTeam,
		EnableHooks:       p.EnableHooks,
		Access:            p.Access,
	}
}

// File is the path of the file that the configuration was read from, "" if it
// was made by a program.
func (c *Config) File() string { return c.file }

// Warnings says in one line each what the file asks for and this version does
// not do, and which environment variables and check flags look like a mistake.
func (c *Config) Warnings() []string { return c.warnings }

// Prefixes returns TrustedProxies as package netip has them.
func (c *Config) Prefixes() []netip.Prefix {
	list := make([]netip.Prefix, 0, len(c.TrustedProxies))
	for _, n := range c.TrustedProxies {
		list = append(list, n.Prefix)
	}
	return list
}
