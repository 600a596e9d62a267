// Package push brings the pending edits of a branch's components to their repository:
// as commits on the branch, on a branch of our own, or as a request to merge that one.
//
// Goals: one function decides and does everything (Pusher.FlushOnly), while it holds the
// mirror, so no pull comes between; what it did can be done again after a crash without
// doubling a text; the journal alone says what is pending, and a pull alone says what
// became of it.
//
// Non-goals: what looks whether a branch is due (the program), how commits look (package flush), what becomes
// of an edit (catalog/edit).
//
// # Why
//
// The table sent has a row for each text that was pushed, with the branch and the commit of
// ours that has it; it is written before the push leaves. Storing where a branch of ours is
// decides in the same transaction what it has, so whether an edit is pushed, is in a request
// that was closed, or is due, needs no mark of its own. A text that was taken back keeps its
// row, so that the text of before is an edit again if it arrives. Rows end when their text
// arrives, when a push is refused or can never succeed, in a conflict, and 30 days after a
// branch of ours had them last: until then somebody who fetched it may merge it.
//
// Which edits share a request decides the branch alone (keyBranch); nothing about keys is
// stored. Branches of ours that nothing goes to any more are withdrawn before others are
// pushed, since git has no branch below another one, and lose their edits in the journal
// before their request is closed, else a crash between the two would make our own closing a
// refusal. A branch that has nothing left is removed: left alone it would bring back texts
// that were taken back.
//
// What clients clone without a push is made the same way (Pusher.Show), in a namespace of the
// mirror that is named like the head that it is for, so they never see commits on an older
// one.
//
// An edit whose string is away becomes a suggestion after 90 days, and what was taken back is
// forgotten after 30; who changed what stays in the list of changes.
package push
