package rest

import (
	"context"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store"
)

// Access is what a request may see. It is decided once, before the request is
// answered. The zero value is an anonymous client's.
type Access struct {
	// Claimed says that the client showed a token while the server has none. It
	// only means that the client is not anonymous.
	Claimed bool
	// Token is the good token that was shown; its ID is 0 if there was none.
	Token catalog.Token
	// Session is the secret of the browser's session that has Token; "" if the token
	// itself was shown.
	Session string
	// Refused is the answer to a bad token or to one request too many,
	// otherwise nil.
	Refused error
}

// Authenticated reports whether the client showed a token that counts.
func (a Access) Authenticated() bool { return a.Claimed || a.Token.ID != 0 }

// Sees reports whether what is private in a project is shown; all scopes of tokens
// allow it.
func (a Access) Sees(project *catalog.Project) bool { return a.Token.Sees(project.Slug) }

// SeesAll reports whether nothing is hidden.
func (a Access) SeesAll() bool { return a.Token.SeesAll() }

// Failure is what is shown of why a component of a project could not be pulled or pushed:
// the words to those who may write there, everyone else the kind, and since when.
func (a Access) Failure(project *catalog.Project, f *catalog.Failure) string {
	if a.Token.Writes() && a.Sees(project) && f.Words != "" {
		return f.Words
	}
	return f.Public()
}

// Key tells apart kinds of access whose answers differ; it is "" for anonymous
// clients.
func (a Access) Key() string {
	if a.Token.ID == 0 {
		return ""
	}
	kind := "private:"
	if a.Token.Writes() { // Failure
		kind = "writing:"
	}
	return kind + string(a.Token.Projects) + ":"
}

// Cacheable reports whether answers may be kept for other clients with the same
// key. Those to a session are not: pages have forms for that session alone.
func (a Access) Cacheable() bool { return !a.Claimed && a.Refused == nil && a.Session == "" }

// Recheck returns an error if the token was revoked, or the session ended, meanwhile. It is for
// answers that take long.
func (a Access) Recheck(ctx context.Context, snap *store.Snapshot) error {
	if a.Token.ID == 0 {
		return nil
	}
	alive, err := snap.Access().TokenExists(ctx, a.Token.ID)
	if err == nil && a.Session != "" {
		_, alive, err = snap.Access().SessionToken(ctx, a.Session)
	}
	if err == nil && !alive {
		err = ErrToken
	}
	return err
}

type accessKey struct{}

// AccessOf returns what the request of ctx may see. Code that shows something
// of the store asks this, or a function that does.
func AccessOf(ctx context.Context) Access {
	a, _ := ctx.Value(accessKey{}).(Access)
	return a
}

// WithAccess returns a context of a request that may see a.
func WithAccess(ctx context.Context, a Access) context.Context {
	return context.WithValue(ctx, accessKey{}, a)
}
