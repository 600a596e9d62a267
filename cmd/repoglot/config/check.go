package config

import (
	"fmt"
	"net"
	"net/url"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/repoglot/repoglot/catalog/checks"
)

// minPoll is the shortest time between two polls: shorter times burden remotes and
// gain nothing.
const minPoll = 10 * time.Millisecond

// envRule matches names of environment variables.
var envRule = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,99}$`)

// check reports values of the right type that make no sense, alone or together.
func check(c *Config, r *report, env *environment) {
	checkListen(r, env, "listen", c.Listen, false)
	checkListen(r, env, "metrics_listen", c.MetricsListen, true)
	checkBaseURL(r, env, c)
	if c.DataDir == "" {
		bad(r, env, "data_dir", "is empty; name a folder")
	}
	if db := c.Database.Raw(); db != "" && !strings.HasPrefix(db, "postgres://") && !strings.HasPrefix(db, "postgresql://") {
		bad(r, env, "database", "%s is no database; leave it empty for SQLite in data_dir, or write postgres://USER@HOST/NAME", sample(c.Database.String()))
	}
	if c.PollInterval != 0 && c.PollInterval < minPoll {
		bad(r, env, "poll_interval", "is below %v; write a longer time, or 0 for no polling", minPoll)
	}
	if n := c.Compatibility.PageSize; n < 0 || n > 1000 {
		bad(r, env, "compatibility.page_size", "must be from 0 to 1000")
	}
	if c.Workers < 0 {
		bad(r, env, "workers", "is negative; write 0 for one per core")
	}
	if c.DatabaseReaders < 0 {
		bad(r, env, "database_readers", "is negative; write 0 for a number that fits the cores")
	}
	if c.MaxFileSize < 1 {
		bad(r, env, "max_file_size", "must be above 0; write a size like 128MiB")
	}
	if q := c.Quotas; q.Components < 1 || q.Files < 1 || q.Units < 1 || q.Mirror < 1 || q.Growth < 1 {
		r.on("quotas", "quotas must be above 0; leave a quota out for its default")
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

// bad reports a mistake in the value of a top-level key, in the file or in the
// environment.
func bad(r *report, env *environment, key, format string, args ...any) {
	if env.overridden[key] {
		from := &report{file: EnvName(key)}
		from.at(position{}, format, args...)
		r.errs = append(r.errs, from.errs...)
		return
	}
	r.on(key, key+" "+format, args...)
}

func checkListen(r *report, env *environment, key, value string, mayBeEmpty bool) {
	if value == "" && mayBeEmpty {
		return
	}
	if err := CheckListen(value); err != nil {
		bad(r, env, key, "%v", err)
	}
}

func checkBaseURL(r *report, env *environment, c *Config) {
	if c.BaseURL == "" {
		return
	}
	o, why := origin(c.BaseURL)
	if why != "" {
		bad(r, env, "base_url", "%s %s; write an origin like https://l10n.example.org", sample(Address(c.BaseURL).String()), why)
		return
	}
	c.BaseURL = o
}

// origin returns "scheme://host[:port]" of an address, or the reason why the
// address is not an origin.
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
		if !envRule.MatchString(c.PasswordEnv) {
			p.bad("password_env", "must be the name of an environment variable, not a password; write it like GIT_PASSWORD")
			continue
		}
		c.Password = Secret(env.values[c.PasswordEnv])
		if c.Password == "" {
			p.bad("password_env", "names %s, which is not set; set it in the environment of repoglot", c.PasswordEnv)
		}
	}
}

// index appends the index of a list item to a path.
func index(path string, i int) string { return path + "[" + strconv.Itoa(i) + "]" }

// CheckListen returns an error, in one line with the remedy, for an address to
// listen on that is not HOST:PORT.
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

// checkWarnings lists unknown check_flags and enforced_checks. They are not errors,
// since a later version may know them.
func (c *Config) checkWarnings() []string {
	var list []string
	for i := range c.Projects {
		p := &c.Projects[i]
		for j := range p.Components {
			co := &p.Components[j]
			problems := checks.FlagErrors(co.CheckFlags, true)
			for _, problem := range problems {
				list = append(list, fmt.Sprintf("component %s/%s: check_flags: %s", p.Slug, co.Slug, problem))
			}
			for _, name := range co.EnforcedChecks {
				if checks.FlagErrors("ignore-"+strings.ReplaceAll(name, "_", "-"), false) != nil {
					list = append(list, fmt.Sprintf("component %s/%s: enforced_checks: there is no check %s", p.Slug, co.Slug, name))
				}
			}
		}
	}
	return list
}
