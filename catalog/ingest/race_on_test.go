//go:build race

package ingest_test

// underRace says that the race detector is on.
const underRace = true
