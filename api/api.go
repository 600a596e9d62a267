// Package api is the HTTP server of the API: it routes requests with Echo,
// decides what a client may see, and sends what the handlers of api/resource
// return.
//
// It answers GET, HEAD and OPTIONS as docs/compatibility.md says. Each answer
// is rendered from one snapshot of the store, so that its parts belong
// together. Rendered answers are cached; large ones are streamed or spooled.
//
// Goals: a client written for Weblate works unchanged; hostile
// input gets a 4xx, never a 5xx, a panic or somebody else's host in a link.
// Non-goals: writing (a write answers 401 or 403); pages of its own, which
// api/page makes from the JSON; listening, TLS, timeouts and header limits,
// which cmd/repoglot sets.
package api
