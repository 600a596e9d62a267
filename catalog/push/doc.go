// Package push brings the pending edits of a branch's components to their repository:
// as commits on the branch, on a branch of our own, or as a request to merge that one.
//
// Goals: one function decides and does everything (Pusher.Flush), while it holds the
// mirror, so no pull comes between; what it did can be done again after a crash without
// doubling a text; the journal alone says what is pending, and a pull alone says what
// became of it.
//
// Non-goals: when to flush (the program), how commits look (package flush), what becomes
// of an edit (catalog/edit).
package push
