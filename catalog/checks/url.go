package checks

import (
	"net/netip"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxURL and maxHost bound the lengths of an address and of its host, in bytes.
const (
	maxURL  = 2048
	maxHost = 253
)

// checkURL fails if the translation is no address.
func checkURL(_ *run, s, t string) hit {
	if s == "" || isURL(t) {
		return hit{}
	}
	return hit{failed: true, source: Span{0, len(s)}, target: Span{0, len(t)}}
}

// isURL reports whether s is an address of http, https, ftp or ftps with a possible
// host.
func isURL(s string) bool {
	if len(s) > maxURL || !utf8.ValidString(s) || strings.ContainsFunc(s, unicode.IsSpace) || strings.ContainsFunc(s, unicode.IsControl) {
		return false
	}
	scheme, rest, ok := strings.Cut(s, "://")
	switch strings.ToLower(scheme) {
	case "http", "https", "ftp", "ftps":
	default:
		return false
	}
	if n := strings.IndexAny(rest, "/?#"); n >= 0 {
		rest = rest[:n]
	}
	if i := strings.LastIndexByte(rest, '@'); i >= 0 {
		if strings.ContainsAny(rest[:i], "@/") || strings.Count(rest[:i], ":") > 1 {
			return false
		}
		rest = rest[i+1:]
	}
	return ok && isHostPort(rest)
}

func isHostPort(s string) bool {
	host, port := s, ""
	if i := strings.LastIndexByte(s, ':'); i > strings.LastIndexByte(s, ']') {
		host, port = s[:i], s[i+1:]
		if len(port) < 1 || len(port) > 5 || digits(port, 0) != len(port) {
			return false
		}
	}
	if strings.HasPrefix(host, "[") && strings.HasSuffix(host, "]") {
		a, err := netip.ParseAddr(host[1 : len(host)-1])
		return err == nil && a.Is6() && a.Zone() == ""
	}
	return isHost(host)
}

// isHost reports whether host is an IPv4 address, localhost, or a name whose top
// domain is no number.
func isHost(host string) bool {
	if a, err := netip.ParseAddr(host); err == nil {
		return a.Is4()
	}
	host = strings.TrimSuffix(host, ".")
	if strings.EqualFold(host, "localhost") {
		return true
	}
	labels, top := 0, ""
	for label := range strings.SplitSeq(host, ".") {
		if !isLabel(label) {
			return false
		}
		labels++
		top = label
	}
	return labels > 1 && len(host) <= maxHost && utf8.RuneCountInString(top) > 1 &&
		(strings.HasPrefix(strings.ToLower(top), "xn--") || !strings.ContainsFunc(top, unicode.IsDigit))
}

// isLabel reports whether label can be a part of a host name between two dots.
func isLabel(label string) bool {
	if label == "" || len(label) > 63 || label[0] == '-' || label[len(label)-1] == '-' {
		return false
	}
	return !strings.ContainsFunc(label, func(c rune) bool {
		return c != '-' && c < utf8.RuneSelf && !isWord(byte(c)) || c == '_'
	})
}
