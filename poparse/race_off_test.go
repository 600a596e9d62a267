//go:build !race

package poparse

// underRace says whether the race detector is on, which makes all ten times
// slower: tests that go through much of the same take less of it then.
const underRace = false
