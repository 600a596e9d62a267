// Package edit has the rules of edits: what an edit of a string is, what becomes of it
// when the repository has moved on, and how a file looks with edits in it.
//
// Goals: an edit changes the lines of its entry and no others; every edit gets an
// outcome that can be shown, and none is dropped silently; our own commits are known
// again by their content, however they were merged.
//
// Non-goals: storing edits, git, deciding when to write, access.
//
// # How it works
//
// A client sends a [Request] for a string. An [Edit] keeps the [Text] that the repository had
// before the first change of a string (the base), the last text, and everybody who wrote one;
// the journal's row, store.Edit, is one with its place and its status. [Merge] compares base,
// theirs and ours. [Apply] does so for each edit of a file, and writes those that are
// due into its bytes. [Upload] makes edits of an uploaded file.
//
// Some rules of Merge are ours. A file is compared as it is read: empty forms at the end do
// not count, or a text could be in git and still seem to be missing. If both sides wrote one
// text, the edit is done whatever the state is: the maintainer may have looked at our request
// and marked it. If somebody marked the base as needing editing, another text of ours is what
// the mark asks for; if somebody confirmed the base, it is a conflict. What a charset lacks,
// or what msgfmt -c would refuse, holds back that edit only. Header fields are replaced, never
// added: a project without Last-Translator does without it. A written file is read again
// before it is used.
package edit
