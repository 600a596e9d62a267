package api

import (
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/repoglot/repoglot/api/rest"
)

// baseURL returns the origin of the links in an answer: the configured one,
// otherwise the request's (docs/compatibility.md#addresses). Headers of a proxy
// count only if the connection comes from a trusted one. Of several values the
// last counts: the trusted proxy itself wrote that one.
func (s *Settings) baseURL(r *http.Request) (string, error) {
	if s.BaseURL != "" {
		return s.BaseURL, nil
	}
	scheme, host := "http", r.Host
	if r.TLS != nil {
		scheme = "https"
	}
	if s.trusts(r.RemoteAddr) {
		if proto := strings.ToLower(lastValue(r.Header, "X-Forwarded-Proto")); proto == "http" || proto == "https" {
			scheme = proto
		}
		if forwarded := lastValue(r.Header, "X-Forwarded-Host"); forwarded != "" {
			host = forwarded
		}
	}
	if !validHost(host) {
		return "", rest.ErrInvalidHost
	}
	return scheme + "://" + host, nil
}

func (s *Settings) trusts(remote string) bool {
	if len(s.TrustedProxies) == 0 {
		return false
	}
	peer, err := netip.ParseAddrPort(remote)
	return err == nil && s.trustsAddr(peer.Addr())
}

func (s *Settings) trustsAddr(addr netip.Addr) bool {
	addr = addr.Unmap().WithZone("")
	return slices.ContainsFunc(s.TrustedProxies, func(network netip.Prefix) bool { return network.Contains(addr) })
}

func lastValue(h http.Header, name string) string {
	values := h.Values(name)
	if len(values) == 0 {
		return ""
	}
	last := values[len(values)-1]
	return strings.TrimSpace(last[strings.LastIndexByte(last, ',')+1:])
}

// validHost reports whether host is a name or an address, perhaps with a port,
// and contains nothing that could change the meaning of a URL (RFC 3986,
// section 3.2.2, without percent encoding).
func validHost(host string) bool {
	if strings.HasPrefix(host, "[") {
		end := strings.IndexByte(host, ']')
		if end < 0 {
			return false
		}
		addr, err := netip.ParseAddr(host[1:end])
		return err == nil && addr.Is6() && addr.Zone() == "" && validPort(host[end+1:])
	}
	name, port := host, ""
	if colon := strings.IndexByte(host, ':'); colon >= 0 {
		name, port = host[:colon], host[colon:]
	}
	return validName(name) && validPort(port)
}

func validName(name string) bool {
	if name == "" || len(name) > 253 {
		return false
	}
	for i := range len(name) {
		c := name[i]
		letter := 'a' <= c|0x20 && c|0x20 <= 'z'
		if !letter && (c < '0' || c > '9') && c != '.' && c != '-' && c != '_' {
			return false
		}
	}
	return true
}

// validPort accepts "" and ":" with a number up to 65535.
func validPort(port string) bool {
	if port == "" {
		return true
	}
	if port[0] != ':' || !rest.IsDigits(port[1:]) {
		return false
	}
	n, err := strconv.Atoi(port[1:])
	return err == nil && n <= 65535
}
