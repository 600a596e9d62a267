package rest

import (
	"context"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store"
)

// Access is what a request may see, decided once before it is answered. The
// zero value is that of everybody.
type Access struct {
	// Claimed says that the client showed a token while there are none, which
	// means nothing but that it is no stranger (decision 8).
	Claimed bool
	// Token is the one that was shown, if it is good; its ID is 0 otherwise.
	Token catalog.Token
	// Refused is the answer to a bad token or to one request too many, nil
	// otherwise.
	Refused error
}

// Authenticated reports whether the client showed a token that counts.
func (a Access) Authenticated() bool { return a.Claimed || a.Token.ID != 0 }

// SeesPrivate reports whether private projects and components are shown: every
// scope includes that.
func (a Access) SeesPrivate() bool { return a.Token.ID != 0 }

// Key tells kinds of access apart whose answers differ; "" is everybody's.
func (a Access) Key() string {
	if a.SeesPrivate() {
		return "private:"
	}
	return ""
}

// Cacheable reports whether answers may be kept for others with the same key.
func (a Access) Cacheable() bool { return !a.Claimed && a.Refused == nil }

// Recheck is an error when the token was revoked meanwhile, for what goes on
// longer than an answer.
func (a Access) Recheck(ctx context.Context, snap *store.Snapshot) error {
	if a.Token.ID == 0 {
		return nil
	}
	alive, err := snap.TokenExists(ctx, a.Token.ID)
	if err == nil && !alive {
		err = ErrToken
	}
	return err
}

// accessKey is that of an access in a context.
type accessKey struct{}

// AccessOf returns what the request that ctx belongs to may see. Whoever shows
// something of the store asks this, or hidden, which asks it.
func AccessOf(ctx context.Context) Access {
	a, _ := ctx.Value(accessKey{}).(Access)
	return a
}

// WithAccess returns a context of a request that may see a.
func WithAccess(ctx context.Context, a Access) context.Context {
	return context.WithValue(ctx, accessKey{}, a)
}
