package api

import (
	"errors"
	"net/http"
	"net/netip"
	"strconv"
	"strings"

	"github.com/repoglot/repoglot/api/limit"
	"github.com/repoglot/repoglot/api/rest"
)

// throttle counts a request and sets the headers with the figures. It returns
// the answer to one request too many, otherwise nil. A client with a good token
// is counted by token, any other by address. Preflight requests of browsers are
// not counted: after a 429 the browser would not send the request, which may
// have a token.
func (s *Server) throttle(h http.Header, r *http.Request, a rest.Access) error {
	settings := s.settings.Load()
	limiter, client := settings.tokens, ""
	switch {
	case a.Token.ID != 0:
		client = limit.Token(a.Token.ID)
	case settings.anonymous == nil, len(settings.CORSOrigins) > 0 && preflight(r):
		return nil
	default:
		limiter, client = settings.anonymous, limit.Address(settings.clientAddress(r))
	}
	got, counted := limiter.Take(client)
	if !counted {
		return nil
	}
	h.Set("X-RateLimit-Limit", strconv.Itoa(got.Limit))
	h.Set("X-RateLimit-Remaining", strconv.Itoa(got.Remaining))
	h.Set("X-RateLimit-Reset", strconv.Itoa(got.Reset))
	if got.Allowed {
		return nil
	}
	return &rest.Problem{
		Status: http.StatusTooManyRequests, RetryAfter: got.Reset,
		Detail: "Request was throttled. Expected available in " + strconv.Itoa(got.Reset) + " seconds.",
	}
}

// throttled reports whether err is the answer to one request too many.
func throttled(err error) bool {
	var p *rest.Problem
	return errors.As(err, &p) && p.Status == http.StatusTooManyRequests
}

// Client names the client of a request by its address, for what clients without a
// token share with those that have one.
func (s *Server) Client(r *http.Request) string {
	return limit.Address(s.settings.Load().clientAddress(r))
}

// clientAddress is where a request comes from: the peer of the connection, or
// if that is a trusted proxy, the last address in X-Forwarded-For that is not.
// Anybody could have written the addresses before that one.
func (s *Settings) clientAddress(r *http.Request) netip.Addr {
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return netip.Addr{}
	}
	addr := peer.Addr()
	hops := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for i := len(hops) - 1; i >= 0 && s.trustsAddr(addr); i-- {
		hop := strings.TrimSpace(hops[i])
		next, err := netip.ParseAddr(hop)
		if err != nil {
			withPort, err := netip.ParseAddrPort(hop)
			if err != nil {
				break
			}
			next = withPort.Addr()
		}
		addr = next
	}
	return addr
}
