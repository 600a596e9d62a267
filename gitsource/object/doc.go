// Package object reads and writes one git directory: hashes, loose objects and
// packs, trees, commits, refs, and the objects that a remote or another git
// directory provides.
//
// Goals: no git program is needed; a git directory is hostile until proven otherwise,
// so sizes, depths and counts are checked before memory is allocated, and each object
// is compared with its id; an object or a ref that is written is complete before it
// can be found, also after a crash; objects are read from the files directly, since
// reading is most of the cost of a pull.
//
// Non-goals: the network (see remote), mirrors and their history (see gitsource),
// work trees, tags, SHA-256 repositories.
//
// [Repack] packs a git directory with many small packs again, without the git
// program. A new clone would be less code, but it would download the whole
// repository, lose the last state of a rewritten branch, and bring back the packs of
// other branches one by one.
package object
