package api

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/repoglot/repoglot/api/rest"
)

const anyHost = "*"

// AllowsHost reports whether a request names this server: without BaseURL and
// AllowedHosts every host does, otherwise theirs, and those of this machine, which a name
// of somebody else cannot lead to a browser's page. It logs the first request of a proxy
// that is not trusted.
func (s *Server) AllowsHost(r *http.Request) bool {
	settings := s.settings.Load()
	trusted := settings.trusts(r.RemoteAddr)
	if !trusted && r.Header.Get("X-Forwarded-For") != "" {
		s.untrusted.Do(func() {
			s.logger.Warn("X-Forwarded-For comes from an address that trusted_proxies does not list: if it is your proxy, all of its clients share the limits of one",
				"from", r.RemoteAddr)
		})
	}
	host := r.Host
	if forwarded := lastValue(r.Header, "X-Forwarded-Host"); trusted && forwarded != "" {
		host = forwarded
	}
	return settings.BaseURL == "" && len(settings.AllowedHosts) == 0 || settings.names(host)
}

// NamesMachine reports whether a request names the server by an address, by localhost, or by
// one of its configured names: a page of somebody else whose name leads here does not.
func (s *Server) NamesMachine(r *http.Request) bool {
	_, err := netip.ParseAddr(hostname(r.Host))
	return err == nil || s.settings.Load().names(r.Host)
}

// IsLocal reports whether a request is by a client on this machine that names it as such:
// not by a proxy, nor by a page of somebody else.
func IsLocal(r *http.Request) bool {
	for _, name := range []string{"Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Real-Ip", "Via"} {
		if r.Header.Get(name) != "" {
			return false
		}
	}
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	return err == nil && peer.Addr().Unmap().IsLoopback() && isLoopback(strings.ToLower(hostname(r.Host)))
}

func isLoopback(host string) bool {
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.IsLoopback() || host == "localhost"
}

// names reports whether a host is one of those that are configured, or this machine.
func (s *Settings) names(host string) bool {
	if slices.Contains(s.AllowedHosts, anyHost) {
		return true
	}
	host = strings.ToLower(hostname(host))
	if base, err := url.Parse(s.BaseURL); err == nil && s.BaseURL != "" && host == strings.ToLower(base.Hostname()) {
		return true
	}
	if isLoopback(host) {
		return true
	}
	return slices.ContainsFunc(s.AllowedHosts, func(name string) bool { return strings.EqualFold(name, host) })
}

// hostname removes the port of a host, and the brackets of an address.
func hostname(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		return name
	}
	return strings.Trim(host, "[]")
}

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
	if inside, ok := strings.CutPrefix(host, "["); ok {
		address, port, closed := strings.Cut(inside, "]")
		addr, err := netip.ParseAddr(address)
		return closed && err == nil && addr.Is6() && addr.Zone() == "" && validPort(port)
	}
	name, _, _ := strings.Cut(host, ":")
	return name != "" && len(name) <= 253 && strings.Trim(name, plainName) == "" && validPort(host[len(name):])
}

// validPort accepts "" and ":" with a number up to 65535.
func validPort(port string) bool {
	if port == "" {
		return true
	}
	_, err := strconv.ParseUint(port[1:], 10, 16)
	return port[0] == ':' && err == nil
}
