package api

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/repoglot/repoglot/api/limit"
	"github.com/repoglot/repoglot/api/rest"
	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store"
)

// withAccess decides what a request may see by its header Authorization, "Token
// KEY" or "Bearer KEY" (docs/compatibility.md#authentication), without it by the session
// of a browser, and whether it is one request too many. Other schemes are ignored.
func (s *Server) withAccess(w http.ResponseWriter, r *http.Request) *http.Request {
	var a rest.Access
	if header := r.Header.Get("Authorization"); header != "" {
		a = s.access(r.Context(), header)
		s.noteRefused(r, a)
	} else if r.Header.Get("Cookie") != "" {
		a = s.sessionAccess(r)
	}
	if err := s.throttle(w.Header(), r, a); err != nil {
		a = rest.Access{Refused: err}
	} else if err := s.catchUp(w.Header(), r, a); err != nil {
		a = rest.Access{Refused: err}
	}
	if a == (rest.Access{}) {
		return r
	}
	return r.WithContext(rest.WithAccess(r.Context(), a))
}

func (s *Server) noteRefused(r *http.Request, a rest.Access) {
	if a.Refused != nil && rest.AsProblem(a.Refused).Status == http.StatusUnauthorized {
		s.audit.note("token refused", "client", s.Client(r), "method", r.Method, "path", fmt.Sprintf("%.200s", r.URL.Path), "problem", a.Refused)
	}
}

// Visitor is what handlers outside this package know of the client of a request.
type Visitor struct {
	// Token is the good token that was shown; its ID is 0 if there was none.
	Token catalog.Token
	// Refused says that a bad token was shown.
	Refused bool
	// MayReturn says that the server has tokens, so that the client could see
	// more with one. It reveals nothing private.
	MayReturn bool
}

// Admin reports whether the client may see what concerns the whole server: its token
// has scope admin, and is for all projects.
func (v *Visitor) Admin() bool { return v.Token.Administers() }

// Visitor decides about a request as the API does. With basic, the header that git and browsers
// send counts, too: the token is the password, or the user if there is no password.
func (s *Server) Visitor(r *http.Request, basic bool) (Visitor, error) {
	header := r.Header.Get("Authorization")
	if user, password, ok := r.BasicAuth(); ok && basic {
		header = "Token " + cmp.Or(password, user)
	}
	if header != "" {
		a := s.access(r.Context(), header)
		s.noteRefused(r, a)
		if a.Refused != nil && rest.AsProblem(a.Refused).Status != http.StatusUnauthorized {
			return Visitor{}, a.Refused
		}
		if a != (rest.Access{}) {
			return Visitor{Token: a.Token, Refused: a.Refused != nil, MayReturn: !a.Claimed}, nil
		}
	}
	var v Visitor
	err := s.db.Read(r.Context(), func(ctx context.Context, snap *store.Snapshot) (err error) {
		_, _, v.MayReturn, err = snap.Access().Token(ctx, "")
		return err
	})
	return v, err
}

// Clonable finds a component for git, and names its client by the token that it showed; "" without
// one. Git sends a token only after it was asked for one: ask says so, also if there is no such
// component, but not while there are no tokens.
func (s *Server) Clonable(r *http.Request, project, component string) (row store.ComponentRow, client string, ask bool, err error) {
	v, err := s.Visitor(r, true)
	if err != nil || v.Refused {
		return row, "", v.Refused, err
	}
	err = s.db.Read(r.Context(), func(ctx context.Context, snap *store.Snapshot) (err error) {
		row, err = snap.Component(ctx, project, component)
		if err == nil && row.Settings.Private(&row.Project) && !v.Token.Sees(row.Project.Slug) {
			err = catalog.ErrNotFound
		}
		return err
	})
	if v.Token.ID != 0 {
		return row, limit.Token(v.Token.ID), false, err
	}
	return row, "", v.MayReturn && errors.Is(err, catalog.ErrNotFound), err
}

// access looks a token up in the store for each request, so that a token which
// another process made or revoked counts at once.
func (s *Server) access(ctx context.Context, header string) (a rest.Access) {
	scheme, secret, _ := strings.Cut(strings.TrimSpace(header), " ")
	if !strings.EqualFold(scheme, "Token") && !strings.EqualFold(scheme, "Bearer") {
		return a
	}
	secret = strings.TrimSpace(secret)
	var found, any bool
	err := s.db.Read(ctx, func(ctx context.Context, snap *store.Snapshot) (err error) {
		a.Token, found, any, err = snap.Access().Token(ctx, secret)
		return err
	})
	switch {
	case err != nil:
		return rest.Access{Refused: err}
	case found && s.grant(&a):
		s.useToken(ctx, &a)
		return a
	case !any:
		return rest.Access{Claimed: secret != ""}
	case secret == "":
		return rest.Access{Refused: errNoToken}
	case strings.ContainsAny(secret, " \t"):
		return rest.Access{Refused: errTokenSpaces}
	}
	return rest.Access{Refused: rest.ErrToken}
}

