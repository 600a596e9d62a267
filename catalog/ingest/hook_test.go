package ingest_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store"
	"github.com/repoglot/repoglot/testrepos"
)

// ids are those of the project's components, in order.
func (w *world) ids() []int64 {
	var list []int64
	w.read(func(ctx context.Context, s *store.Snapshot) error {
		rows, err := s.Components(ctx, "demo")
		for i := range rows {
			list = append(list, rows[i].ID)
		}
		return err
	})
	return list
}

// hooks are the entries 53 of the project: component, time, details.
func (w *world) hooks() []string {
	var list []string
	w.read(func(ctx context.Context, s *store.Snapshot) error {
		changes, err := s.Changes(ctx, store.ChangeQuery{Limit: 10000})
		for i := range changes {
			if c := &changes[i]; c.Action == catalog.ActionHook {
				list = append(list, fmt.Sprintf("%s %s %v %d", c.Component, c.Timestamp.Format("15:04:05"), c.Event, c.UnitID))
			}
		}
		return err
	})
	return list
}

// hook records a call; the world's clock goes on by so much since the last look.
func (w *world) hook(passed time.Duration, ids ...int64) {
	w.t.Helper()
	w.clock = w.clock.Add(passed - time.Minute) // looking at it adds a minute
	if err := w.syncer.RecordHook(w.t.Context(), w.branch, ids, map[string]string{"service_long_name": "GitHub"}); err != nil {
		w.t.Fatal(err)
	}
}

func TestRecordHook(t *testing.T) {
	repo := repoWith(t, map[string]string{"po/cs.po": po("One", "Jedna"), "doc/cs.po": po("Two", "Dva")})
	w := newWorld(t, repo.Path(), map[string]catalog.ComponentSettings{"app": {}, "doc": {Filemask: "doc/*.po"}})
	ids := w.ids()

	w.hook(time.Hour, ids...) // nothing is imported: there is no list to write to
	if got := w.hooks(); got != nil {
		t.Errorf("before the first import: %q", got)
	}
	w.sync()
	w.clock = time.Date(2025, 1, 1, 14, 0, 0, 0, time.UTC)
	before := w.dump()
	w.hook(0, ids[0], ids[1], 12345)
	want := []string{"app 14:00:00 map[service_long_name:GitHub] 0", "doc 14:00:00 map[service_long_name:GitHub] 0"}
	if diff := cmp.Diff(want, w.hooks()); diff != "" {
		t.Errorf("entries (-want +got):\n%s", diff)
	}
	w.hook(59*time.Second, ids[0])
	if got := w.hooks(); len(got) != 2 {
		t.Errorf("within a minute: %q", got)
	}
	w.open() // another process knows as well
	w.hook(0, ids[0])
	if got := w.hooks(); len(got) != 2 {
		t.Errorf("within a minute, after a restart: %q", got)
	}
	w.hook(time.Second, ids[0])
	if diff := cmp.Diff(append(want, "app 14:01:00 map[service_long_name:GitHub] 0"), w.hooks()); diff != "" {
		t.Errorf("after a minute (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(before, w.dump()); diff != "" {
		t.Errorf("a call changes units (-want +got):\n%s", diff)
	}
	// The head stays where it was: a pull goes on from there.
	repo.Commit(t, testrepos.Change{Files: map[string]string{"po/cs.po": po("One", "Jedničky")}})
	if r := w.sync(); r.Changes != 1 {
		t.Errorf("the pull after it wrote %d entries, want 1", r.Changes)
	}
}

// TestRecordHookBesidePulls: pulls move the heads while calls are recorded, and
// neither disturbs the other.
func TestRecordHookBesidePulls(t *testing.T) {
	repo := repoWith(t, map[string]string{"po/cs.po": po("One", "0")})
	w := newWorld(t, repo.Path(), map[string]catalog.ComponentSettings{"app": {}})
	var mu sync.Mutex
	clock := w.clock
	s := w.withClock(func() time.Time {
		mu.Lock()
		defer mu.Unlock()
		clock = clock.Add(time.Minute)
		return clock
	})
	pull := func() {
		if _, err := s.Sync(t.Context(), w.branch); err != nil {
			t.Errorf("pull: %v", err)
		}
	}
	pull()
	const n = 6
	ids := w.ids()
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
				if err := s.RecordHook(t.Context(), w.branch, ids, nil); err != nil {
					t.Errorf("hook: %v", err)
				}
			}
		})
	}
	all.Wait()
	if got := len(w.hooks()); got != 2*n {
		t.Errorf("%d entries 53, want %d", got, 2*n)
	}
	last := ""
	w.read(func(ctx context.Context, s *store.Snapshot) error {
		changes, err := s.Changes(ctx, store.ChangeQuery{Limit: 10000})
		updates := 0
		for i := range changes {
			if c := &changes[i]; c.Action == catalog.ActionStringRepoUpdate {
				updates, last = updates+1, c.Target
			}
		}
		if updates != n || last != fmt.Sprint(n) {
			t.Errorf("%d updates up to %q, want %d", updates, last, n)
		}
		return err
	})
}
