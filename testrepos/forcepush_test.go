package testrepos_test

import (
	"bytes"
	"testing"

	"github.com/repoglot/repoglot/testrepos"
)

// TestForcePush pushes a scenario in which the branch loses commits.
func TestForcePush(t *testing.T) {
	r := testrepos.Load(t, "forcepush")
	if r.Rest() != 4 || r.Head() != r.Hash("3") {
		t.Fatalf("rest %d, head %s, want 4 and commit 3 = %s", r.Rest(), r.Head(), r.Hash("3"))
	}
	r.Advance(t)
	if r.Head() != r.Hash("3b") || r.Hash("2b") == "" {
		t.Fatalf("head %s after the force push, want 3b = %s", r.Head(), r.Hash("3b"))
	}
	got := r.File(t, "main", "po/da.po")
	for _, want := range []string{"Gem\"", "Vil du kassere"} {
		if !bytes.Contains(got, []byte(want)) {
			t.Errorf("text lacks %q:\n%s", want, got)
		}
	}
	if bytes.Contains(got, []byte("Annuller")) {
		t.Errorf("dropped entry is there:\n%s", got)
	}
	for _, want := range []string{"3", "1", "4"} {
		r.Advance(t)
		if r.Head() != r.Hash(want) {
			t.Errorf("head %s, want commit %s = %s", r.Head(), want, r.Hash(want))
		}
	}
	if !bytes.Equal(r.File(t, "4", "po/da.po"), got) {
		t.Errorf("the copied file differs")
	}
}
