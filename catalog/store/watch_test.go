package store

import (
	"context"
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store/internal/sqldb"
	"github.com/repoglot/repoglot/catalog/store/pgtest"
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
	ours, err := Open(context.Background(), database(t, path), sqldb.Options{PollInterval: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	theirs, err := Open(context.Background(), database(t, path), sqldb.Options{})
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

// TestNotified: PostgreSQL tells a process that only reads of every step, also after
// the connection that listens was lost.
func TestNotified(t *testing.T) {
	pgtest.PostgresOnly(t, "SQLite does not tell other processes")
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	path := filepath.Join(t.TempDir(), "test.db")
	ours, err := Open(context.Background(), database(t, path), sqldb.Options{PollInterval: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	defer ours.Close()
	watch := ours.Watch()
	theirs := openAt(t, path)
	for n := range 6 {
		if n == 3 {
			pgtest.Run(t, database(t, path), `SELECT 1 / COUNT(pg_terminate_backend(pid)) FROM pg_stat_activity
				WHERE query LIKE '%LISTEN%' AND pid <> pg_backend_pid()`)
		}
		configure(t, theirs, fmt.Sprint("app", n))
		for ours.Published() < theirs.Published() {
			changed := watch.Changed()
			if ours.Published() < theirs.Published() {
				<-changed
			}
		}
	}
	watch.Close()
	_ = ours.Close()
	_ = theirs.Close()
}

// TestUnnotified: a notification that is lost is made up for by a poll, every second
// unless Options say otherwise.
func TestUnnotified(t *testing.T) {
	pgtest.PostgresOnly(t, "SQLite does not tell other processes")
	path := filepath.Join(t.TempDir(), "test.db")
	ours, err := Open(context.Background(), database(t, path), sqldb.Options{PollInterval: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	defer ours.Close()
	watch := ours.Watch()
	defer watch.Close()
	for range 3 {
		before, changed := ours.Published(), watch.Changed()
		pgtest.Run(t, database(t, path), `UPDATE clock SET generation = generation + 1`)
		if <-changed; ours.Published() <= before {
			t.Errorf("generation %d after %d", ours.Published(), before)
		}
	}
	if usual := openAt(t, path); usual.notifier.interval > time.Second {
		t.Errorf("polls every %v", usual.notifier.interval)
	}
}

// TestPosition: strangers are told of generations that they may see, and of those
// alone.
func TestPosition(t *testing.T) {
	path := filepath.Join(t.TempDir(), "test.db")
	db := openAt(t, path)
	projects := projectsNamed("demo", "vault")
	projects[1].Settings.Access = catalog.AccessPrivate
	public, hidden, inVault := spec("demo", "app"), spec("demo", "hidden"), spec("vault", "lib")
	hidden.Settings.Access = catalog.AccessPrivate
	head := map[int64]int{}
	move := func(component int64) func() {
		return func() {
			step(t, db, info(head[component], head[component]+1, component), nothing)
			head[component]++
		}
	}
	with := func(specs ...ComponentSpec) func() {
		return func() {
			if err := db.Configure(t.Context(), projects, specs, nil); err != nil {
				t.Fatal(err)
			}
		}
	}
	hiddenApp := public
	hiddenApp.Settings.Access = catalog.AccessPrivate
	renamed := hidden
	renamed.Settings.Name = "renamed"
	ofVault := &catalog.Token{ID: 1, Projects: "vault"}
	for _, c := range []struct {
		does  string
		do    func()
		shown bool
	}{
		{"the first component", with(public), true},
		{"private components are added", with(public, hidden, inVault), false},
		{"a pull of the public component", move(1), true},
		{"a pull of a private component", func() {
			before := db.Position(ofVault)
			move(2)()
			if after := db.Position(ofVault); after != before {
				t.Errorf("the owner of a token of another project is at %+v and was at %+v", after, before)
			}
		}, false},
		{"a pull of a component of a private project", func() {
			move(3)()
			if all, of := db.Position(&catalog.Token{ID: 1}), db.Position(ofVault); all != of {
				t.Errorf("the owner of a token of the project is at %+v, not %+v", of, all)
			}
		}, false},
		{"a failure of a private component", func() { setProblem(t, db, "no", 2) }, false},
		{"a failure of both", func() { setProblem(t, db, "none", 1, 2) }, true},
		{"a private component has another name", with(public, renamed, inVault), false},
		{"the public component becomes private", with(hiddenApp, renamed, inVault), true},
		{"and is pulled", move(1), false},
		{"and public again", with(public, renamed, inVault), true},
		{"a private component goes", with(public, inVault), false},
		{"the public component goes", with(inVault), true},
	} {
		all, public := db.Position(&catalog.Token{ID: 1}), db.Position(new(catalog.Token))
		c.do()
		if now := db.Position(&catalog.Token{ID: 1}); now.Generation <= all.Generation {
			t.Fatalf("%s: no new generation", c.does)
		}
		want := public
		if c.shown {
			want = db.Position(&catalog.Token{ID: 1})
		}
		if now := db.Position(new(catalog.Token)); now != want || now.History == "" {
			t.Errorf("%s: strangers are at %+v, want %+v", c.does, now, want)
		}
		if other := openAt(t, path); other.Position(new(catalog.Token)) != db.Position(new(catalog.Token)) || other.Position(&catalog.Token{ID: 1}) != db.Position(&catalog.Token{ID: 1}) {
			t.Errorf("%s: another process is elsewhere", c.does)
		}
	}
}

func setProblem(t *testing.T, db *DB, problem string, components ...int64) {
	t.Helper()
	if changed, err := db.SetPullProblem(t.Context(), components, catalog.Failure{Kind: catalog.KnownFailure(problem), Words: problem}); err != nil || !changed {
		t.Fatal(changed, err)
	}
}
