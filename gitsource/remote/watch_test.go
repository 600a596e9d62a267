package remote

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"
	"github.com/repoglot/repoglot/gitsource/gittest"
	"github.com/repoglot/repoglot/gitsource/object"
)

// patience bounds waiting for the kernel; reached only when a test fails.
const patience = 2 * time.Minute

// expect waits for events until each key came, and takes no others.
func expect(t *testing.T, w *watched, keys ...string) {
	t.Helper()
	limit := time.After(patience)
	for came := map[string]bool{}; len(came) < len(keys); {
		select {
		case key := <-w.events:
			if came[key] = true; !slices.Contains(keys, key) {
				t.Fatalf("event for %q, want %q", key, keys)
			}
		case <-limit:
			t.Fatalf("of %q came %v", keys, came)
		}
	}
}

// watched is a Watcher with the keys of its calls.
type watched struct {
	*Watcher
	events chan string
}

func start(t *testing.T, opts WatchOptions) *watched {
	t.Helper()
	events := make(chan string, 1000)
	opts.OnMoved = func(key string) { events <- key }
	w, err := NewWatcher(opts)
	gittest.Must(t, err)
	t.Cleanup(func() { _ = w.Close() })
	return &watched{w, events}
}

func watcherOf(t *testing.T, opts WatchOptions) (*watched, *upstream) {
	t.Helper()
	w := start(t, opts)
	marker := newUpstream(t)
	gittest.Must(t, w.Add(marker.Dir, "marker"))
	return w, marker
}

func TestWatch(t *testing.T) {
	w, marker := watcherOf(t, WatchOptions{})
	work := filepath.Join(t.TempDir(), "work")
	gittest.Must(t, os.MkdirAll(work, 0o700))
	u := gittest.NewUpstreamAt[object.Hash](t, filepath.Join(work, ".git"))
	h := u.Push("A", files{"x": "1"})
	u.Set("feature/old", h)
	gittest.Must(t, w.Add("file://"+work, "repo"))
	for _, c := range []struct {
		name string
		move func()
	}{
		{"a branch moves", func() { u.Set("main", object.Hash{1}) }},
		{"a branch in a directory moves", func() { u.Set("feature/old", object.Hash{2}) }},
		{"a branch appears", func() { u.Set("new", h) }},
		{"refs are packed", func() { u.Write("packed-refs", "# pack-refs with: peeled\n") }},
		{"HEAD moves", func() { u.Write("HEAD", "ref: refs/heads/new\n") }},
		{"a branch appears in new directories", func() { u.Set("a/b/c", h) }},
		{"a branch disappears", func() { gittest.Must(t, os.Remove(filepath.Join(u.Dir, "refs/heads/new"))) }},
	} {
		c.move()
		t.Log(c.name)
		expect(t, w, "repo")
		drain(t, w, marker, "repo")
	}
	u.Set("a/b/c", object.Hash{3}) // a directory made after Add is watched too
	expect(t, w, "repo")
	drain(t, w, marker, "repo")

	// What moves no ref makes no event.
	for _, name := range []string{"index", "FETCH_HEAD", "COMMIT_EDITMSG", "config.lock", "refs/heads/main.lock", "objects/ab/cdef", "logs/HEAD"} {
		u.Write(name, "x")
	}
	drain(t, w, marker)

	w.Remove("repo")
	w.Remove("repo")
	u.Set("main", object.Hash{4})
	drain(t, w, marker)
}

// TestWatchReftable: refs that are kept in a reftable move by a list of tables
// that is replaced; refs/heads is a file there (gitrepository-layout(5)).
func TestWatchReftable(t *testing.T) {
	w, marker := watcherOf(t, WatchOptions{})
	u := newUpstream(t)
	gittest.Must(t, os.RemoveAll(filepath.Join(u.Dir, "refs", "heads")))
	u.Write("refs/heads", "this repository uses the reftable format\n")
	u.Write("reftable/tables.list", "0x000000000001-0x000000000001-a.ref\n")
	gittest.Must(t, w.Add(u.Dir, "repo"))
	u.Write("reftable/tables.list.lock", "0x000000000002-0x000000000002-b.ref\n")
	drain(t, w, marker) // not yet
	gittest.Must(t, os.Rename(filepath.Join(u.Dir, "reftable/tables.list.lock"), filepath.Join(u.Dir, "reftable/tables.list")))
	expect(t, w, "repo")
	drain(t, w, marker, "repo")
}

