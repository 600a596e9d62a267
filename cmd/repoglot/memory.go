package main

import "runtime/debug"

// memoryLimit makes the garbage collector work before the heap has doubled: it
// halves the peak of a first import at no cost (336 against 164 MB, docs/design.md).
const memoryLimit = 256 << 20

// limitMemory sets a soft limit unless the environment variable GOMEMLIMIT,
// which the runtime has read, says otherwise.
func limitMemory(environ map[string]string) {
	if environ["GOMEMLIMIT"] == "" {
		debug.SetMemoryLimit(memoryLimit)
	}
}
