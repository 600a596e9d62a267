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
package server
