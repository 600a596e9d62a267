// Package api is the HTTP server of the API: it routes requests with Echo, decides what a
// client may see, and sends what the handlers of api/resource return.
//
// Each answer is rendered from one snapshot of the store, so that its parts belong together.
// Rendered answers are cached; large ones are streamed or spooled. Methods that write wait for a
// turn and are not cached (docs/editing.md).
//
// Goals: a client written for Weblate works unchanged; hostile input gets a 4xx, never a 5xx, a
// panic or somebody else's host in a link. Non-goals: what an edit does, which Options.Edits
// decides; pages of its own, which api/page makes from the JSON, and api/web for people;
// listening, TLS, timeouts and header limits, which cmd/repoglot sets.
//
// # Why
//
// Rendered answers are kept until something changes that they were read from (store.Basis).
// The key has what the client may see and the spelling of the URL, so that a kept answer is
// sent before the request is routed. An answer is kept for a minute at most, since some count
// by the clock; tasks, streams and errors are not kept. Before an answer is made from a
// snapshot, what is new in the snapshot is announced: from then on no older answer is kept for
// what changed, so no client is shown an older state than one that it saw. Between processes
// X-Repoglot-Generation does that; its number is the newest generation of what the client may
// see, or strangers would learn when private components are pulled.
//
// A request for an answer that is being rendered waits for it: after a pull all clients come
// for the same pages. Downloads and lists of lines do not wait for their clients, since
// snapshots are few and hold back the write-ahead log: a spool takes them. A list that is broken
// off has no end in HTTP's sense, so no client takes it for whole.
//
// What a request may see is decided once, by its Authorization or session, and travels in the
// context. A token is looked up for each request, so one that another process revoked is
// worthless at once. It is 130 random bits, of which the store has the SHA-256: slow hashes are
// for secrets that people choose. A session never counts for a write of the API. An author who
// wrote only in private components does not exist for strangers (TestPrivateMakesNoDifference);
// FuzzAccess throws requests at all routes and looks for a canary.
package api
