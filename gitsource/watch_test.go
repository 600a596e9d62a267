package gitsource

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
)

// patience bounds waiting for the kernel; reached only when a test fails.
const patience = 20 * time.Second

// expect waits for events until each key came once, and takes no others.
func expect(t *testing.T, w *Watcher, keys ...string) {
	t.Helper()
	limit := time.After(patience)
	for len(keys) > 0 {
		select {
		case key := <-w.Events():
			i := slices.Index(keys, key)
			if i < 0 {
				t.Fatalf("event for %q, want %q", key, keys)
			}
			keys = slices.Delete(keys, i, i+1)
		case <-limit:
			t.Fatalf("no event for %q", keys)
		}
	}
}

// quiesce makes sure, by a marker of its own repository, that all earlier
// events were handed on, and fails if one was for another key.
func quiesce(t *testing.T, w *Watcher, marker *upstream) {
	t.Helper()
	marker.set("tick", Hash{byte(marker.clock)})
	marker.clock++
	expect(t, w, "marker")
}

func newWatcher(t *testing.T, opts WatchOptions) (*Watcher, *upstream) {
	t.Helper()
	w, err := NewWatcher(opts)
	must(t, err)
	t.Cleanup(func() { _ = w.Close() })
	marker := newUpstream(t)
	must(t, w.Add(marker.dir, "marker"))
	return w, marker
}

func TestWatch(t *testing.T) {
	w, marker := newWatcher(t, WatchOptions{})
	work := filepath.Join(t.TempDir(), "work")
	must(t, os.MkdirAll(work, 0o700))
	u := newUpstreamAt(t, filepath.Join(work, ".git"))
	h := u.commit("A", files{"x": "1"})
	u.set("main", h)
	u.set("feature/old", h)
	must(t, w.Add("file://"+work, "repo"))
	for _, c := range []struct {
		name string
		move func()
	}{
		{"a branch moves", func() { u.set("main", Hash{1}) }},
		{"a branch in a directory moves", func() { u.set("feature/old", Hash{2}) }},
		{"a branch appears", func() { u.set("new", h) }},
		{"refs are packed", func() { u.write("packed-refs", "# pack-refs with: peeled\n") }},
		{"HEAD moves", func() { u.write("HEAD", "ref: refs/heads/new\n") }},
		{"a branch appears in new directories", func() { u.set("a/b/c", h) }},
		{"a branch disappears", func() { must(t, os.Remove(filepath.Join(u.dir, "refs/heads/new"))) }},
	} {
		c.move()
		t.Log(c.name)
		expect(t, w, "repo")
		drain(t, w, marker, "repo")
	}
	u.set("a/b/c", Hash{3}) // a directory that came after Add is watched as well
	expect(t, w, "repo")
	drain(t, w, marker, "repo")

	// What moves no ref makes no event.
	for _, name := range []string{"index", "FETCH_HEAD", "COMMIT_EDITMSG", "config.lock", "refs/heads/main.lock", "objects/ab/cdef", "logs/HEAD"} {
		u.write(name, "x")
	}
	quiesce(t, w, marker)

	w.Remove("repo")
	w.Remove("repo")
	u.set("main", Hash{4})
	quiesce(t, w, marker)
}

// TestWatchReftable: refs that are kept in a reftable move by a list of tables
// that is replaced; refs/heads is a file there (gitrepository-layout(5)).
func TestWatchReftable(t *testing.T) {
	w, marker := newWatcher(t, WatchOptions{})
	u := newUpstream(t)
	must(t, os.RemoveAll(filepath.Join(u.dir, "refs", "heads")))
	u.write("refs/heads", "this repository uses the reftable format\n")
	u.write("reftable/tables.list", "0x000000000001-0x000000000001-a.ref\n")
	must(t, w.Add(u.dir, "repo"))
	u.write("reftable/tables.list.lock", "0x000000000002-0x000000000002-b.ref\n")
	quiesce(t, w, marker) // not yet
	must(t, os.Rename(filepath.Join(u.dir, "reftable/tables.list.lock"), filepath.Join(u.dir, "reftable/tables.list")))
	expect(t, w, "repo")
	drain(t, w, marker, "repo")
}

// drain takes the events that are under way: one act may take several windows.
func drain(t *testing.T, w *Watcher, marker *upstream, key string) {
	t.Helper()
	marker.set("tick", Hash{byte(marker.clock)})
	marker.clock++
	limit := time.After(patience)
	for {
		select {
		case got := <-w.Events():
			if got == "marker" {
				return
			}
			if got != key {
				t.Fatalf("event for %q", got)
			}
		case <-limit:
			t.Fatal("the marker does not come through")
		}
	}
}

