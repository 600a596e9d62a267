package hooks

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestPausesOfTwo: two processes pull a branch once in a pause, and at the end of it if
// they were called meanwhile. If one cannot ask for the pauses of others, it has its own.
func TestPausesOfTwo(t *testing.T) {
	t.Parallel()
	var ends time.Time
	var broken error
	var servers [2]*testServer
	for i := range servers {
		s := newServer(t, Component{ID: 1, Project: "p", Slug: "app", Branch: "main", Enabled: true})
		claim := func(_ context.Context, kind, key string, pause time.Duration) (time.Duration, error) {
			now := servers[0].clock.now()
			if left := ends.Sub(now); left > 0 || broken != nil {
				return left, broken
			}
			if kind != "open" || key != "teapot#main" {
				t.Errorf("a pause of %s, %s", kind, key)
			}
			ends = now.Add(pause)
			return 0, nil
		}
		s.open.Claim, servers[i] = claim, s
	}
	pass := func(d time.Duration) {
		for _, s := range servers {
			s.clock.pass(d)
		}
	}
	call := func(i int, want ...string) {
		t.Helper()
		if status, _, _ := servers[i].push(); status != 200 {
			t.Fatalf("status %d", status)
		}
		if diff := cmp.Diff(want, servers[i].pulls.did()); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
	call(0, "53 teapot#main [1] GitHub main", "pull teapot#main")
	pass(openPause / 2)
	call(1)
	call(0)
	pass(openPause / 2)
	var did []string
	for _, s := range servers {
		did = append(did, s.pulls.did()...)
	}
	if diff := cmp.Diff([]string{"pull teapot#main"}, did); diff != "" {
		t.Errorf("at the end of the pause (-want +got):\n%s", diff)
	}
	pass(openPause)
	pass(openPause)
	for _, s := range servers {
		s.pulls.did()
	}
	call(1, "53 teapot#main [1] GitHub main", "pull teapot#main")
	broken = errors.New("away")
	call(0, "53 teapot#main [1] GitHub main", "pull teapot#main")
	call(0)
}
