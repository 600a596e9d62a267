package config

import (
	"cmp"
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/lang"
)

// SignIn is a provider with whose accounts people sign in.
type SignIn struct {
	// ID names the provider in roles and in `BASE_URL/login/ID/callback`, the address that it
	// sends people back to. Accounts are known by it: do not change it. Empty: as `provider`.
	ID string `yaml:"id"`
	// Provider is its kind.
	Provider string `yaml:"provider" required:"true" oneof:"github gitlab gitea forgejo oidc"`
	// URL is its address, with `oidc` that of the issuer. Empty: github.com or gitlab.com.
	URL string `yaml:"url"`
	// ClientID is the id that the provider gave this server.
	ClientID string `yaml:"client_id" required:"true"`
	// ClientSecretEnv names the environment variable with the secret that belongs to it.
	ClientSecretEnv string `yaml:"client_secret_env" required:"true" env:"GITHUB_SECRET"`
	// Allow says who may sign in: `anyone`, or of a forge `{members: [org, org/team]}`.
	Allow Allow `yaml:"allow"`

	// ClientSecret is the value of that variable; it is never printed.
	ClientSecret Secret `yaml:"-"`
}

// Allow says who may sign in; the zero value: anyone.
type Allow struct {
	// Members are organisations, `org/team`, or groups of GitLab.
	Members []string `yaml:"members"`
}

// Accounts are accounts by the code of a language, or "*".
type Accounts map[string][]string

// Roles are those that the configuration gives to accounts.
func (c *Config) Roles() catalog.RoleBook {
	b := catalog.RoleBook{Admins: c.Admins, Translators: c.Translators, Projects: map[string]catalog.ProjectRoles{}}
	for _, p := range c.Projects {
		if len(p.Admins)+len(p.Readers)+len(p.Translators) > 0 {
			b.Projects[p.Slug] = catalog.ProjectRoles{Admins: p.Admins, Readers: p.Readers, Translators: p.Translators}
		}
	}
	return b
}

// Forge is the host of a provider that is a forge, "" of another one.
func (s *SignIn) Forge() string {
	if s.Provider == "oidc" {
		return ""
	}
	return forgeHost(s.Provider, s.URL)
}

// ForgeHost is the host of a component's forge.
func (c *Component) ForgeHost() string { return forgeHost(c.Forge, c.ForgeURL) }

// forgeHost is the host of a forge with its port, if it has one.
func forgeHost(kind, address string) string {
	u, err := url.Parse(cmp.Or(address, "https://"+kind+".com"))
	if err != nil {
		return ""
	}
	return strings.TrimPrefix(strings.ToLower(u.Host), "api.")
}

var (
	providerRule = regexp.MustCompile(`^[a-z0-9][a-z0-9_-]{0,29}$`)
	memberRule   = regexp.MustCompile(`^[\pL\pN_.-]+(/[\pL\pN_. -]+)*$`)
	accountRule  = regexp.MustCompile(`^[\pL\pN_.@+-]+$`)
	addressRule  = regexp.MustCompile(`^[^@\s]+@[^@\s]+$`)
)

