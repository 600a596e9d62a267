// Package wire holds the JSON objects of the API, as its clients know them, and
// makes them from the domain's types.
//
// The order of fields is the order of keys in an answer. JSON tags are in this
// package and nowhere else in the module.
//
// Goals: every payload is a pure function of its arguments; addresses are built
// in one place (Links); no payload contains credentials. Non-goals: reading the
// store, and knowing who asks: callers pass only what may be seen.
package wire
