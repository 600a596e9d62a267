package main

import (
	"fmt"
	"testing"
	"time"

	"github.com/repoglot/repoglot/gitsource/forge"
)

// TestCommitterEmail: a committer's address has no port and no number of a host.
func TestCommitterEmail(t *testing.T) {
	t.Parallel()
	for base, want := range map[string]string{
		"https://l10n.example.org:8443/x": "l10n.example.org", "http://127.0.0.1:80": "localhost", "http://[::1]:80/": "localhost", "": "localhost", "http://%": "localhost",
	} {
		if got := committerEmail(base); got != "noreply@"+want {
			t.Errorf("%q: %s, want %s", base, got, want)
		}
	}
}

// TestFlushPauses: pauses grow while edits cannot be pushed, to an hour.
func TestFlushPauses(t *testing.T) {
	t.Parallel()
	f, now := &flusher{waits: map[string]flushWait{}}, time.Unix(1_700_000_000, 0)
	for i, want := range []time.Duration{1, 2, 4, 8, 16, 32, 60, 60} {
		f.note("b", now, true, nil)
		if w := f.wait("b"); w.pause != want*time.Minute || !w.later.Equal(now.Add(w.pause)) {
			t.Errorf("pause %d: %+v, want %d minutes", i, w, want)
		}
	}
	f.note("b", now, true, fmt.Errorf("push: %w", &forge.LimitError{After: 5 * time.Hour}))
	if w, until := f.wait("b"), now.Add(5*time.Hour); !w.later.Equal(until) || !w.until.Equal(until) {
		t.Errorf("after a forge asked to wait: %+v", w)
	}
	f.keep("b", 7)
	if !f.tried("b", 7, now) || f.tried("b", 8, now) || f.tried("b", 7, now.Add(5*time.Hour)) {
		t.Error("a wish that failed has no pause, or a newer one has")
	}
	f.note("b", now, false, nil)
	if w := f.wait("b"); w.pause != 0 || !w.later.IsZero() || !w.ended.Equal(now) {
		t.Errorf("after a success: %+v", w)
	}
	if w := f.wait("other"); w != (flushWait{}) {
		t.Errorf("of another branch: %+v", w)
	}
}