func checkSignIn(r *report, env *environment, c *Config) {
	kinds := map[string]string{} // of providers, by id
	for i := range c.SignIn {
		s, p := &c.SignIn[i], place{r, index("sign_in", i)}
		s.ID = cmp.Or(s.ID, s.Provider)
		switch u, err := url.Parse(s.URL); {
		case s.URL == "" && s.Provider != "github" && s.Provider != "gitlab":
			p.bad("url", "is needed by %s; write the address of the provider", s.Provider)
		case s.URL == "":
		case err != nil || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "":
			p.bad("url", "%s is no address; write it like https://git.example.org", sample(Address(s.URL).String()))
		case !catalog.Encrypted(u):
			p.bad("url", "%s is not https; secrets are sent there", sample(s.URL))
		}
		switch _, known := kinds[s.ID]; {
		case s.ID != "" && !providerRule.MatchString(s.ID):
			p.bad("id", "%s may hold small letters, digits, - and _ only; write it like gh", sample(s.ID))
		case known:
			p.bad("id", "%s is that of a provider above; write an id for each", sample(s.ID))
		}
		kinds[s.ID] = s.Provider
		for _, m := range s.Allow.Members {
			if s.Provider == "oidc" {
				p.bad("allow.members", "are of forges; let the provider of oidc say who may use this server, and write anyone")
			} else if !memberRule.MatchString(m) || s.Provider != "gitlab" && strings.Count(m, "/") > 1 {
				p.bad("allow.members", "%s is no organisation; write org, or org/team", sample(m))
			}
		}
		if p.set("allow.members") && len(s.Allow.Members) == 0 {
			p.bad("allow.members", "is empty; name who may sign in, or write allow: anyone")
		}
		if env.pushes && envRule.MatchString(s.ClientSecretEnv) && env.values[s.ClientSecretEnv] == "" {
			p.bad("client_secret_env", "names %s, which is not set; set it in the environment of repoglot", s.ClientSecretEnv)
		}
		s.ClientSecret = Secret(env.values[s.ClientSecretEnv])
	}
	if u, err := url.Parse(c.BaseURL); len(c.SignIn) > 0 && c.BaseURL == "" {
		r.on("sign_in", "sign_in needs base_url, where providers send people back to; write it, like https://l10n.example.org")
	} else if err == nil && len(c.SignIn) > 0 && !catalog.Encrypted(u) {
		bad(r, env, "base_url", "%s is not https, which sign_in needs: on the way others could take sessions", sample(c.BaseURL))
	}
	checkRoles(r, kinds, "", map[string][]string{"admins": c.Admins}, c.Translators)
	for i, project := range c.Projects {
		checkRoles(r, kinds, index("projects", i)+".", map[string][]string{"admins": project.Admins, "readers": project.Readers}, project.Translators)
	}
	eachPlace(r, c.Projects, func(p place, _ *Project, co *Component) {
		switch {
		case co.Translators == "":
		case co.PushMode == "" || co.Forge == "" || co.ForgeTokenEnv == "":
			p.bad("translators", "push needs push_mode, forge and forge_token_env; write them")
		case !slices.ContainsFunc(c.SignIn, func(s SignIn) bool { return s.Forge() == co.ForgeHost() }):
			p.bad("translators", "push needs sign_in with accounts of %s; add that provider", co.ForgeHost())
		default:
			if _, err := co.NewForge("x"); err != nil {
				p.bad("forge", "cannot be used: %v", err)
			}
		}
	})
}

// checkRoles checks who is named in lists of accounts below a path; kinds has the providers'.
func checkRoles(r *report, kinds map[string]string, below string, lists map[string][]string, translators Accounts) {
	var known *lang.Table
	for _, code := range slices.Sorted(maps.Keys(translators)) {
		if known == nil {
			known, _ = lang.New() // a part of the program, which tests read
		}
		path := below + "translators." + code
		_, ok := known.Lookup(code)
		_, base := known.Lookup(lang.BaseCode(code))
		if code != "*" && (!languageRule.MatchString(code) || !ok && !base) {
			r.on(path, "%s: %s is no language code; write one as in addresses, like cs or pt_BR, or \"*\"", path, sample(code))
		}
		lists["translators."+code] = translators[code]
	}
	for _, key := range slices.Sorted(maps.Keys(lists)) {
		for i, named := range lists[key] {
			path := index(below+key, i)
			provider, name, _ := strings.Cut(named, ":")
			subject, bySubject := strings.CutPrefix(name, "#")
			why := ""
			switch kind := kinds[provider]; {
			case kind == "":
				why = fmt.Sprintf("names no provider of sign_in; write ID:NAME or ID:#SUBJECT with one of %s", cmp.Or(strings.Join(slices.Sorted(maps.Keys(kinds)), ", "), "sign_in, which is empty"))
			case bySubject && subject != "":
			case kind == "oidc" && !addressRule.MatchString(name):
				why = "is neither an address nor a subject, and names of oidc may change hands; write " + provider + ":jana@example.org or " + provider + ":#SUBJECT"
			case kind != "oidc" && !accountRule.MatchString(name):
				why = "is no account; write " + provider + ":NAME or " + provider + ":#SUBJECT"
			}
			if why != "" {
				r.on(path, "%s %s %s", path, sample(named), why)
			}
		}
	}
}
