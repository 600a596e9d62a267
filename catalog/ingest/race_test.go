package ingest_test

import (
	"testing"
)

// oneAtATime skips a test under the race detector: it takes long there and does
// nothing in parallel that shorter tests do not.
func oneAtATime(t *testing.T) {
	t.Helper()
	if underRace {
		t.Skip("runs without the race detector: nothing here is concurrent that other tests do not cover")
	}
}
