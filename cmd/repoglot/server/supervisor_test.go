package server

import (
	"bytes"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/repoglot/repoglot/catalog/ingest"
	"github.com/repoglot/repoglot/gitsource/remote"
	"github.com/repoglot/repoglot/testrepos"
)

// supervised is a supervisor of local repositories that is not running, with its
// log.
func supervised(t *testing.T, repos ...string) (*supervisor, *Plan, *bytes.Buffer) {
	t.Helper()
	log := &bytes.Buffer{}
	s := newSupervisor(&Engine{log: slog.New(slog.NewTextHandler(log, nil))}, 2)
	t.Cleanup(func() {
		if s.watcher != nil {
			_ = s.watcher.Close()
		}
	})
	p := &Plan{}
	for _, repo := range repos {
		p.branches = append(p.branches, ingest.Branch{Key: repo, Remote: remote.Repository{URL: repo}})
	}
	return s, p, log
}

// TestRepositoryAppears: a repository that is made after the start is watched and
// pulled at once, even if its next pull was far away.
func TestRepositoryAppears(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	there, later := filepath.Join(dir, "a.git"), filepath.Join(dir, "b.git")
	scenario, err := testrepos.Named("lifecycle")
	must(t, err)
	if _, err := testrepos.Create(there, scenario); err != nil {
		t.Fatal(err)
	}
	s, p, log := supervised(t, there, later)
	s.set(p, time.Hour)
	s.appeared()
	if !s.watched[there] || s.watched[later] {
		t.Fatalf("watched: %v", s.watched)
	}
	if _, err := testrepos.Create(later, scenario); err != nil {
		t.Fatal(err)
	}
	s.appeared()
	if !s.watched[later] {
		t.Error("it is not watched")
	}
	if _, states := s.snapshot(); states[later].Key == "" || states[later].Next.After(time.Now()) {
		t.Errorf("it is not due: %+v", states[later])
	}
	s.lost(later)
	if s.watched[later] {
		t.Error("it counts as watched although it was lost")
	}
	if s.appeared(); !s.watched[later] {
		t.Error("it is not watched again")
	}
	if log.Len() > 0 {
		t.Errorf("the log has\n%s", log)
	}
}

// fullWatcher is a watcher on a system without free watches.
type fullWatcher struct {
	refWatcher
	full  bool
	asked int
}

func (w *fullWatcher) Add(repo, key string) error {
	w.asked++
	if w.full {
		return fmt.Errorf("watch %s: %w: %w; raise fs.inotify.max_user_watches", repo, remote.ErrWatchLimit, syscall.ENOSPC)
	}
	return w.refWatcher.Add(repo, key)
}

// TestNoWatchesLeft: a repository that cannot be watched is polled, which is logged
// once with the remedy, and it is watched when that becomes possible.
func TestNoWatchesLeft(t *testing.T) {
	t.Parallel()
	repo := filepath.Join(t.TempDir(), "a.git")
	scenario, err := testrepos.Named("lifecycle")
	must(t, err)
	if _, err := testrepos.Create(repo, scenario); err != nil {
		t.Fatal(err)
	}
	s, p, log := supervised(t, repo)
	full := &fullWatcher{refWatcher: s.watcher, full: true}
	s.watcher = full
	s.set(p, time.Hour)
	s.appeared()
	if s.watched[repo] || full.asked < 2 {
		t.Errorf("watched %v, asked %d times", s.watched, full.asked)
	}
	if text := log.String(); strings.Count(text, "\n") != 1 || !strings.Contains(text, "is polled") || !strings.Contains(text, "max_user_watches") {
		t.Errorf("the log has\n%s\nwant one line with the remedy", text)
	}
	if got := s.interval(&ingest.Branch{Key: repo}); got != unwatchedInterval {
		t.Errorf("polled every %s, want every %s", got, unwatchedInterval)
	}
	full.full = false
	s.appeared()
	if got := s.interval(&ingest.Branch{Key: repo}); !s.watched[repo] || got != time.Hour {
		t.Errorf("watched %v, polled every %s", s.watched, got)
	}
}

// TestNoWatcher: without any inotify instance all local repositories are polled.
func TestNoWatcher(t *testing.T) {
	t.Parallel()
	s, p, _ := supervised(t, t.TempDir())
	_ = s.watcher.Close()
	s.watcher = nil
	s.set(p, time.Hour)
	if got := s.interval(&p.branches[0]); got != unwatchedInterval {
		t.Errorf("polled every %s, want every %s", got, unwatchedInterval)
	}
}
