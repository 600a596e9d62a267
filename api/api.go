// Package api is the HTTP server of the API: it routes requests with Echo,
// decides what a client may see, and sends what the handlers of api/resource
// return.
//
// It answers GET, HEAD and OPTIONS as docs/compatibility.md says. Each answer
// is rendered from one snapshot of the store, so that its parts belong
// together. Rendered answers are cached; large ones are streamed or spooled.
// Methods that write wait for a turn and are not cached (docs/editing.md).
//
// Goals: a client written for Weblate works unchanged; hostile
// input gets a 4xx, never a 5xx, a panic or somebody else's host in a link.
// Non-goals: what an edit does, which Options.Edits decides; pages of its own,
// which api/page makes from the JSON, and api/web for people; listening, TLS, timeouts and header limits,
// which cmd/repoglot sets.
package api