// grant gives an account its roles as they are now, and reports whether it counts.
func (s *Server) grant(a *rest.Access) (counts bool) {
	a.Granter, counts = s, true
	if of := a.Token.Account; of != nil {
		a.Open = new([]func(context.Context))
		of.Roles, counts = s.RolesOf(of)
	}
	return counts
}

// RolesOf returns the roles configured for an account, which do not count without its provider.
func (s *Server) RolesOf(a *catalog.Account) (roles []catalog.Role, counts bool) {
	now := s.settings.Load()
	return now.Roles.Of(a), now.provider(a.Provider) != nil
}

// Pushes is [Settings].Pushes.
func (s *Server) Pushes(a *catalog.Account, c *store.ComponentRow) (may bool, ask func(context.Context)) {
	if of := s.settings.Load().Pushes; of != nil {
		return of(a, c)
	}
	return false, nil
}

func (s *Server) useToken(ctx context.Context, a *rest.Access) {
	if err := s.db.Access().UseToken(ctx, a.Token); err != nil {
		s.logger.Debug("the use of a token is not stored", "error", err)
	}
	a.Token.Used = time.Time{} // it differs between requests of a day
}

// The answers to bad tokens (docs/compatibility.md#authentication).
var (
	errNoToken     = &rest.Problem{Status: http.StatusUnauthorized, Detail: "Invalid token header. No credentials provided.", Code: "authentication_failed", Authenticate: true}
	errTokenSpaces = &rest.Problem{Status: http.StatusUnauthorized, Detail: "Invalid token header. Token string should not contain spaces.", Code: "authentication_failed", Authenticate: true}
)

// maxRefusals bounds the lines a minute about refused tokens, which strangers can cause.
const maxRefusals = 20

// audit logs refused tokens and sign-ins, never the tokens.
type audit struct {
	log *slog.Logger
	now func() time.Time

	mu    sync.Mutex
	since time.Time // the beginning of the minute
	lines int       // in it
	more  int       // refused in it, and not logged
}

func (a *audit) note(message string, about ...any) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if now := a.now(); now.Sub(a.since) >= time.Minute {
		if a.more > 0 {
			a.log.Warn("more tokens, sign-ins and suggestions were refused", "count", a.more, "since", a.since.UTC().Format(time.RFC3339))
		}
		a.since, a.lines, a.more = now, 0, 0
	}
	if a.lines++; a.lines > maxRefusals {
		a.more++
		return
	}
	a.log.Warn(message, about...)
}

// throttle counts a request and sets the headers with the figures. It returns the answer to one
// request too many, otherwise nil. A client with a good token is counted by token, any other by
// address. Preflight requests of browsers are not counted: after a 429 the browser would not
// send the request, which may have a token.
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
	p, ok := errors.AsType[*rest.Problem](err)
	return ok && p.Status == http.StatusTooManyRequests
}

// Client names the client of a request by its address, for what all clients share.
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

const anyHost = "*"

// AllowsHost reports whether a request names this server: without BaseURL and AllowedHosts
// every host does, otherwise theirs, and those of this machine, which a name of somebody else
// cannot lead to a browser's page. It logs the first request of a proxy that is not trusted.
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
	proxies := []string{"Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Real-Ip", "Via"}
	proxied := slices.ContainsFunc(proxies, func(name string) bool { return r.Header.Get(name) != "" })
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	return err == nil && !proxied && peer.Addr().Unmap().IsLoopback() && isLoopback(strings.ToLower(hostname(r.Host)))
}

func isLoopback(host string) bool {
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.IsLoopback() || host == "localhost"
}

// names reports whether a host is one of those that are configured, or this machine.
func (s *Settings) names(host string) bool {
	host = strings.ToLower(hostname(host))
	base, err := url.Parse(s.BaseURL)
	configured := err == nil && s.BaseURL != "" && host == strings.ToLower(base.Hostname())
	allowed := func(name string) bool { return name == anyHost || strings.EqualFold(name, host) }
	return configured || isLoopback(host) || slices.ContainsFunc(s.AllowedHosts, allowed)
}

// hostname removes the port of a host, and the brackets of an address.
func hostname(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		return name
	}
	return strings.Trim(host, "[]")
}

// baseURL returns the origin of the links in an answer: the configured one, otherwise the
// request's (docs/compatibility.md#addresses). Headers of a proxy count only if the connection
// comes from a trusted one, and of several values the last: the trusted proxy wrote it.
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
	values := strings.Join(h.Values(name), ",")
	return strings.TrimSpace(values[strings.LastIndexByte(values, ',')+1:])
}

// validHost reports whether host is a name or an address, perhaps with a port, without anything
// that changes the meaning of a URL (RFC 3986, section 3.2.2, without percent encoding).
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
