package wire

import (
	"net/url"
	"strings"
)

// WithoutCredentials removes user and password from a repository address
// (decision 28). The store holds none; this is the second lock of that door.
// The "git@" of an SSH address names an account that everybody knows, not a
// secret, so ssh keeps a user without a password.
func WithoutCredentials(repo string) string {
	scheme, rest, found := strings.Cut(repo, "://")
	if !found {
		return repo // a path, or host:path of SSH, which cannot hold a password
	}
	end := strings.IndexAny(rest, "/?#")
	if end < 0 {
		end = len(rest)
	}
	at := strings.LastIndexByte(rest[:end], '@')
	if at < 0 {
		return dropQuery(repo)
	}
	user, _, _ := strings.Cut(rest[:at], ":")
	host := rest[at+1:]
	if keepsUser(scheme) && user != "" {
		host = user + "@" + host
	}
	return dropQuery(scheme + "://" + host)
}

func keepsUser(scheme string) bool {
	switch strings.ToLower(scheme) {
	case "ssh", "git+ssh", "ssh+git":
		return true
	}
	return false
}

// dropQuery removes a query from an HTTP address: some hosts take tokens there.
func dropQuery(repo string) string {
	u, err := url.Parse(repo)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.RawQuery == "" {
		return repo
	}
	u.RawQuery = ""
	return u.String()
}
