package store

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestPushWaits stores when branches are pushed again.
func TestPushWaits(t *testing.T) {
	db := openWith(t, "app")
	want := func(when, branch string, want PushWait) {
		t.Helper()
		got, err := db.PushWait(t.Context(), branch)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got)\n%s", when, err, diff)
		}
	}
	want("new", "a", PushWait{})
	at := time.Unix(1_700_000_000, 0).UTC()
	w := PushWait{Failures: 2, Held: 1, Unreached: true, Ended: at, HeldTill: at.Add(time.Minute), Until: at.Add(time.Hour), Wish: 7}
	w.Later = at.Add(time.Microsecond)
	for _, branch := range []string{"a", "b"} {
		for range 2 {
			if err := db.SetPushWait(t.Context(), branch, w); err != nil {
				t.Fatal(err)
			}
		}
	}
	want("stored", "a", w)
	if err := db.ForgetPushWaits(t.Context(), []string{"a", "none"}); err != nil {
		t.Fatal(err)
	}
	want("forgotten", "a", PushWait{Later: w.Until, Until: w.Until, Wish: 7})
	want("another one", "b", w)
}
