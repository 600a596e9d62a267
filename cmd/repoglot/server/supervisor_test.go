package server

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/catalogtest"
	"github.com/repoglot/repoglot/catalog/ingest"
	"github.com/repoglot/repoglot/catalog/ingest/schedule"
	"github.com/repoglot/repoglot/catalog/store"
	"github.com/repoglot/repoglot/cmd/repoglot/config"
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
	if _, err := testrepos.Create(there, "lifecycle"); err != nil {
		t.Fatal(err)
	}
	s, p, log := supervised(t, there, later)
	s.set(p, time.Hour)
	s.appeared()
	if !s.watched[there] || s.watched[later] {
		t.Fatalf("watched: %v", s.watched)
	}
	if _, err := testrepos.Create(later, "lifecycle"); err != nil {
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
	if _, err := testrepos.Create(repo, "lifecycle"); err != nil {
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

// TestTemplateJobs: a branch that only templates are read from is fetched by a job of its own,
// whose pauses are the scheduler's, and by no pull of those that read it. They are pulled when it
// moves, is away, or is back. A webhook and a request for a pull do not wait for the pause.
func TestTemplateJobs(t *testing.T) {
	t.Parallel()
	const file = "msgid \"\"\nmsgstr \"Content-Type: text/plain; charset=UTF-8\\n\"\n\nmsgid \"%s\"\nmsgstr \"\"\n"
	own, code := testrepos.Empty(t), testrepos.Empty(t)
	own.Commit(t, testrepos.Change{Files: map[string]string{"po/cs.po": fmt.Sprintf(file, "One")}})
	template := func(source string) {
		code.Commit(t, testrepos.Change{Files: map[string]string{"app.pot": fmt.Sprintf(file, source)}})
	}
	template("One")
	c, err := config.Parse("/etc/r.yaml", fmt.Appendf(nil, "projects:\n- slug: demo\n  components:\n  - {slug: app, repo: %s, filemask: po/*.po, new_base: app.pot, template_repo: %s}\n", own.Path(), code.Path()), nil)
	must(t, err)
	p := NewPlan(c)
	w := catalogtest.PullerAt(t, t.TempDir())
	w.Change = func(o *ingest.Options) { o.Fetched = (&Engine{}).fetched }
	w.Open()
	must(t, w.DB.Configure(t.Context(), p.projects, p.components, p.templates))
	log := slog.New(slog.DiscardHandler)
	e := &Engine{log: log, db: w.DB, syncer: w.Syncer, languages: w.Languages, progress: newProgress(time.Now, nil), room: func() error { return nil }}
	s := newSupervisor(e, 1)
	must(t, s.watcher.Close())
	s.watcher = nil
	s.set(p, time.Hour)
	reader, of := ingest.BranchKey(own.Path(), ""), ingest.BranchKey(code.Path(), "")
	s.watched[reader], s.watched[of] = true, true // what moves is told by the test
	s.schedule()
	ctx, cancel := context.WithCancel(t.Context())
	ran := make(chan error)
	go func() { ran <- s.sched.Run(ctx) }()
	defer func() { cancel(); must(t, <-ran) }()
	quiet := func() map[string]schedule.State { // until all that is due has run
		for {
			idle := true
			_, states := s.snapshot()
			for _, st := range states {
				idle = idle && st.Status != schedule.Running && st.Next.After(time.Now())
			}
			if idle {
				return states
			}
			runtime.Gosched()
		}
	}
	var component int64
	serves := func(source string, problem bool) {
		t.Helper()
		w.EachComponent(func(_ context.Context, _ *store.Snapshot, c *store.ComponentRow) error {
			component = c.ID
			if c.Problem.Failed() != problem {
				t.Errorf("the problem is %+v, want one: %v", c.Problem, problem)
			}
			return nil
		})
		var got []string
		w.EachUnit(func(_ *catalog.Component, tr *catalog.Translation, u *catalog.Unit) {
			if tr.IsSource {
				got = append(got, u.Source)
			}
		})
		if got[len(got)-1] != source { // the files have the first one
			t.Errorf("the template has %q, want %q", got, source)
		}
	}
	quiet()
	serves("One", false)
	template("Two")
	s.sched.Trigger(reader) // by the clock
	quiet()
	serves("One", false)
	s.sched.Trigger(of)
	quiet()
	serves("Two", false)
	hook := func() { hookPulls{s}.Pull(reader + ofTemplate + of) }
	for name, pull := range map[string]func(){"a webhook": hook, "one of the component": func() { hookPulls{s}.Pull(reader) }, "a request": func() {
		_, err := operations{s}.Pull(t.Context(), component)
		must(t, err)
	}} {
		away := code.Path() + ".away"
		must(t, os.Rename(code.Path(), away))
		s.sched.Trigger(of)
		states := quiet()
		serves("Two", true)
		if st := states[of]; st.Failures != 1 || time.Until(st.Next) < 20*time.Second {
			t.Errorf("%s: its job failed %d times and waits until %s", name, st.Failures, st.Next)
		}
		must(t, os.Rename(away, code.Path()))
		s.sched.Trigger(reader)
		quiet()
		serves("Two", true) // nobody asks it before its pause is over
		pull()
		if states = quiet(); states[of].Failures != 0 {
			t.Errorf("%s does not end the pause", name)
		}
		serves("Two", false)
	}
}
