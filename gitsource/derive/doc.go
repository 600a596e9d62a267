// Package derive makes commits from a commit and changed files, without work tree or index.
//
// Goals: a commit differs from its parent in the files given and in nothing else; the
// same input gives the same commit; a crash leaves objects that nothing refers to, and
// no other harm; signatures that git verify-commit accepts.
//
// Non-goals: merging, renames, moving refs, pushing.
//
// Each object is on the disk before the next one is written. Entries of a tree that did not
// change keep their bytes, modes and odd names. A path through a symlink or a submodule is
// refused. Signatures are made here, since git would need a key in a file or an agent.
package derive
