package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/repoglot/repoglot/catalog/ingest"
	"github.com/repoglot/repoglot/catalog/ingest/schedule"
	"github.com/repoglot/repoglot/catalog/notify"
	"github.com/repoglot/repoglot/catalog/push"
	"github.com/repoglot/repoglot/gitsource/remote"
	"github.com/repoglot/repoglot/gitsource/repourl"
)

// unwatchedInterval is the time between two pulls of a local repository that
// cannot be watched, and between two looks for one that is not there.
const unwatchedInterval = 2 * time.Second

// supervisor decides when a branch is pulled: locally when a ref moves, else by the clock.
type supervisor struct {
	engine  *Engine
	log     *slog.Logger
	sched   *schedule.Scheduler
	watcher refWatcher // nil if the system has no watcher left
	flusher *push.Pusher
	notify  *notify.Sender

	problems problems
	ready    readyTurn
	mu       sync.Mutex
	plan     *Plan
	poll     time.Duration
	watched  map[string]bool // local branches by key: whether they are watched
	warned   map[string]bool // branches that the log says cannot be watched

	losing sync.WaitGroup
}

// refWatcher is the part of a [remote.Watcher] that a supervisor uses.
type refWatcher interface {
	Add(repo, key string) error
	Remove(key string)
	Close() error
}

func newSupervisor(e *Engine, workers int) *supervisor {
	s := &supervisor{engine: e, log: e.log, plan: &Plan{}, watched: map[string]bool{}, warned: map[string]bool{}, problems: problems{of: map[string][]string{}}}
	s.sched = s.newScheduler(workers)
	if e.answersOnly() {
		return s
	}
	watcher, err := remote.NewWatcher(remote.WatchOptions{
		Logger: e.log, Trust: e.trust, OnMoved: func(key string) { s.sched.Wish(key, "a watch") },
		OnLost: func(key string, _ error) { s.losing.Go(func() { s.lost(key) }) },
	})
	if err != nil {
		s.log.Warn("local repositories cannot be watched and are polled", "every", unwatchedInterval, "error", err)
		return s
	}
	s.watcher = watcher
	return s
}

func (s *supervisor) newScheduler(workers int) *schedule.Scheduler {
	c := s.engine.cluster
	switch {
	case c == nil:
		return schedule.New(schedule.Options{Workers: workers, Logger: s.log, Excused: s.engine.excused})
	case s.engine.answersOnly():
		return c.puller(0, nil, nil)
	}
	return c.puller(workers, s.isHere, s.engine.room)
}

// isHere reports whether the local repository of a branch is on this machine.
func (s *supervisor) isHere(branch string) bool {
	b := s.current().branch(branch)
	if b == nil {
		return false
	}
	path, _ := repourl.IsLocal(b.Remote.URL)
	_, err := os.Stat(path)
	return err == nil
}

// run pulls and pushes until ctx is done and the last pull has finished its step.
func (s *supervisor) run(ctx context.Context) error {
	var looking sync.WaitGroup
	if !s.engine.answersOnly() {
		first := s.current()
		s.forgetWaits(ctx, &Plan{}, first) // before anything fails anew
		looking.Go(func() { s.watchEdits(ctx, first) })
	}
	if s.watcher != nil {
		looking.Go(func() { every(ctx, unwatchedInterval, s.appeared) })
	}
	err := s.sched.Run(ctx)
	looking.Wait() // not deferred: a panic must end the process
	if s.watcher != nil {
		err = errors.Join(err, s.watcher.Close())
		s.losing.Wait()
	}
	return err
}

// every calls a function after each pause until ctx is done.
func every(ctx context.Context, pause time.Duration, fn func()) {
	tick := time.NewTicker(pause)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			fn()
		}
	}
}

// appeared watches and pulls local repositories that could not be watched before.
func (s *supervisor) appeared() {
	s.mu.Lock()
	due := s.watchAll()
	if len(due) > 0 {
		s.schedule()
	}
	s.mu.Unlock()
	for _, key := range due {
		s.sched.Trigger(key)
	}
}

// watchAll watches the local repositories that are not watched, and returns the branches of
// those that are from now on: their refs may have moved before. The caller holds s.mu.
func (s *supervisor) watchAll() (due []string) {
	for i := range s.plan.branches {
		if b := &s.plan.branches[i]; !s.watched[b.Key] && s.watch(b) {
			due = append(due, b.Key)
		}
	}
	return due
}

