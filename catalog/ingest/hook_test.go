package ingest_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/catalogtest"
	"github.com/repoglot/repoglot/catalog/store"
	"github.com/repoglot/repoglot/testrepos"
)

// componentIDs returns the ids of the project's components, in order.
func componentIDs(w *catalogtest.Puller) []int64 {
	var list []int64
	w.EachComponent(func(_ context.Context, _ *store.Snapshot, c *store.ComponentRow) error {
		list = append(list, c.ID)
		return nil
	})
	return list
}

// hookChanges lists the entries 53 of the project: component, time, details.
func hookChanges(w *catalogtest.Puller) []string {
	var list []string
	w.EachChange(0, func(c *catalog.Change) {
		if c.Action == catalog.ActionHook {
			list = append(list, fmt.Sprintf("%s %s %v %d", c.Component, c.Timestamp.Format("15:04:05"), c.Event, c.UnitID))
		}
	})
	return list
}

// recordHook records a webhook after some time has passed on the clock.
func recordHook(w *catalogtest.Puller, passed time.Duration, ids ...int64) {
	w.TB.Helper()
	w.Clock = w.Clock.Add(passed - time.Minute) // looking at it adds a minute
	must(w.TB, w.Syncer.RecordHook(w.TB.Context(), w.Branch, ids, map[string]string{"service_long_name": "GitHub"}))
}

func TestRecordHook(t *testing.T) {
	repo := repoWith(t, map[string]string{"po/cs.po": po("One", "Jedna"), "doc/cs.po": po("Two", "Dva")})
	w := catalogtest.NewPuller(t, repo.Path(), map[string]catalog.ComponentSettings{"app": {}, "doc": {Filemask: "doc/*.po"}})
	ids := componentIDs(w)

	recordHook(w, time.Hour, ids...) // nothing is imported: there is no list to write to
	equal(t, []string(nil), hookChanges(w), "before the first import")
	w.Sync()
	w.Clock = time.Date(2025, 1, 1, 14, 0, 0, 0, time.UTC)
	before := dump(w)
	recordHook(w, 0, ids[0], ids[1], 12345)
	want := []string{"app 14:00:00 map[service_long_name:GitHub] 0", "doc 14:00:00 map[service_long_name:GitHub] 0"}
	equal(t, want, hookChanges(w), "entries")
	recordHook(w, 59*time.Second, ids[0])
	if got := hookChanges(w); len(got) != 2 {
		t.Errorf("within a minute: %q", got)
	}
	w.Open() // another process knows as well
	recordHook(w, 0, ids[0])
	if got := hookChanges(w); len(got) != 2 {
		t.Errorf("within a minute, after a restart: %q", got)
	}
	recordHook(w, time.Second, ids[0])
	equal(t, append(want, "app 14:01:00 map[service_long_name:GitHub] 0"), hookChanges(w), "after a minute")
	equal(t, before, dump(w), "a call changes units")
	// The head stays where it was: a pull goes on from there.
	repo.Commit(t, testrepos.Change{Files: map[string]string{"po/cs.po": po("One", "Jedničky")}})
	if r := w.Sync(); r.Changes != 1 {
		t.Errorf("the pull after it wrote %d entries, want 1", r.Changes)
	}
}

// TestRecordHookDuringPulls: pulls move the heads while webhooks are recorded,
// and neither disturbs the other.
func TestRecordHookDuringPulls(t *testing.T) {
	repo := repoWith(t, map[string]string{"po/cs.po": po("One", "0")})
	w := catalogtest.NewPuller(t, repo.Path(), map[string]catalog.ComponentSettings{"app": {}})
	var mu sync.Mutex
	clock := w.Clock
	s := w.NewSyncer(func() time.Time {
		mu.Lock()
		defer mu.Unlock()
		clock = clock.Add(time.Minute)
		return clock
	})
	pull := func() {
		if _, err := s.Sync(t.Context(), w.Branch); err != nil {
			t.Errorf("pull: %v", err)
		}
	}
	pull()
	const n = 6
	ids := componentIDs(w)
	var all sync.WaitGroup
	all.Go(func() {
		for i := range n {
			repo.Commit(t, testrepos.Change{Files: map[string]string{"po/cs.po": po("One", fmt.Sprint(i+1))}})
			pull()
		}
	})
	for range 2 {
		all.Go(func() {
			for range n {
				if err := s.RecordHook(t.Context(), w.Branch, ids, nil); err != nil {
					t.Errorf("hook: %v", err)
				}
			}
		})
	}
	all.Wait()
	equal(t, 2*n, len(hookChanges(w)), "entries 53")
	updates, last := 0, ""
	w.EachChange(0, func(c *catalog.Change) {
		if c.Action == catalog.ActionStringRepoUpdate {
			updates, last = updates+1, c.Target
		}
	})
	if updates != n || last != fmt.Sprint(n) {
		t.Errorf("%d updates up to %q, want %d", updates, last, n)
	}
}
