package catalog

import "time"

// Scope says what an access token permits.
type Scope string

// The scopes of access tokens.
const (
	// ScopeRead permits to see private projects and components.
	ScopeRead Scope = "read"
	// ScopeAdmin permits the same, and all writes of the API; this version has
	// none.
	ScopeAdmin Scope = "admin"
)

// Known reports whether s is one of the scopes above.
func (s Scope) Known() bool { return s == ScopeRead || s == ScopeAdmin }

// Token is an access token, without its secret.
type Token struct {
	// ID is above 0 and never reused.
	ID int64
	// Name is unique.
	Name string
	// Scope is what the token permits.
	Scope Scope
	// Created is the time of its creation, in UTC.
	Created time.Time
}
