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
//
// If somebody pushed meanwhile, all of it is done anew, three times; then it is up to the
// caller to wait. Before a push, what it sends is noted, and nothing else is stored before
// its outcome: killed before the push, a flush has made objects that no ref names; killed
// after it, the next one finds its texts in the repository. What was taken back while commits
// were made is not pushed. Commits are wholly determined by head and edits, times included.
// The author of a commit is who wrote the last text in it, all others are co-authors; an
// author of a text that was not written is not credited.
package flush
