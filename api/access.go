package api

import (
	"cmp"
	"context"
	"net/http"
	"strings"
	"time"

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

// noteRefused logs that a token was refused.
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

// useToken stores that the token of an access was used.
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
