// Package gitsource keeps local mirrors of git repositories and answers what
// their commits hold: the files of a commit that a mask selects, and, commit
// by commit along the first parents, which of those files changed and through
// which commits of merged branches the change came in.
//
// Goals: no work tree; one mirror per repository and branch, shared by all its
// components; a fetch that finds nothing new costs one question to the remote;
// Objects are found by comparing ids of tree entries, so that what did not
// change is never read; no git binary needed, though one is used where it is
// there and allowed; repositories are hostile until proven otherwise (sizes,
// depth, names and counts are bounded, credentials appear in no message).
//
// Non-goals: PO files (see poparse), writing to repositories, tags, submodules,
// LFS contents, SHA-256 repositories.
//
// Concurrency: a [Mirror] may be used by any number of goroutines, fetches of
// one mirror queue up. A [Reader] belongs to one goroutine, since it keeps
// caches and places in files, and shows the mirror as it was at its first
// question: open a new one after every fetch. An older Reader goes on working
// until it is closed, maintenance included. A Reader that meets [Damaged]
// Objects asks for [Mirror.Rebuild].
//
// On disk a mirror is a directory with a file CURRENT, which names the bare
// repository beside it in use (git-000001, …). A repository is complete before
// CURRENT names it, so a clone killed half-way is simply not there.
package gitsource
