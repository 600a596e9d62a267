package catalog

import "time"

// Scope says what an access token is good for.
type Scope string

// The scopes of access tokens.
const (
	// ScopeRead sees private projects and components.
	ScopeRead Scope = "read"
	// ScopeAdmin sees them too, and may do what changes something as soon as the
	// API has it; in this version nothing does.
	ScopeAdmin Scope = "admin"
)

// Known reports whether the scope is one of those above.
func (s Scope) Known() bool { return s == ScopeRead || s == ScopeAdmin }

// Token is an access token, without its secret.
type Token struct {
	// ID is above 0 and never given twice.
	ID int64
	// Name is what people call it; unique.
	Name string
	// Scope is what it is good for.
	Scope Scope
	// Created is when it was made, in UTC.
	Created time.Time
}
