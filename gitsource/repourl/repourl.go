// Package repourl knows the addresses of repositories: which are local, and what
// of them may be shown.
//
// Goals: no secret of an address is ever shown, whatever shape it has. Non-goals:
// reaching a repository (see remote). It imports none of our packages, so that
// all can use it.
package repourl

import (
	"net/url"
	"path/filepath"
	"regexp"
	"strings"
	"unicode"
)

// Redact is the address without user and password (ssh keeps the user),
// query and fragment, whatever shape it has, with control characters replaced by
// U+FFFD. A path is returned as it is. Where it is not clear whether something
// is a secret, it is hidden.
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

// cutQuery drops "?…" and "#…"; a password may hold one, so what stands before
// an "@" that still belongs to the authority does not count.
func cutQuery(rest string) string {
	start := strings.LastIndexByte(rest[:authorityEnd(rest)], '@') + 1
	if q := strings.IndexAny(rest[start:], "?#"); q >= 0 {
		return rest[:start+q]
	}
	return rest
}

// authorityEnd is where "user:password@host:port" ends. A password with an
// unescaped slash is not valid, but must not be shown either: when the part
// before the slash has a colon and no "@", it reaches to the last "@", unless
// that "@" begins a part of a path after a sane port (host:8443/@scope).
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

// redactSCP drops a password that somebody put into user:password@host:path,
// which git does not take, but which may stand in a configuration.
func redactSCP(address string) string {
	at := strings.IndexByte(address, '@')
	if at < 0 || strings.ContainsAny(address[:at], `/\`) {
		return address
	}
	user, _, ok := strings.Cut(address[:at], ":")
	if !ok {
		return address
	}
	return user + address[at:]
}

// IsLocal reports whether address is a path or a file:// URL, and gives the
// path as it is on disk (relative ones as given). The rule is git's: a colon
// before the first slash makes it host:path.
func IsLocal(address string) (path string, ok bool) {
	if address == "" || strings.Contains(address, "::") && !strings.ContainsAny(address[:strings.Index(address, "::")], `/.`) {
		return "", false
	}
	if scheme, rest, isURL := strings.Cut(address, "://"); isURL && !strings.ContainsRune(scheme, '/') {
		if !strings.EqualFold(scheme, "file") {
			return "", false
		}
		rest = strings.TrimPrefix(rest, "localhost")
		if !strings.HasPrefix(rest, "/") {
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

var (
	userOfHTTP     = regexp.MustCompile(`(?i)(https?://)[^/\s@]+@`)
	passwordOfUser = regexp.MustCompile(`(://[^/\s:@]*):[^/\s@]*@`)
)

// RedactText removes user and password from the addresses in a text. A user
// without a password stays where it is no secret (ssh://git@host).
func RedactText(text string) string {
	text = userOfHTTP.ReplaceAllString(text, "$1")
	return passwordOfUser.ReplaceAllString(text, "$1@")
}
