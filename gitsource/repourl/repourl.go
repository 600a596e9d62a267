// Package repourl answers questions about the address of a repository: whether it is local,
// which parts of it may be shown, and by which schemes repositories are reached (Transport).
//
// Goals: no secret in an address is ever shown, whatever form the address has. Non-goals:
// reaching a repository (see remote). It imports none of our packages, so that all can use it.
package repourl

import (
	"net/url"
	"path/filepath"
	"regexp"
	"strings"
	"unicode"
)

// Redact returns an address of any form without user and password (ssh keeps the
// user), query and fragment, and with U+FFFD for control characters. A path is
// returned as it is. A part that may be a secret is removed.
func Redact(address string) string {
	address = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return '\uFFFD'
		}
		return r
	}, address)
	scheme, rest, ok := strings.Cut(address, "://")
	if !ok {
		return redactSCP(address)
	}
	if strings.EqualFold(scheme, "file") {
		return address
	}
	rest = cutQuery(rest)
	end := authorityEnd(rest)
	at := strings.LastIndexByte(rest[:end], '@')
	if at < 0 {
		return scheme + "://" + rest
	}
	user, _, _ := strings.Cut(rest[:at], ":")
	rest = rest[at+1:]
	if user != "" && strings.Contains(strings.ToLower(scheme), "ssh") {
		return scheme + "://" + user + "@" + rest
	}
	return scheme + "://" + rest
}

// Public is the address that everyone may see: Redact of an address of the network; of a
// repository on this machine the name alone, since its path tells of the machine.
func Public(address string) string {
	path, local := IsLocal(address)
	if !local {
		return Redact(address)
	}
	path = filepath.Clean(path)
	if filepath.Base(path) == ".git" {
		path = filepath.Dir(path)
	}
	return filepath.Base(path)
}

// cutQuery removes "?…" and "#…". A password may have one of these characters, so
// the text before an "@" in the authority is skipped.
func cutQuery(rest string) string {
	start := strings.LastIndexByte(rest[:authorityEnd(rest)], '@') + 1
	if q := strings.IndexAny(rest[start:], "?#"); q >= 0 {
		return rest[:start+q]
	}
	return rest
}

// authorityEnd returns the end of "user:password@host:port". A password with an
// unescaped slash is not valid, but must not be shown either: if the part before
// the slash has a colon and no "@", the authority extends to the last "@", unless
// that "@" starts a part of a path after a numeric port (host:8443/@scope).
func authorityEnd(rest string) int {
	end := strings.IndexByte(rest, '/')
	if end < 0 {
		return len(rest)
	}
	if strings.IndexByte(rest[:end], '@') >= 0 {
		return end
	}
	last := strings.LastIndexByte(rest, '@')
	_, port, ok := strings.Cut(rest[:end], ":")
	if last < 0 || !ok || strings.HasPrefix(rest, "[") {
		return end
	}
	if strings.Trim(port, "0123456789") == "" && rest[last-1] == '/' {
		return end
	}
	return last + 1
}

// redactSCP removes the password from user:password@host:path. Git does not accept
// this form, but a configuration may have it.
func redactSCP(address string) string {
	at := strings.IndexByte(address, '@')
	if at < 0 || strings.ContainsAny(address[:at], `/\`) {
		return address
	}
	user, _, _ := strings.Cut(address[:at], ":")
	return user + address[at:]
}

// IsLocal reports whether an address is a path or a file:// URL, and returns the path on disk;
// a relative path stays relative. As in git, a colon before the first slash makes it host:path.
func IsLocal(address string) (path string, ok bool) {
	if address == "" || strings.Contains(address, "::") && !strings.ContainsAny(address[:strings.Index(address, "::")], `/.`) {
		return "", false
	}
	if scheme, rest, isURL := strings.Cut(address, "://"); isURL && !strings.ContainsRune(scheme, '/') {
		rest = strings.TrimPrefix(rest, "localhost")
		if !strings.EqualFold(scheme, "file") || !strings.HasPrefix(rest, "/") {
			return "", false
		}
		if decoded, err := url.PathUnescape(rest); err == nil {
			rest = decoded
		}
		return filepath.FromSlash(rest), true
	}
	colon := strings.IndexByte(address, ':')
	if colon >= 0 && strings.IndexByte(address[:colon], '/') < 0 && filepath.VolumeName(address) == "" {
		return "", false
	}
	return address, true
}

// Host is the host of a repository, with its port if it names one; "" for a local one.
func Host(repo string) string {
	if _, local := IsLocal(repo); local {
		return ""
	}
	if !strings.Contains(repo, "://") { // user@host:path
		host, _, _ := strings.Cut(repo, ":")
		return strings.ToLower(host[strings.LastIndexByte(host, '@')+1:])
	}
	u, err := url.Parse(repo)
	if err != nil {
		return "unknown" // one queue for all unknown hosts
	}
	return strings.ToLower(u.Host)
}

var (
	queryOfURL     = regexp.MustCompile(`(?i)(https?://[^\s"'<>?#]*)[?#][^\s"'<>)]*`)
	userOfHTTP     = regexp.MustCompile(`(?i)(https?://)[^/\s@]+@`)
	passwordOfUser = regexp.MustCompile(`(://[^/\s:@]*):[^/\s@]*@`)
)

// RedactText removes user, password, query and fragment from the addresses in a text. A user
// without a password stays if it is no secret (ssh://git@host).
func RedactText(text string) string {
	text = userOfHTTP.ReplaceAllString(text, "$1")
	text = queryOfURL.ReplaceAllString(text, "$1")
	return passwordOfUser.ReplaceAllString(text, "$1@")
}

// Transport returns how the repository of an address with a scheme is reached: http, https,
// git, ssh or file; "" for a scheme that is not read. This is the only list of them.
func Transport(scheme string) string {
	switch scheme = strings.ToLower(scheme); scheme {
	case "http", "https", "git", "ssh", "file":
		return scheme
	case "git+ssh", "ssh+git":
		return "ssh"
	}
	return ""
}
