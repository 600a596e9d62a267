package api

import (
	"cmp"
	"context"
	"net/http"
	"strings"

	"github.com/repoglot/repoglot/api/rest"
	"github.com/repoglot/repoglot/catalog/store"
)

// withAccess decides what a request may see, by its header Authorization:
// "Token KEY" or "Bearer KEY" (facts §8), other schemes are ignored; and
// whether it is one too many.
func (s *Server) withAccess(w http.ResponseWriter, r *http.Request) *http.Request {
	var a rest.Access
	if header := r.Header.Get("Authorization"); header != "" {
		a = s.access(r.Context(), header)
	}
	if err := s.throttle(w.Header(), r, a); err != nil {
		a = rest.Access{Refused: err}
	}
	if a == (rest.Access{}) {
		return r
	}
	return r.WithContext(rest.WithAccess(r.Context(), a))
}

// Visitor is what handlers beside this package know of who sent a request.
type Visitor struct {
	// SeesPrivate says that a good token was shown.
	SeesPrivate bool
	// Refused says that what was shown is no good token.
	Refused bool
	// MayReturn says that one with a token could see more: there are tokens. It
	// tells nothing of what is private.
	MayReturn bool
}

// Visitor decides about a request as the API does. With basic, the header of git
// and browsers counts too: the token is the password, whatever the user, or the
// user if there is no password.
func (s *Server) Visitor(r *http.Request, basic bool) (Visitor, error) {
	header := r.Header.Get("Authorization")
	if user, password, ok := r.BasicAuth(); ok && basic {
		header = "Token " + cmp.Or(password, user)
	}
	if header != "" {
		a := s.access(r.Context(), header)
		if a.Refused != nil && rest.AsProblem(a.Refused).Status != http.StatusUnauthorized {
			return Visitor{}, a.Refused
		}
		if a != (rest.Access{}) {
			return Visitor{SeesPrivate: a.SeesPrivate(), Refused: a.Refused != nil, MayReturn: !a.Claimed}, nil
		}
	}
	var v Visitor
	err := s.db.Read(r.Context(), func(ctx context.Context, snap *store.Snapshot) (err error) {
		_, _, v.MayReturn, err = snap.Token(ctx, "")
		return err
	})
	return v, err
}

// access looks a token up, in the store and for each request, so that one which
// another process made or revoked counts at once.
func (s *Server) access(ctx context.Context, header string) (a rest.Access) {
	scheme, secret, _ := strings.Cut(strings.TrimSpace(header), " ")
	if !strings.EqualFold(scheme, "Token") && !strings.EqualFold(scheme, "Bearer") {
		return a
	}
	secret = strings.TrimSpace(secret)
	var found, any bool
	err := s.db.Read(ctx, func(ctx context.Context, snap *store.Snapshot) (err error) {
		a.Token, found, any, err = snap.Token(ctx, secret)
		return err
	})
	switch {
	case err != nil:
		return rest.Access{Refused: err}
	case found:
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

// The answers to what is no token (facts §8).
var (
	errNoToken     = &rest.Problem{Status: http.StatusUnauthorized, Detail: "Invalid token header. No credentials provided.", Authenticate: true}
	errTokenSpaces = &rest.Problem{Status: http.StatusUnauthorized, Detail: "Invalid token header. Token string should not contain spaces.", Authenticate: true}
)
