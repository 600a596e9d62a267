package api

import (
	"cmp"
	"context"
	"net/http"
	"strings"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store"
)

// access is what a request may see, decided once before it is answered. The
// zero value is that of everybody.
type access struct {
	// claimed says that the client showed a token while there are none, which
	// means nothing but that it is no stranger (decision 8).
	claimed bool
	// token is the one that was shown, if it is good; its ID is 0 otherwise.
	token catalog.Token
	// refused is the answer to a bad token or to one request too many, nil
	// otherwise.
	refused error
}

// authenticated reports whether the client showed a token that counts.
func (a access) authenticated() bool { return a.claimed || a.token.ID != 0 }

// seesPrivate reports whether private projects and components are shown: every
// scope includes that.
func (a access) seesPrivate() bool { return a.token.ID != 0 }

// key tells kinds of access apart whose answers differ; "" is everybody's.
func (a access) key() string {
	if a.seesPrivate() {
		return "private:"
	}
	return ""
}

// kept reports whether answers may be kept for others with the same key.
func (a access) kept() bool { return !a.claimed && a.refused == nil }

// lives is an error when the token was revoked meanwhile, for what goes on
// longer than an answer.
func (a access) lives(ctx context.Context, snap *store.Snapshot) error {
	if a.token.ID == 0 {
		return nil
	}
	alive, err := snap.TokenExists(ctx, a.token.ID)
	if err == nil && !alive {
		err = errToken
	}
	return err
}

// accessKey is that of an access in a context.
type accessKey struct{}

// accessOf returns what the request that ctx belongs to may see. Whoever shows
// something of the store asks this, or hidden, which asks it.
func accessOf(ctx context.Context) access {
	a, _ := ctx.Value(accessKey{}).(access)
	return a
}

// withAccess decides what a request may see, by its header Authorization:
// "Token KEY" or "Bearer KEY" (facts §8), other schemes are ignored; and
// whether it is one too many.
func (s *Server) withAccess(w http.ResponseWriter, r *http.Request) *http.Request {
	var a access
	if header := r.Header.Get("Authorization"); header != "" {
		a = s.access(r.Context(), header)
	}
	if err := s.throttle(w.Header(), r, a); err != nil {
		a = access{refused: err}
	}
	if a == (access{}) {
		return r
	}
	return r.WithContext(context.WithValue(r.Context(), accessKey{}, a))
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
		if a.refused != nil && asProblem(a.refused).status != http.StatusUnauthorized {
			return Visitor{}, a.refused
		}
		if a != (access{}) {
			return Visitor{SeesPrivate: a.seesPrivate(), Refused: a.refused != nil, MayReturn: !a.claimed}, nil
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
func (s *Server) access(ctx context.Context, header string) (a access) {
	scheme, secret, _ := strings.Cut(strings.TrimSpace(header), " ")
	if !strings.EqualFold(scheme, "Token") && !strings.EqualFold(scheme, "Bearer") {
		return a
	}
	secret = strings.TrimSpace(secret)
	var found, any bool
	err := s.db.Read(ctx, func(ctx context.Context, snap *store.Snapshot) (err error) {
		a.token, found, any, err = snap.Token(ctx, secret)
		return err
	})
	switch {
	case err != nil:
		return access{refused: err}
	case found:
		return a
	case !any:
		return access{claimed: secret != ""}
	case secret == "":
		return access{refused: errNoToken}
	case strings.ContainsAny(secret, " \t"):
		return access{refused: errTokenSpaces}
	}
	return access{refused: errToken}
}

// The answers to what is no token (facts §8).
var (
	errToken       = &problem{status: http.StatusUnauthorized, detail: "Invalid token.", authenticate: true}
	errNoToken     = &problem{status: http.StatusUnauthorized, detail: "Invalid token header. No credentials provided.", authenticate: true}
	errTokenSpaces = &problem{status: http.StatusUnauthorized, detail: "Invalid token header. Token string should not contain spaces.", authenticate: true}
)
