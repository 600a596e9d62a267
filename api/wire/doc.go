// Package wire holds the JSON objects of the API as its clients know them, and
// makes them from the domain's types.
//
// The order of fields is that of keys in an answer, whose JSON tags no other package has.
//
// Goals: every payload is a pure function of its arguments; all addresses are of Links and
// Path; no payload contains credentials. Non-goals: reading the store; what a client may see.
package wire
