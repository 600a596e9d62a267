package ingest

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestPhases holds that the time of an inner phase is not the outer one's, and that
// no time is lost.
func TestPhases(t *testing.T) {
	at := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)
	p := newPhases(func() time.Time { return at })
	pass := func(seconds int) { at = at.Add(time.Duration(seconds) * time.Second) }
	pass(1)
	end := p.begin(commitPhase)
	pass(2)
	inner := p.begin(applyPhase)
	pass(4)
	inner()
	pass(8)
	end()
	pass(16)
	p.enter(otherPhase)
	want := map[string]time.Duration{otherPhase: 17 * time.Second, commitPhase: 10 * time.Second, applyPhase: 4 * time.Second}
	if diff := cmp.Diff(want, p.took); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
