// Package resource answers the requests for the resources of the API: one file
// for each resource, with the handlers of its addresses. Routes is the table of
// all of them.
//
// A handler is a function of a context, a snapshot of the store and a request,
// and a method of Env where it needs more. It returns what to answer, see
// Handler. What a request may see is decided in visible.go: a handler gets every
// object through one of the functions there.
//
// Goals: a client written for Weblate 4.11 to 4.15 works unchanged; every list
// and object is read in one snapshot. Non-goals: writing; HTTP beyond the
// request, which is api's; the form of the JSON, which is api/wire's.
package resource
