// Package server is the running program: the parts of api, catalog and gitsource wired
// together.
//
// [Open] makes an [Engine], which locks the data directory and pulls; sync uses it alone.
// [Engine.Serve] answers and pulls until its context is done. A [Plan] is a configuration
// in the terms of the other packages; a supervisor decides when its branches are pulled and
// pushed, alone or as one process of a cluster.
//
// Goals: all wiring is here, on few screens; an error is one line with its remedy.
// Non-goals: this package holds no rule of the API, of git or of PO, and reads no flags.
//
// The memory limit follows the live heap: 208 MiB, 80 for a server, or a little less than twice
// what is alive, up to 60 % of the memory that there is, unless GOMEMLIMIT is set. There is a
// mirror, a watch, a job and a pull for each repository and branch, never for a component, and
// no metric has a label for one. When a branch is flushed again after a failure is in the
// database, and asked in one place (push.Pusher.Ready), by every process.
package server
