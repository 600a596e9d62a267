// Package flush makes commits of pending edits and pushes them.
//
// Goals: a commit is made of the current head's files whenever it is due, so nothing
// has to be merged, rebased or locked; the same edits on the same head give the same
// commits; every edit gets an outcome; however a push or a process ends, trying again
// neither loses nor doubles a text.
//
// It is a room of its own beside package push since it needs git alone: neither a store
// nor a configuration, so that its tests draw histories and kill processes cheaply, and
// whoever reads how a commit is made need not know of branches of our own and requests.
//
// Non-goals: storing edits and outcomes, deciding when, requests on forges, units.
package flush
