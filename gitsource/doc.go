// Package gitsource keeps local mirrors of git repositories and reads their commits: the files
// of a commit that a mask selects, and, commit by commit along the first parents, which of
// these files changed and which commits of merged branches made the change.
//
// Goals: no work tree; one mirror for each repository and branch, shared by its components; a
// fetch that finds nothing new costs one question to the remote; changed files are found by ids
// in trees, and unchanged ones never read; the git program is used if there and allowed, and
// needed only to serve clones and push to a path; repositories are hostile until proven otherwise
// (sizes, depth, names and counts are bounded, credentials appear in no message).
//
// Non-goals: PO files (see poparse), what a commit has and when it is pushed, tags,
// submodules, LFS contents, SHA-256 repositories, serving clones without the git program.
//
// Concurrency: a [Mirror] may be used by any number of goroutines; its fetches run one after
// the other. A [Reader] belongs to one goroutine, since it has caches and offsets in files. It
// shows the mirror as it was at the first read: open a new Reader after each fetch. An older
// Reader works until it is closed, also while the mirror is repacked. A caller whose Reader
// finds damaged objects (object.Damaged) calls [Mirror.Rebuild]. A [Writer] makes commits on
// top of the mirror's head and pushes them.
//
// On disk a mirror is a directory with a file CURRENT, which names one of the git directories
// beside it (git-000001, …). A git directory is complete before CURRENT names it, so a killed
// clone has no effect. A directory guests, which borrows its objects, has heads of requests.
//
// # Why
//
// Symlinks are never read. If the target is matched by the filemask as well, the link is a
// duplicate. If it is not, the target could change without the link's own entry in the
// tree, and a pull would miss what an import sees.
//
// Git makes older versions of a file from newer ones, and a replay asks for the oldest first.
// Of the bases on the way to it the nearest three are kept and every eighth, from which the
// walk goes on; a version that nothing is made from makes room once it was asked for.
package gitsource
