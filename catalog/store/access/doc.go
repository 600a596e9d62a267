// Package access has access tokens, accounts of people who signed in, the sessions of both in
// browsers, and what was done with tokens.
//
// Goals: secrets are not stored, only their hashes; what is revoked is worthless at once; a
// token waits for no step.
//
// Non-goals: what a token may do (packages catalog and api).
package access
