// Package object reads and writes one git directory: hashes, loose objects and packs, trees,
// commits, refs, and the objects that a remote or another git directory provides.
//
// Goals: no git program is needed; a git directory is hostile until proven otherwise, so sizes,
// depths and counts are checked before memory is allocated, and each object is compared with
// its id; an object or a ref that is written is complete before it can be found, also after a
// crash; objects are read from the files directly, since reading is most of the cost of a pull.
//
// Non-goals: the network (remote), mirrors and history (gitsource), work trees, tags, SHA-256.
//
// What go-git does here: it parses the packs that remotes send without the git program
// ([Receive]), writes the indexes of these and of the packs of edits ([Addition]), and makes
// the packs that are pushed ([Store.Send]).
//
// # Why
//
// go-git's own reader inflates whatever size a hostile object claims, and takes four times
// as long for a walk through history, so objects are read here. What go-git receives is
// surveyed on disk before it is held in memory.
package object
