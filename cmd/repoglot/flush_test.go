package main

import (
	"fmt"
	"testing"
	"time"

	"github.com/repoglot/repoglot/gitsource/forge"
)

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
	f.note("b", now, false, nil)
	if w := f.wait("b"); w.pause != 0 || !w.later.IsZero() || !w.ended.Equal(now) {
		t.Errorf("after a success: %+v", w)
	}
	if w := f.wait("other"); w != (flushWait{}) {
		t.Errorf("of another branch: %+v", w)
	}
}
