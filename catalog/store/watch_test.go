package store

import (
	"context"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// A step wakes every watch when it can be read, and nothing else does.
func TestWatch(t *testing.T) {
	db := openWith(t, "app")
	one, two := db.Watch(), db.Watch()
	defer one.Close()
	defer two.Close()
	before := []<-chan struct{}{one.Changed(), two.Changed()}
	read(t, db, func(context.Context, *Snapshot) error { return nil })
	if err := db.Configure(context.Background(), projectsNamed("demo"), []ComponentSpec{spec("demo", "app")}, nil); err != nil {
		t.Fatal(err) // the same configuration: no generation
	}
	for i, c := range before {
		select {
		case <-c:
			t.Fatalf("watch %d was woken by nothing", i)
		default:
		}
	}
	res := step(t, db, info(0, 1, 1), nothing)
	for _, c := range before {
		<-c
	}
	read(t, db, func(ctx context.Context, s *Snapshot) error {
		g, err := s.Generation(ctx)
		if g != res.Generation {
			t.Errorf("generation %d, want %d", g, res.Generation)
		}
		return err
	})
	next := one.Changed()
	configure(t, db, "app", "more")
	<-next
}

// A watch notices another process, here another handle on the same file. No
// goroutine outlives its watches or its database.
func TestWatchOtherProcess(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	path := filepath.Join(t.TempDir(), "test.db")
	ours, err := Open(context.Background(), database(t, path), Options{PollInterval: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	theirs, err := Open(context.Background(), database(t, path), Options{})
	if err != nil {
		t.Fatal(err)
	}
	configure(t, theirs, "app")
	for at := range 3 {
		w := ours.Watch()
		changed := w.Changed()
		step(t, theirs, info(at, at+1, 1), nothing)
		<-changed
		w.Close()
		w.Close()
	}
	w := ours.Watch()
	changed := w.Changed()
	for _, db := range []*DB{theirs, ours} {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}
	<-changed // closing wakes
	w.Close()
	<-ours.Watch().Changed()
}

// Watches come and go while steps are written; readers that read after every
// wake-up have seen everything in the end.
func TestWatchConcurrent(t *testing.T) {
	const steps, watchers = 60, 8
	db := openWith(t, "app")
	var all sync.WaitGroup
	for range watchers {
		all.Go(func() {
			for seen := int64(0); seen < steps+1; {
				w := db.Watch()
				for range 3 {
					changed := w.Changed()
					err := db.Read(context.Background(), func(ctx context.Context, s *Snapshot) (err error) {
						seen, err = s.Generation(ctx)
						return err
					})
					if err != nil {
						t.Error(err)
						return
					}
					if seen == steps+1 {
						break
					}
					<-changed
				}
				w.Close()
			}
		})
	}
	for at := range steps {
		step(t, db, info(at, at+1, 1), nothing)
	}
	all.Wait()
}