func TestWatchTwoKeysAndLinkedWorkTree(t *testing.T) {
	w, marker := newWatcher(t, WatchOptions{})
	u := newUpstream(t)
	u.set("main", u.commit("A", files{"x": "1"}))
	linked := filepath.Join(t.TempDir(), "linked")
	must(t, writeAtomic(filepath.Join(linked, ".git"), "gitdir: "+u.dir+"/worktrees/linked\n"))
	u.write("worktrees/linked/HEAD", "ref: refs/heads/main\n")
	u.write("worktrees/linked/commondir", "../..\n")
	must(t, w.Add(u.dir, "one"))
	must(t, w.Add(u.dir, "two"))
	must(t, w.Add(linked, "linked"))
	u.set("main", Hash{1})
	expect(t, w, "one", "two", "linked")
	quiesce(t, w, marker)
	u.write("worktrees/linked/HEAD", "ref: refs/heads/other\n")
	expect(t, w, "linked")
	w.Remove("one")
	quiesce(t, w, marker)
	u.set("main", Hash{2})
	expect(t, w, "two", "linked")
	must(t, w.Add(marker.dir, "two")) // a key moves to another repository
	u.set("main", Hash{3})
	expect(t, w, "linked")
}

func TestWatchCoalesces(t *testing.T) {
	tick := make(chan time.Time)
	started := make(chan time.Duration, 100)
	w, err := NewWatcher(WatchOptions{Debounce: time.Hour, After: func(d time.Duration) <-chan time.Time {
		started <- d
		return tick
	}})
	must(t, err)
	defer w.Close()
	u := newUpstream(t)
	must(t, w.Add(u.dir, "repo"))
	for i := range 50 {
		u.set("main", Hash{byte(i)})
	}
	if d := <-started; d != time.Hour {
		t.Errorf("waits %v", d)
	}
	select {
	case key := <-w.Events():
		t.Errorf("%q came before its time", key)
	default:
	}
	// The last event was taken in once a sentinel after it was.
	other := newUpstream(t)
	must(t, w.Add(other.dir, "other"))
	other.set("main", Hash{1})
	tick <- time.Time{}
	got := []string{<-w.Events()}
	for len(got) < 2 {
		select {
		case key := <-w.Events():
			got = append(got, key)
		case <-started: // "other" came after the first window
			tick <- time.Time{}
		case <-time.After(patience):
			t.Fatalf("only %q came", got)
		}
	}
	n := 0
	for _, key := range got {
		if key == "repo" {
			n++
		}
	}
	if n == 0 || n > 2 {
		t.Errorf("50 moves made %d events in two windows: %q", n, got)
	}
}

func TestWatchGone(t *testing.T) {
	lost := make(chan error, 10)
	w, marker := newWatcher(t, WatchOptions{OnLost: func(key string, err error) { lost <- fmt.Errorf("%s: %w", key, err) }})
	dir := filepath.Join(t.TempDir(), "up.git")
	if err := w.Add(dir, "repo"); !errors.Is(err, ErrUnreachable) {
		t.Errorf("absent repository: %v", err)
	}
	if err := w.Add("https://example.org/x", "repo"); !errors.Is(err, ErrUnsupported) {
		t.Errorf("remote repository: %v", err)
	}
	newUpstreamAt(t, dir)
	must(t, w.Add(dir, "repo"))
	must(t, os.RemoveAll(dir))
	expect(t, w, "repo")
	select {
	case err := <-lost:
		if !errors.Is(err, ErrUnreachable) {
			t.Error(err)
		}
	case <-time.After(patience):
		t.Error("nobody is told that the repository is gone")
	}
	drain(t, w, marker, "repo")
	u := newUpstreamAt(t, dir) // created again, added again
	must(t, w.Add(dir, "repo"))
	u.set("main", Hash{1})
	expect(t, w, "repo")
}

func TestWatchOverflowLooksAtAll(t *testing.T) {
	w, err := NewWatcher(WatchOptions{Debounce: 1})
	must(t, err)
	defer w.Close()
	a, b := newUpstream(t), newUpstream(t)
	must(t, w.Add(a.dir, "a"))
	must(t, w.Add(b.dir, "b"))
	w.fs.Errors <- fsnotify.ErrEventOverflow
	expect(t, w, "a", "b")
}

func TestWatchLimit(t *testing.T) {
	for _, errno := range []error{syscall.ENOSPC, syscall.EMFILE, fmt.Errorf("add: %w", syscall.ENFILE)} {
		if err := watchError("watch x", errno); !errors.Is(err, ErrWatchLimit) {
			t.Errorf("%v is not ErrWatchLimit", err)
		}
	}
	w, marker := newWatcher(t, WatchOptions{})
	u := newUpstream(t)
	w.maxDirs = 20
	for i := range w.maxDirs {
		must(t, os.Mkdir(filepath.Join(u.dir, "refs/heads", fmt.Sprint(i)), 0o700))
	}
	if err := w.Add(u.dir, "repo"); !errors.Is(err, ErrWatchLimit) {
		t.Errorf("a repository of many directories: %v", err)
	}
	u.set("main", Hash{1})
	quiesce(t, w, marker) // nothing of it is watched
	if n := len(w.fs.WatchList()); n > 4 {
		t.Errorf("%d watches are left", n)
	}
}

func TestWatcherClose(t *testing.T) {
	w, err := NewWatcher(WatchOptions{})
	must(t, err)
	u := newUpstream(t)
	must(t, w.Add(u.dir, "repo"))
	u.set("main", Hash{1}) // nobody reads the event
	must(t, w.Close())
	must(t, w.Close())
	for range w.Events() {
		continue
	}
}
