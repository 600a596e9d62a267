// Package flush makes commits of pending edits and pushes them.
//
// Goals: a commit is made of the current head's files whenever it is due, so nothing
// has to be merged, rebased or locked; the same edits on the same head give the same
// commits; every edit gets an outcome; however a push or a process ends, trying again
// neither loses nor doubles a text.
//
// Non-goals: storing edits and outcomes, deciding when, requests on forges, units.
package flush
