package config

import (
	"cmp"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/checks"
	"github.com/repoglot/repoglot/catalog/edit/message"
	"github.com/repoglot/repoglot/gitsource/derive"
	"github.com/repoglot/repoglot/gitsource/forge"
	"github.com/repoglot/repoglot/gitsource/remote"
	"github.com/repoglot/repoglot/gitsource/repourl"
)

// minPoll is the shortest time between two polls: shorter ones gain nothing.
const minPoll = 10 * time.Millisecond

// envRule matches names of environment variables.
var envRule = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,99}$`)

// check reports values of the right type that make no sense, alone or together.
func check(c *Config, r *report, env *environment) {
	if err := CheckListen(c.Listen); err != nil {
		bad(r, env, "listen", "%v", err)
	}
	if err := CheckListen(c.MetricsListen); c.MetricsListen != "" && err != nil {
		bad(r, env, "metrics_listen", "%v", err)
	}
	switch o, why := origin(c.BaseURL); {
	case c.BaseURL == "":
	case why != "":
		bad(r, env, "base_url", "%s %s; write an origin like https://l10n.example.org", sample(Address(c.BaseURL).String()), why)
	default:
		c.BaseURL = o
	}
	if c.DataDir == "" {
		bad(r, env, "data_dir", "is empty; name a folder")
	}
	if db := c.Database.Raw(); db != "" && !strings.HasPrefix(db, "postgres://") && !strings.HasPrefix(db, "postgresql://") {
		bad(r, env, "database", "%s is no database; leave it empty for SQLite in data_dir, or write postgres://USER@HOST/NAME", sample(c.Database.String()))
	}
	if c.PollInterval != 0 && c.PollInterval < minPoll {
		bad(r, env, "poll_interval", "is below %v; write a longer time, or 0 for no polling", minPoll)
	}
	for i, dir := range c.SafeDirectories {
		if dir != "*" && !filepath.IsAbs(dir) {
			r.on(index("safe_directories", i), "%s is no absolute path; write it like /srv/git/app.git, /srv/git/* or *", sample(dir))
		}
	}
	for i, host := range c.AllowedHosts {
		if host != "*" && (host == "" || strings.ContainsAny(host, "/:@* ")) {
			r.on(index("allowed_hosts", i), "%s is no host; write it like l10n.example.org, without a port, or *", sample(host))
		}
	}
	for i, o := range c.CORSOrigins {
		if _, why := origin(o); o != "*" && why != "" {
			r.on(index("cors_origins", i), "%s %s; write it like https://app.example.org, or *", sample(o), why)
		}
	}
	if _, _, ok := c.CommitterParts(); !ok {
		bad(r, env, "committer", "%s is no name with an address; write it like L10n Bot <l10n-bot@example.org>", sample(c.Committer))
	}
	checkCredentials(r, env, c.Credentials)
	checkProjects(r, c.Projects)
	checkSignIn(r, env, c)
	checkNotify(r, env, c)
	checkSMTP(r, env, c)
}

// committerRule matches a name with an address, in one line.
var committerRule = regexp.MustCompile(`^([^<>\x00-\x1f\x7f]*[^<>\x00-\x20\x7f]) <([^<>@\x00-\x20\x7f]+@[^<>@\x00-\x20\x7f]+)>$`)

// CommitterParts returns the name and the address of committer, both empty without one,
// and whether they are well formed.
func (c *Config) CommitterParts() (name, email string, ok bool) {
	parts := committerRule.FindStringSubmatch(c.Committer)
	if parts == nil {
		return "", "", c.Committer == ""
	}
	return parts[1], parts[2], true
}

// bad reports a mistake in the value of a top-level key, in the file or in the environment.
func bad(r *report, env *environment, key, format string, args ...any) {
	if env.overridden[key] {
		from := &report{file: EnvName(key)}
		from.at(position{}, format, args...)
		r.errs = append(r.errs, from.errs...)
		return
	}
	r.on(key, key+" "+format, args...)
}

// origin returns "scheme://host[:port]" of an address, or why the address is no origin.
func origin(s string) (o, why string) {
	u, err := url.Parse(s)
	switch {
	case err != nil:
		return "", "is no URL"
	case u.Scheme != "http" && u.Scheme != "https":
		return "", "does not begin with https:// or http://"
	case u.Hostname() == "":
		return "", "names no host"
	case u.User != nil:
		return "", "holds a user name"
	case u.Path != "" && u.Path != "/", u.RawQuery != "", u.Fragment != "", u.ForceQuery, strings.Contains(s, "#"):
		return "", "has more than scheme, host and port"
	}
	return u.Scheme + "://" + strings.ToLower(u.Host), ""
}

func checkCredentials(r *report, env *environment, list []Credential) {
	seen := map[string]bool{}
	for i := range list {
		c, p := &list[i], place{r, index("credentials", i)}
		c.Host = strings.ToLower(c.Host)
		switch {
		case c.Host == "": // reported as missing
		case strings.ContainsAny(c.Host, "/@ *") || strings.Contains(c.Host, "://"):
			p.bad("host", "%s is no host; write it like git.example.org or git.example.org:8443", sample(c.Host))
		case seen[c.Host]:
			p.bad("host", "%s is in the list twice; remove one of the two", sample(c.Host))
		}
		seen[c.Host] = true
		if c.PasswordEnv == "" && c.SSHKey == "" && c.Host != "" {
			p.on(p.path, "%s has neither password_env nor ssh_key; add one of them", p.path)
		}
		if c.PasswordEnv == "" {
			continue
		}
		c.Password = Secret(env.values[c.PasswordEnv])
		if c.Password == "" && envRule.MatchString(c.PasswordEnv) {
			p.bad("password_env", "names %s, which is not set; set it in the environment of repoglot", c.PasswordEnv)
		}
	}
}

// index appends the index of a list item to a path.
func index(path string, i int) string { return path + "[" + strconv.Itoa(i) + "]" }

// CheckListen returns an error, a line with the remedy, unless an address is HOST:PORT.
func CheckListen(address string) error {
	_, port, err := net.SplitHostPort(address)
	if err == nil {
		_, err = strconv.ParseUint(port, 10, 16)
	}
	if err != nil {
		return fmt.Errorf("%s is no address; write HOST:PORT, like 127.0.0.1:8080 or :8080", sample(address))
	}
	return nil
}

// checkWarnings lists unknown check_flags and enforced_checks, which later versions may know.
func (c *Config) checkWarnings() []string {
	var list []string
	for p, co := range c.Components() {
		for _, problem := range checks.FlagErrors(co.CheckFlags, true) {
			list = append(list, fmt.Sprintf("component %s/%s: check_flags: %s", p.Slug, co.Slug, problem))
		}
		for _, name := range co.EnforcedChecks {
			if checks.FlagErrors("ignore-"+strings.ReplaceAll(name, "_", "-"), false) != nil {
				list = append(list, fmt.Sprintf("component %s/%s: enforced_checks: there is no check %s", p.Slug, co.Slug, name))
			}
		}
	}
	return list
}

func checkPush(p place, c *Component) {
	for _, option := range c.MsgmergeOptions {
		if !slices.Contains([]string{"previous", "no_fuzzy_matching", "no_location", "no_wrap"}, option) {
			p.bad("msgmerge_options", "%s is not one of previous, no_fuzzy_matching, no_location, no_wrap", sample(option))
		}
	}
	if c.Msgmerge == "commit" && (c.PushMode == "" || c.NewBase == "") {
		p.bad("msgmerge", "commit needs push_mode and new_base; write both")
	}
	if c.PushMode == "" {
		return
	}
	checkBranch(p, "push_branch", c.PushBranch, "l10n")
	if c.PushMode != catalog.PushDirect && c.PushBranch != "" && c.PushBranch == c.Branch {
		p.bad("push_branch", "%s is the branch that is read; set push_mode: direct, or name another one", sample(c.PushBranch))
	}
	switch {
	case c.RequestPer == "":
	case c.PushMode != catalog.PushRequest:
		p.bad("request_per", "needs push_mode: request; remove the key")
	case c.RequestPer != catalog.PerComponent && c.PushBranch == "":
		p.bad("request_per", "%s needs push_branch; name the branch that those of the requests are below, like l10n", c.RequestPer)
	}
	for _, t := range []struct {
		key, text string
		kind      message.Kind
	}{{"commit_message", c.CommitMessage, message.Translation}, {"pull_message", c.PullMessage, message.Component}, {"add_message", c.AddMessage, message.Translation}, {"delete_message", c.DeleteMessage, message.Translation}, {"addon_message", c.AddonMessage, message.Addon}} {
		if _, err := message.Parse(t.kind, t.text); err != nil {
			p.bad(t.key, "is no template: %v", err)
		}
	}
	switch {
	case c.PushMode != catalog.PushRequest:
	case c.Forge == "":
		p.bad("push_mode", "request needs forge; write one of %s", strings.Join(forge.Kinds(), ", "))
	case c.ForgeTokenEnv == "":
		p.bad("forge", "needs forge_token_env; name the environment variable with the token")
	default:
		if _, err := c.NewForge("x"); err != nil {
			p.bad("forge", "cannot be used: %v", err)
		}
	}
}

// pushTarget is what components that share a branch of ours must have in common.
type pushTarget struct {
	branch, forge, forgeURL, token string // the last three of push_mode request
}

func (c *Component) pushesTo() string { return cmp.Or(c.Push.String(), c.Repo.String()) }

// ownBranch is push.BranchOf.
func (c *Component) ownBranch(project string) string {
	return cmp.Or(c.PushBranch, "repoglot/"+project+"/"+c.Slug)
}

// checkPushBranch refuses a branch of ours that components with another branch, push_mode or
// forge have, too, and would overwrite. pushed has those seen, by repository and branch.
func checkPushBranch(p place, project string, c *Component, pushed map[[2]string]pushTarget) {
	if c.PushMode == "" || c.PushMode == catalog.PushDirect {
		return
	}
	key, to := [2]string{c.pushesTo(), c.ownBranch(project)}, pushTarget{branch: c.Branch}
	if c.PushMode == catalog.PushRequest {
		to.forge, to.forgeURL, to.token = c.Forge, c.ForgeURL, c.ForgeTokenEnv
	}
	if other, known := pushed[key]; known && other != to {
		p.bad("push_branch", "%s is that of a component above with another branch, push_mode or forge, and each would overwrite what the other pushed; name another one", sample(key[1]))
		return
	}
	pushed[key] = to
}

// checkRequests refuses components of one repository whose branches get into each other's way:
// with one push_branch and different request_per, with a branch below the push_branch of
// another, which git cannot have, or one that is read for edits, which would be overwritten.
func checkRequests(r *report, list []Project) {
	type branch struct{ repo, name string }
	read, below, per := map[branch]bool{}, map[branch]string{}, map[branch]catalog.RequestPer{}
	branchOf := func(p *Project, c *Component) (b branch, pushed bool) {
		return branch{c.pushesTo(), c.ownBranch(p.Slug)}, c.PushMode == catalog.PushRequest || c.PushMode == catalog.PushBranch
	}
	for project, c := range components(list) {
		if c.PushMode != "" && c.Branch != "" {
			read[branch{c.Repo.String(), c.Branch}] = true
		}
		b, pushed := branchOf(project, c)
		for at, letter := range b.name {
			if pushed && letter == '/' {
				below[branch{b.repo, b.name[:at]}] = b.name
			}
		}
	}
	eachPlace(r, list, func(p place, project *Project, c *Component) {
		b, pushed := branchOf(project, c)
		if !pushed {
			return
		}
		if read[b] {
			p.bad("push_branch", "%s is the branch of a component that takes edits, and would be overwritten; write another name", sample(b.name))
		}
		if other := below[b]; other != "" {
			p.bad("push_branch", "%s is a folder of the branch %s of another component; write another name", sample(b.name), sample(other))
		}
		var own catalog.RequestPer
		switch {
		case c.PushMode != catalog.PushRequest:
			own = c.RequestPer
		case c.PushBranch == "":
			own = catalog.PerComponent
		default:
			own = cmp.Or(c.RequestPer, catalog.PerRepository)
		}
		if other, known := per[b]; known && other != own {
			p.bad("request_per", "%s is %s for another component with this push_branch; write the same, or another push_branch", own, other)
		}
		per[b] = own
	})
}

var errNoForge = errors.New("the repository has no address of a forge: write https://HOST/OWNER/NAME, or ssh")

// NewForge returns the forge of a component, with a token.
func (c *Component) NewForge(token string) (forge.Forge, error) {
	o := c.ForgeOptions(token)
	if o.Repository == "" {
		return nil, errNoForge
	}
	return forge.New(o)
}

// ForgeOptions returns what the component's forge is asked with, about the repository that its
// address names; "" if it names none.
func (c *Component) ForgeOptions(token string) forge.Options {
	return forge.Options{Kind: c.Forge, URL: c.ForgeURL, Repository: forge.RepositoryOf(cmp.Or(c.Push.Raw(), c.Repo.Raw()), c.ForgeURL), Token: token}
}

// ForgeGit returns the repositories of a component's forge by their path, its own by "". They
// are read and pushed to by https with a token of the forge, and with nothing else.
func (c *Component) ForgeGit(token string) func(path string) remote.Repository {
	o := c.ForgeOptions(token)
	user := "x-access-token" // the name counts nowhere else
	if c.Forge == "gitlab" {
		user = "oauth2"
	}
	return func(path string) remote.Repository {
		address := o.Git(cmp.Or(path, o.Repository))
		return remote.Repository{URL: address, Credential: &remote.Credential{Host: repourl.Host(address), Username: user, Password: token}}
	}
}

// Signer returns the key that signs the commits of a component, nil without one.
func (c *Component) Signer() (derive.Signer, error) {
	if c.PushMode == "" || c.SigningKey == "" {
		return nil, nil
	}
	return derive.ParseSigner(string(c.SigningKey))
}

// checkSecrets returns what is wrong with secrets of webhooks and of components with edits.
func (c *Config) checkSecrets() error {
	for p, co := range c.Components() {
		where := p.Slug + "/" + co.Slug
		kind := publicKey(string(co.WebhookSecret))
		switch _, err := co.Signer(); {
		case kind != "":
			return fmt.Errorf("component %s: webhook_secret_env: %s is a public key (%s), which is no secret: set it to a random text, such as `openssl rand -hex 32` prints, here and at the service",
				where, cmp.Or(co.WebhookSecretEnv, p.WebhookSecretEnv), kind)
		case co.PushMode == "":
		case err != nil:
			return fmt.Errorf("component %s: signing_key_env: %w", where, err)
		case co.SigningKeyEnv != "" && co.SigningKey == "":
			return fmt.Errorf("component %s: signing_key_env names %s, which is not set: set it, or remove the key", where, co.SigningKeyEnv)
		case (co.PushMode == catalog.PushRequest || co.Translators != "") && co.ForgeToken == "":
			return fmt.Errorf("component %s: forge_token_env names %s, which is not set: set it", where, co.ForgeTokenEnv)
		}
	}
	return nil
}

var (
	// publicBlockRule finds the first line of a PEM, PGP or SSH2 block of a public key.
	publicBlockRule = regexp.MustCompile(`-{4,5} ?BEGIN [A-Z0-9 ]*(PUBLIC KEY|CERTIFICATE)`)
	ageRule         = regexp.MustCompile(`(^|\s)age1[02-9ac-hj-np-z]{50,}($|\s)`)
)

// publicKey returns what kind of public key a secret is, or "" for none that can be
// told from a random text: 32 bytes in base64 or hexadecimal digits may be either.
func publicKey(secret string) string {
	if publicBlockRule.MatchString(secret) {
		return "a PEM block"
	}
	if ageRule.MatchString(secret) {
		return "of age"
	}
	if _, _, _, _, err := ssh.ParseAuthorizedKey([]byte(secret)); err == nil {
		return "of ssh"
	}
	der, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(secret), ""))
	if err != nil {
		return ""
	}
	if _, err := ssh.ParsePublicKey(der); err == nil {
		return "of ssh"
	}
	if _, err := x509.ParsePKIXPublicKey(der); err == nil {
		return "in DER"
	}
	return ""
}
