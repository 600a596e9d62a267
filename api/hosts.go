package api

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// anyHost in AllowedHosts allows every host.
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
	return settings.allowsHost(host)
}

func (s *Settings) allowsHost(host string) bool {
	return s.BaseURL == "" && len(s.AllowedHosts) == 0 || s.names(host)
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
