//go:build race

package poparse

// underRace says whether the race detector is on. It makes tests ten times slower, so
// tests of many similar cases run fewer of them.
const underRace = true
