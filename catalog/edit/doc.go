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
// An [Edit] keeps the text that the repository had before the first change of a
// string (the base), the last text, and everybody who wrote one. [Merge] compares base,
// theirs and ours. [Apply] does so for each edit of a file, and writes those that are
// due into its bytes. [Upload] makes edits of an uploaded file.
package edit
