// Package object reads and writes one git directory: hashes, loose objects and
// packs, trees, commits, refs, and the objects that a remote or another
// directory gives.
//
// Goals: no git program needed; a directory is hostile until proven otherwise,
// so sizes, depths and counts are bounded before memory is taken, and what is
// read is compared with its id; what is written is complete before it can be
// found, also after a crash; refs and objects are read as files, since reading
// costs most of a pull.
//
// Non-goals: the network (see remote), mirrors and their history (see gitsource),
// work trees, tags, SHA-256 repositories.
//
// A directory that took many small packs in is packed anew ([Repack]), also
// without the git program: a fresh clone instead would download the whole
// repository, would lose the last state of a rewritten branch, and would bring
// the packs of other branches back one by one.
package object
