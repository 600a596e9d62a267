// Package testsize says how much of a drawn or repeated test runs: a little of it with
// -short, which is also what the race detector runs, a handful spread over all of it
// usually, and all of it at night. It imports nothing of ours.
package testsize

import (
	"os"
	"testing"
)

// Of is the size for this run: quick with -short, nightly with REPOGLOT_LONG_TESTS=1, or usual.
func Of(quick, usual, nightly int) int {
	switch {
	case testing.Short():
		return quick
	case Nightly():
		return nightly
	}
	return usual
}

// Nightly reports whether everything is to be tested, however long it takes.
func Nightly() bool { return os.Getenv("REPOGLOT_LONG_TESTS") != "" && !testing.Short() }
