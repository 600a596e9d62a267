package push_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/repoglot/repoglot/catalog/push"
	"github.com/repoglot/repoglot/catalog/store"
	"github.com/repoglot/repoglot/gitsource/forge"
)

// TestPauses: pauses grow while edits cannot be pushed, to an hour. Edits that cannot be
// written wait alone.
func TestPauses(t *testing.T) {
	t.Parallel()
	failed := errors.New("declined")
	now := time.Unix(1_700_000_000, 0)
	var w, left store.PushWait
	for i, want := range []time.Duration{1, 2, 4, 8, 16, 32, 60, 60} {
		w, left = push.After(w, now, false, failed), push.After(left, now, true, nil)
		at := now.Add(want * time.Minute)
		if !w.Later.Equal(at) || !w.HeldTill.IsZero() || !left.HeldTill.Equal(at) || !left.Later.IsZero() {
			t.Errorf("pause %d: %+v, %+v, want %d minutes", i, w, left, want)
		}
	}
	limited := push.After(w, now, false, fmt.Errorf("push: %w", &forge.LimitError{After: 5 * time.Hour}))
	if until := now.Add(5 * time.Hour); !limited.Later.Equal(until) || !limited.Until.Equal(until) {
		t.Errorf("after a forge asked to wait: %+v", limited)
	}
	if w = push.After(w, now, false, nil); w != (store.PushWait{Ended: now}) {
		t.Errorf("after a success: %+v", w)
	}
}
