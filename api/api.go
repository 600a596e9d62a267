// Package api serves the read interface over HTTP: routes on Echo, parameters,
// paging, wire types, errors and the description of all that in OpenAPI.
//
// What it does: it answers GET, HEAD and OPTIONS below /api/ as the
// specification (read-interface) and the decisions say, for all resources of
// the interface but files. Each answer is rendered from one read snapshot of
// the store, so that its parts belong together.
//
// Goals: a client written for Weblate 4.11 to 4.15 works unchanged; every field
// of the specification is there, in its form and order; hostile input gets a
// 4xx, never a 5xx, a panic or somebody else's host in a link.
//
// What a request may see (access.go) is asked of its context by whoever shows
// something. Non-goals: no writing (a write answers 401 or 403), no
// pages of its own: those for people are made by api/page from the JSON. Listening,
// TLS, timeouts and header limits are those of the http.Server that cmd makes.
//
// Where a comment says
// "facts" it means the project's collection of facts about Weblate, where it
// says "decision" the numbered list of decisions.
package api
