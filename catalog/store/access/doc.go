// Package access has access tokens, their sessions of browsers, and what was done with them.
//
// Goals: secrets are not stored, only their hashes; what is revoked is worthless at once; a
// token waits for no step.
//
// Non-goals: what a token may do (packages catalog and api).
package access