// drain takes the events that are under way, up to the event of a marker, a repository
// of its own: one act may take several windows. It fails if one is for another key.
func drain(t *testing.T, w *watched, marker *upstream, keys ...string) {
	t.Helper()
	marker.Set("tick", object.Hash{byte(marker.Clock)})
	marker.Clock++
	limit := time.After(patience)
	for {
		select {
		case got := <-w.events:
			if got == "marker" {
				return
			}
			if !slices.Contains(keys, got) {
				t.Fatalf("event for %q, want %q", got, keys)
			}
		case <-limit:
			t.Fatal("the marker does not come through")
		}
	}
}

func TestWatchTwoKeysAndLinkedWorkTree(t *testing.T) {
	w, marker := watcherOf(t, WatchOptions{})
	u := newUpstream(t)
	u.Push("A", files{"x": "1"})
	linked := filepath.Join(t.TempDir(), "linked")
	gittest.Must(t, object.WriteText(filepath.Join(linked, ".git"), "gitdir: "+u.Dir+"/worktrees/linked\n"))
	u.Write("worktrees/linked/HEAD", "ref: refs/heads/main\n")
	u.Write("worktrees/linked/commondir", "../..\n")
	gittest.Must(t, w.Add(u.Dir, "one"))
	gittest.Must(t, w.Add(u.Dir, "two"))
	gittest.Must(t, w.Add(linked, "linked"))
	u.Set("main", object.Hash{1})
	expect(t, w, "one", "two", "linked")
	drain(t, w, marker)
	u.Write("worktrees/linked/HEAD", "ref: refs/heads/other\n")
	expect(t, w, "linked")
	w.Remove("one")
	drain(t, w, marker)
	u.Set("main", object.Hash{2})
	expect(t, w, "two", "linked")
	gittest.Must(t, w.Add(marker.Dir, "two")) // a key moves to another repository
	u.Set("main", object.Hash{3})
	expect(t, w, "linked")
}

func TestWatchGone(t *testing.T) {
	lost := make(chan error, 10)
	w, marker := watcherOf(t, WatchOptions{OnLost: func(key string, err error) { lost <- fmt.Errorf("%s: %w", key, err) }})
	dir := filepath.Join(t.TempDir(), "up.git")
	if err := w.Add(dir, "repo"); !errors.Is(err, ErrUnreachable) {
		t.Errorf("absent repository: %v", err)
	}
	if err := w.Add("https://example.org/x", "repo"); !errors.Is(err, ErrUnsupported) {
		t.Errorf("remote repository: %v", err)
	}
	gittest.NewUpstreamAt[object.Hash](t, dir)
	gittest.Must(t, w.Add(dir, "repo"))
	gittest.Must(t, os.RemoveAll(dir))
	expect(t, w, "repo")
	select {
	case err := <-lost:
		if !errors.Is(err, ErrUnreachable) {
			t.Error(err)
		}
	case <-time.After(patience):
		t.Error("OnLost was not called for a repository that is gone")
	}
	drain(t, w, marker, "repo")
	u := gittest.NewUpstreamAt[object.Hash](t, dir) // created again, added again
	gittest.Must(t, w.Add(dir, "repo"))
	u.Set("main", object.Hash{1})
	expect(t, w, "repo")
}

func TestWatchOverflowLooksAtAll(t *testing.T) {
	w := start(t, WatchOptions{})
	a, b := newUpstream(t), newUpstream(t)
	gittest.Must(t, w.Add(a.Dir, "a"))
	gittest.Must(t, w.Add(b.Dir, "b"))
	w.fs.Errors <- fsnotify.ErrEventOverflow
	expect(t, w, "a", "b")
}

func TestWatchLimit(t *testing.T) {
	for _, errno := range []error{syscall.ENOSPC, syscall.EMFILE, fmt.Errorf("add: %w", syscall.ENFILE)} {
		if err := watchError("watch x", errno); !errors.Is(err, ErrWatchLimit) {
			t.Errorf("%v is not ErrWatchLimit", err)
		}
	}
	w, marker := watcherOf(t, WatchOptions{})
	u := newUpstream(t)
	w.maxDirs = 20
	for i := range w.maxDirs {
		gittest.Must(t, os.Mkdir(filepath.Join(u.Dir, "refs/heads", fmt.Sprint(i)), 0o700))
	}
	if err := w.Add(u.Dir, "repo"); !errors.Is(err, ErrWatchLimit) {
		t.Errorf("a repository of many directories: %v", err)
	}
	u.Set("main", object.Hash{1})
	drain(t, w, marker) // nothing of it is watched
	if n := len(w.fs.WatchList()); n > 4 {
		t.Errorf("%d watches are left", n)
	}
}

func TestWatcherClose(t *testing.T) {
	w := start(t, WatchOptions{})
	u := newUpstream(t)
	gittest.Must(t, w.Add(u.Dir, "repo"))
	u.Set("main", object.Hash{1})
	gittest.Must(t, w.Close())
	gittest.Must(t, w.Close())
	close(w.events) // nothing is called any more
}
