package api

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
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
		s.audit.refused(s.Client(r), r, a.Refused)
	}
}

// Visitor is what handlers outside this package know of the client of a
// request.
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
func (v *Visitor) Admin() bool { return v.Token.SeesAll() && v.Token.Scope == catalog.ScopeAdmin }

// Visitor decides about a request as the API does. With basic, the header that
// git and browsers send counts, too: the token is the password, or the user if
// there is no password.
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
	case found:
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

// maxRefusals bounds the lines about refused tokens in a minute: strangers can cause
// any number.
const maxRefusals = 20

// audit logs refused tokens, never the tokens.
type audit struct {
	log *slog.Logger
	now func() time.Time

	mu    sync.Mutex
	since time.Time // the beginning of the minute
	lines int       // in it
	more  int       // refused in it, and not logged
}

func (a *audit) refused(client string, r *http.Request, why error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if now := a.now(); now.Sub(a.since) >= time.Minute {
		if a.more > 0 {
			a.log.Warn("more tokens were refused", "count", a.more, "since", a.since.UTC().Format(time.RFC3339))
		}
		a.since, a.lines, a.more = now, 0, 0
	}
	if a.lines++; a.lines > maxRefusals {
		a.more++
		return
	}
	a.log.Warn("token refused", "client", client, "method", r.Method, "path", fmt.Sprintf("%.200s", r.URL.Path), "problem", why)
}

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
