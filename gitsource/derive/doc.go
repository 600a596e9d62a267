// Package derive makes commits from a commit and changed files, without a working
// copy or an index.
//
// Goals: a commit differs from its parent in the files given and in nothing else; the
// same input gives the same commit; a crash leaves objects that nothing refers to, and
// no other harm; signatures that git verify-commit accepts.
//
// Non-goals: merges, renames, moving refs, pushing.
package derive