// lost polls a branch whose repository can no longer be watched.
func (s *supervisor) lost(key string) {
	s.mu.Lock()
	was := s.watched[key]
	if was {
		s.watched[key] = false
		s.schedule()
	}
	s.mu.Unlock()
	if was {
		s.sched.Trigger(key)
	}
}

// set replaces what is pulled. Branches whose remote or components changed are pulled at once.
func (s *supervisor) set(p *Plan, interval time.Duration) {
	s.mu.Lock()
	old := s.plan
	s.plan, s.poll = p, interval
	for key := range s.watched {
		if p.branch(key) == nil {
			delete(s.watched, key)
			delete(s.warned, key)
			if s.watcher != nil {
				s.watcher.Remove(key)
			}
		}
	}
	due := s.watchAll()
	s.schedule()
	s.mu.Unlock()
	for i := range p.branches {
		b := &p.branches[i]
		if before := old.branch(b.Key); before != nil && !reflect.DeepEqual(before, b) {
			due = append(due, b.Key)
		}
	}
	for _, key := range due {
		s.sched.Trigger(key)
	}
}

// schedule gives the plan's branches to the scheduler. The caller holds s.mu.
func (s *supervisor) schedule() {
	jobs := make([]schedule.Job, 0, len(s.plan.branches))
	for i := range s.plan.branches {
		b := &s.plan.branches[i]
		jobs = append(jobs, schedule.Job{
			Key: b.Key, About: names(b), Host: repourl.Host(b.Remote.URL), Interval: s.interval(b),
			Run: func(ctx context.Context) error { return s.pull(ctx, b) },
		})
	}
	s.sched.Set(jobs)
}

// interval is the time between two pulls of a branch. The caller holds s.mu.
func (s *supervisor) interval(b *ingest.Branch) time.Duration {
	if watched, local := s.watched[b.Key]; local && !watched {
		return unwatchedInterval
	}
	return s.poll
}

// maxNames bounds the components in a line of the log.
const maxNames = 4

// names lists the components of a branch, for the log.
func names(b *ingest.Branch) string {
	var list []string
	for i := range b.Components {
		if i == maxNames {
			list = append(list, fmt.Sprintf("and %d more", len(b.Components)-i))
			break
		}
		list = append(list, b.Components[i].Spec.Project+"/"+b.Components[i].Spec.Slug)
	}
	return strings.Join(list, ", ")
}

// watch begins to watch a local branch, which is polled if that fails. The caller holds s.mu.
func (s *supervisor) watch(b *ingest.Branch) (watched bool) {
	if _, local := repourl.IsLocal(b.Remote.URL); !local {
		return false
	}
	s.watched[b.Key] = false
	if s.watcher == nil {
		return false
	}
	switch err := s.watcher.Add(b.Remote.URL, b.Key); {
	case err == nil:
		s.watched[b.Key] = true
		delete(s.warned, b.Key)
	case errors.Is(err, remote.ErrUnreachable): // the pull reports it
	case !s.warned[b.Key]: // it is tried again
		s.warned[b.Key] = true
		s.log.Warn("the repository cannot be watched and is polled", "branch", b.Key, "every", unwatchedInterval, "error", err)
	}
	return s.watched[b.Key]
}

// pull is the job of one branch.
func (s *supervisor) pull(ctx context.Context, b *ingest.Branch) error {
	edits := takesEdits(b)
	if edits {
		s.cloneWished(ctx, b)
	}
	before := resident()
	report, err := s.engine.Pull(ctx, b)
	giveBack(before)
	for i := range report.Components {
		c := &report.Components[i]
		for _, problem := range s.problems.note(c) {
			s.log.Warn("not served", "component", c.Project+"/"+c.Slug, "problem", problem)
		}
	}
	for _, reader := range s.current().branches {
		if report.Moved && slices.ContainsFunc(reader.Templates, func(of ingest.Branch) bool { return of.Key == b.Key }) {
			s.sched.Trigger(reader.Key)
		}
	}
	reached := err == nil || report.Reached()
	if edits && ctx.Err() == nil {
		s.flusher.Reached(ctx, b.Key, reached)
	}
	if edits && reached { // also of components beside one that cannot be read
		s.flush(ctx, b)
		s.failed(ctx, slog.LevelWarn, s.flusher.Look(ctx, *b, s.destinations()), "the open requests of others cannot be looked at", "branch", b.Key)
	}
	return err
}

func (s *supervisor) snapshot() (*Plan, map[string]schedule.State) {
	states := map[string]schedule.State{}
	for _, st := range s.sched.States() {
		states[st.Key] = st
	}
	return s.current(), states
}

// current is the plan in force.
func (s *supervisor) current() *Plan {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.plan
}
