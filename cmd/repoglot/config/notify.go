package config

import (
	"encoding/base64"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/repoglot/repoglot/catalog"
)

// Notify is a receiver of webhooks that is told what changes here.
type Notify struct {
	// URL is the address that changes are sent to. It is not printed: it may hold a secret.
	URL Secret `yaml:"url" required:"true"`
	// SecretEnv names the environment variable with the secret that signs what is sent, in
	// base64, such as `openssl rand -base64 32` prints.
	SecretEnv string `yaml:"secret_env" required:"true" env:"NOTIFY_SECRET"`
	// Events lists what is sent: actions by number or name (docs/codes.md#actions-of-changes),
	// `component_error` for pulls and pushes that fail and files that cannot be read, `edit_conflict`,
	// `request_opened`. Empty: everything.
	Events []string `yaml:"events"`
	// Projects lists projects by slug, of which all is sent. Empty: all that is public.
	Projects []string `yaml:"projects"`
	// Languages lists the codes of the languages that are sent. Empty: all. What is about a whole
	// component is sent, too.
	Languages []string `yaml:"languages"`
	// Batch is how long changes are collected for one delivery, such as `60s`; one has up to
	// 100. 0: each change has its own.
	Batch time.Duration `yaml:"batch" range:"0s 24h"`
	// AllowPrivate permits addresses of this machine and of private networks.
	AllowPrivate bool `yaml:"allow_private"`

	// Secret is the value of that variable; it is never printed.
	Secret Secret `yaml:"-"`
}

// maxReceivers bounds those that are told: each has a goroutine and a page of changes.
const maxReceivers = 32

func checkNotify(r *report, env *environment, c *Config) {
	if len(c.Notify) > maxReceivers {
		r.on("notify", "notify has more than %d entries; let one receiver pass changes on", maxReceivers)
	}
	seen := map[Secret]bool{}
	for i := range c.Notify {
		n, p := &c.Notify[i], place{r, index("notify", i)}
		u, err := url.Parse(string(n.URL))
		switch {
		case n.URL == "": // reported as missing
		case err != nil || u.Host == "" || u.Fragment != "" || u.User != nil || u.Scheme != "https" && u.Scheme != "http":
			p.bad("url", "is no address; write it like https://example.org/hook, without a user")
		case !n.AllowPrivate && u.Scheme != "https":
			p.bad("url", "is not https; texts are sent there")
		case seen[n.URL]:
			p.bad("url", "is that of an entry above; write one entry with all events")
		}
		seen[n.URL] = true
		for k, event := range n.Events {
			if _, _, known := catalog.ActionsOf(event); !known {
				p.bad(index("events", k), "%s is no event; write component_error, edit_conflict, request_opened, or an action of docs/codes.md", sample(event))
			}
		}
		for k, slug := range n.Projects {
			if !slices.ContainsFunc(c.Projects, func(of Project) bool { return of.Slug == slug }) {
				p.bad(index("projects", k), "%s is none of the projects; write the slug of one", sample(slug))
			}
		}
		n.Secret = Secret(env.values[n.SecretEnv])
		switch key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(string(n.Secret), "whsec_")); {
		case !env.pushes || !envRule.MatchString(n.SecretEnv):
		case n.Secret == "":
			p.bad("secret_env", "names %s, which is not set; set it in the environment of repoglot", n.SecretEnv)
		case err != nil || len(key) < 16:
			p.bad("secret_env", "names %s, which is no secret of 16 bytes or more in base64; set it to what openssl rand -base64 32 prints, here and at the receiver", n.SecretEnv)
		}
	}
}

// SMTP is a server that sends mail.
type SMTP struct {
	// Address is its `HOST:PORT`, such as `mail.example.org:587`. Empty: no mail is sent.
	Address string `yaml:"address"`
	// User is the name to log in with. Empty: without.
	User string `yaml:"user"`
	// PasswordEnv names the environment variable with the password.
	PasswordEnv string `yaml:"password_env" env:"SMTP_PASSWORD"`
	// From is the address that mail is from.
	From string `yaml:"from"`
	// TLS says how the connection is encrypted: `starttls`, `tls` from its beginning, or `none`.
	TLS string `yaml:"tls" oneof:"starttls tls none"`

	// Password is the value of that variable; it is never printed.
	Password Secret `yaml:"-"`
}

func checkSMTP(r *report, env *environment, c *Config) {
	m, p := &c.SMTP, place{r, "smtp"}
	m.Password = Secret(env.values[m.PasswordEnv])
	switch {
	case m.Address == "":
	case CheckListen(m.Address) != nil || strings.HasPrefix(m.Address, ":"):
		p.bad("address", "%s is no address; write HOST:PORT, like mail.example.org:587", sample(m.Address))
	case !catalog.ValidEmail(m.From):
		p.bad("from", "%s is no address of mail; write it like l10n@example.org", sample(m.From))
	case c.BaseURL == "":
		r.on("smtp", "smtp needs base_url, which mail links to; write it, like https://l10n.example.org")
	case env.pushes && m.PasswordEnv != "" && m.Password == "" && envRule.MatchString(m.PasswordEnv):
		p.bad("password_env", "names %s, which is not set; set it in the environment of repoglot", m.PasswordEnv)
	}
}
