package ingest_test

import (
	"testing"
)

// oneAtATime leaves a test to `make test`: it takes long under the race detector,
// and does nothing side by side that shorter tests do not do under it.
func oneAtATime(t *testing.T) {
	t.Helper()
	if underRace {
		t.Skip("runs without the race detector: nothing here is concurrent that other tests do not cover")
	}
}
