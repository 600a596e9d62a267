package hooks

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestPauses: unsigned calls pull at most once a minute, signed ones once a
// second, and the last call is never lost.
func TestPauses(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		secret string
		pause  time.Duration
	}{{"open", "", time.Minute}, {"signed", "one", time.Second}} {
		s := newServer(t, Component{ID: 1, Project: "p", Slug: "app", Branch: "main", Enabled: true, Secured: tt.secret != "", Secret: tt.secret})
		call := func(want ...string) {
			t.Helper()
			if status, _, _ := s.push("Authorization", "Bearer "+tt.secret); status != 200 {
				t.Fatalf("%s: status %d", tt.name, status)
			}
			if diff := cmp.Diff(want, s.pulls.did()); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tt.name, diff)
			}
		}
		call("53 teapot#main [1] GitHub main", "pull teapot#main")
		call()
		s.clock.pass(tt.pause / 2)
		call()
		s.clock.pass(tt.pause/2 - 1)
		if did := s.pulls.did(); did != nil {
			t.Errorf("%s: before the end of the pause: %v", tt.name, did)
		}
		s.clock.pass(1)
		if diff := cmp.Diff([]string{"pull teapot#main"}, s.pulls.did()); diff != "" {
			t.Errorf("%s: at the end of the pause (-want +got):\n%s", tt.name, diff)
		}
		call()
		s.clock.pass(tt.pause)
		s.clock.pass(tt.pause)
		if diff := cmp.Diff([]string{"pull teapot#main"}, s.pulls.did()); diff != "" {
			t.Errorf("%s: at the end of the next (-want +got):\n%s", tt.name, diff)
		}
		call("53 teapot#main [1] GitHub main", "pull teapot#main")
		call()
		s.Close()
		s.clock.pass(time.Hour)
		if did := s.pulls.did(); did != nil {
			t.Errorf("%s: after Close: %v", tt.name, did)
		}
	}
}
