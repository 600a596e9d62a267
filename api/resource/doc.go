// Package resource answers the requests for the resources of the API: one file
// for each resource, with its handlers. Routes is the table of all resources.
//
// A handler is a function of a context, a snapshot of the store and a request,
// or a method of Env if it needs more; see Handler. The functions in visible.go
// decide what a client may see: a handler gets every object from one of them.
//
// Goals: a client written for Weblate works unchanged; each object and list is read in one
// snapshot; a write is refused before its body is read if the token may not make it. Non-goals:
// sending, which is in api; the form of the JSON, which is in api/wire.
package resource
