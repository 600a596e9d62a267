// Package schedule decides when to pull: it runs jobs, each at its own interval,
// sooner after a trigger, later when a host does not answer. A [Scheduler] takes the lease
// of a job that is due from a table, renews it while the job runs, and gives it back: the
// table is in memory for one process, in the database for several.
//
// Goals: one run per key at a time; never more than [Options.Workers] runs in all and four
// on one host; a slow or dead host does not stop the jobs of other hosts, or local ones; a
// trigger is never lost, and any number of them during a run makes exactly one more run; a
// panic of a job is an error of that job alone.
//
// So that one host does not delay the others within the hard limit of Workers:
// where jobs have more than one host, a host takes the last free worker only if it
// has no other run, and in memory the hosts that count as down never hold all workers
// together. So one hanging host leaves a worker to the others, and so does any
// number of hosts that are known to be down. With Workers 1 a hanging run delays
// everything until it returns.
//
// A job that failed waits longer after each failure ([Backoff]). In memory a host counts as
// down once three of its jobs (or all it has, if fewer) failed and none succeeded in between:
// until the next success it gets one run at a time. First attempts and triggered runs do not
// wait for that, so that the first round always ends and a webhook always has an effect. A
// failure that is nobody's there ([Options.Excused]) counts for neither.
//
// Non-goals: it knows neither git nor PO, and sets no time limit on a run (jobs that use a
// network must). It logs and returns the errors of runs unchanged: jobs must keep
// credentials out of them.
package schedule

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/repoglot/repoglot/catalog/store"
	"github.com/repoglot/repoglot/catalog/store/cluster"
)

// ErrRemoved is the cause of a run's cancelled context ([context.Cause]) when
// [Scheduler.Set] removed its job.
var ErrRemoved = errors.New("schedule: job was removed")

// A Job is run again and again.
type Job struct {
	// Key names the job: any text, unique within a set. It is logged, so it must
	// not hold credentials.
	Key string
	// About describes the job in the log of failures, for example with the names of
	// components: any text without credentials, or "".
	About string
	// Host is the machine that a run talks to. Empty means local: Workers is the only limit.
	Host string
	// Interval is the time from the end of a good run to the next one, before
	// jitter. Zero or less: no polling; the job runs when it is new, when it is
	// triggered, and again (with backoff) as long as it fails.
	Interval time.Duration
	// Run does the work. Its context ends when the Scheduler stops or the job is
	// removed; it then returns as soon as its work is in a consistent state. Runs of
	// different keys are concurrent.
	Run func(ctx context.Context) error
}

// ErrLost is the cause of a run's cancelled context ([context.Cause]) when its lease
// was lost.
var ErrLost = errors.New("lease: another process may have taken the branch")

// Table is where the leases of several processes are: a [cluster.Cluster].
type Table interface {
	table
	Wish(ctx context.Context, branches []string, by string) error
	State(ctx context.Context) (*cluster.State, error)
}

type table interface {
	Take(ctx context.Context, r *cluster.Room) (l cluster.Lease, taken bool, err error)
	Renew(ctx context.Context, l *cluster.Lease, length time.Duration) (held bool, err error)
	Give(ctx context.Context, l *cluster.Lease, o cluster.Outcome) error
}

const (
	// DefaultLength is how long a lease lasts if it is not renewed.
	DefaultLength = 15 * time.Second
	defaultPoll   = time.Second
	perHost       = 4
)

// Options configure a [Scheduler].
type Options struct {
	// Workers is the largest number of runs at a time; zero or less: none, the process
	// only writes wishes.
	Workers int
	// Backoff is how long to wait after failures; zero: 30 seconds, up to one hour.
	Backoff Backoff
	// Excused reports whether neither the job nor its host caused a failure, such as a
	// full disk here: it does not count among those that make a job wait longer
	// each time, and only the first one since a success is logged as a warning. It is
	// called concurrently; nil: those of a database that cannot be used are.
	Excused func(error) bool
	// Rand returns a number in [0, 1), by which waiting times vary by a tenth; nil: a
	// shared random source.
	Rand func() float64
	// Logger gets failures (warn), panics (error), lost leases, and every run (debug); nil: nothing is logged.
	Logger *slog.Logger

	// Table is where the leases are; nil: in memory, and what follows is not used.
	Table Table
	// Process is the id of this process.
	Process string
	// Configuration returns the fingerprint of its copy of the configuration.
	Configuration func() string
	// Wished wakes the Scheduler before its next look; nil: never.
	Wished <-chan struct{}
	// Has reports whether this process has the local repository of a branch; nil:
	// all.
	Has func(branch string) bool
	// Room returns an error while this process has no room for what it would pull: it
	// takes no lease then, so that others pull; nil: it always has.
	Room func() error
	// Length is how long a lease lasts unless it is renewed, which is tried when a
	// third of it is over. Zero: DefaultLength.
	Length time.Duration
}

func (o Options) withDefaults() Options {
	o.Backoff = cmp.Or(o.Backoff, Backoff{First: 30 * time.Second, Max: time.Hour})
	if o.Excused == nil {
		o.Excused = func(err error) bool { return errors.Is(err, store.ErrUnavailable) }
	}
	if o.Configuration == nil {
		o.Configuration = func() string { return "" }
	}
	if o.Has == nil {
		o.Has = func(string) bool { return true }
	}
	if o.Room == nil {
		o.Room = func() error { return nil }
	}
	if o.Length <= 0 {
		o.Length = DefaultLength
	}
	if o.Rand == nil {
		o.Rand = rand.Float64
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o
}

// Scheduler runs the jobs whose leases it gets: each in one process at a time, and
// if that one dies, in another. Its methods may be called from any goroutine, and from
// within a run.
//
// The database has a row for each branch ([cluster.Cluster]). A process with room
// takes the lease of a branch that is due, and renews it while the pull runs; a
// webhook or a watch writes a wish into the row. A lease saves work and decides
// nothing: the transactions of a pull commit only if its lease is still the last one
// ([cluster.WithFence]), so a process that was stopped and goes on changes nothing. A wish
// is never lost once the database has it, and before that is kept as long as the process
// lives; a lease is lost only to time; a Scheduler goes on by itself after any outage of the
// database. The table decides who is served first ([cluster.Room]).
type Scheduler struct {
	opts       Options
	table      table
	alone      *memory       // the table, if it is in memory
	wake       chan struct{} // makes the loop look again
	firstRound chan struct{}
	runs       sync.WaitGroup
	metrics    *metrics

	mu       sync.Mutex
	jobs     map[string]Job
	set      bool
	hosts    map[string]bool                    // of the jobs
	running  map[string]context.CancelCauseFunc // by branch
	busy     map[string]int                     // runs by host
	wishes   map[string]string                  // that the table does not have yet: by what
	states   []State                            // as last read
	failing  bool                               // the last look at the table failed
	paused   bool                               // at the last look there was no room, here or in the database
	excusing bool                               // a failure was excused since the last success
	stall    stall
}

// New returns a Scheduler without jobs. Nothing happens before Run.
func New(opts Options) *Scheduler {
	s := &Scheduler{
		opts: opts.withDefaults(), wake: make(chan struct{}, 1), firstRound: make(chan struct{}), metrics: newMetrics(),
		jobs: map[string]Job{}, hosts: map[string]bool{}, running: map[string]context.CancelCauseFunc{}, busy: map[string]int{}, wishes: map[string]string{},
	}
	s.table = s.opts.Table
	if s.opts.Table == nil {
		s.alone = &memory{opts: &s.opts, perHost: perHost, rows: map[string]*row{}, hosts: map[string]*host{}, running: map[int64]*host{}}
		s.table = s.alone
	}
	return s
}

// Set replaces the jobs, at start and on every reload of the configuration. New ones are
// due at once. The context of a run whose job is gone is cancelled with [ErrRemoved]; Set
// does not wait for it. All others keep their schedule, their backoff and their run in
// progress, and use the new Run from the next one on. A key that comes back while its
// cancelled run still works starts anew when that run has returned. Of two jobs with one key
// the later counts. After a change of what a job does under its key, such as other
// credentials, call [Scheduler.Trigger].
func (s *Scheduler) Set(jobs []Job) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.jobs, s.hosts, s.set = make(map[string]Job, len(jobs)), map[string]bool{}, true
	for _, job := range jobs {
		s.jobs[job.Key] = job
	}
	for _, job := range s.jobs {
		s.hosts[job.Host] = true
	}
	if s.alone != nil {
		s.alone.set(jobs)
	}
	for branch, cancel := range s.running {
		if _, ok := s.jobs[branch]; !ok {
			cancel(ErrRemoved)
		}
	}
	s.Wake()
}

// Trigger asks for a run of a job as soon as the limits of workers and host allow, without
// its interval and any backoff. A run that is in progress goes on; exactly one more follows
// it, however many triggers came. Trigger reports whether the set holds the job.
func (s *Scheduler) Trigger(branch string) bool { return s.Wish(branch, "this process") }

// Wish is Trigger; by says what wishes for it.
func (s *Scheduler) Wish(branch, by string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.jobs[branch]; !ok {
		return false
	}
	if s.alone != nil {
		s.alone.trigger(branch)
	} else {
		s.wishes[branch] = by
	}
	s.Wake()
	return true
}

// Wake has the Scheduler look at the table now.
func (s *Scheduler) Wake() {
	select {
	case s.wake <- struct{}{}:
	default: // it will look in any case
	}
}

// FirstRound returns a channel that is closed when every job of the set has finished once,
// in whatever process, with success or not, for the first time.
func (s *Scheduler) FirstRound() <-chan struct{} { return s.firstRound }

// Run starts runs when they are due until ctx is done, then waits for the runs in
// progress, whose contexts end with ctx, gives their leases back and returns nil. It may be
// called again afterwards, not meanwhile: jobs whose runs were cut short are due at once.
func (s *Scheduler) Run(ctx context.Context) error {
	for ctx.Err() == nil {
		err := s.look(ctx)
		select {
		case <-s.firstRound:
		default:
			if err == nil && s.finished(ctx) {
				close(s.firstRound)
			}
		}
		s.report(ctx, err)
		wait := defaultPoll
		if s.alone != nil {
			wait = s.alone.wait()
		}
		select {
		case <-ctx.Done():
		case <-s.wake:
		case <-s.opts.Wished:
		case <-time.After(wait):
		}
	}
	s.runs.Wait()
	return nil
}

// Lacks are the branches of local repositories that this process does not have,
// ascending.
func (s *Scheduler) Lacks() []string {
	if s.opts.Workers <= 0 {
		return nil
	}
	s.mu.Lock()
	local := s.local()
	s.mu.Unlock()
	lacks := slices.DeleteFunc(local, s.opts.Has) // which may call this package
	slices.Sort(lacks)
	return lacks
}

// local are the branches of local repositories. The caller holds s.mu.
func (s *Scheduler) local() (branches []string) {
	for branch, job := range s.jobs {
		if job.Host == "" {
			branches = append(branches, branch)
		}
	}
	return branches
}

// look writes wishes and takes leases while there is room.
func (s *Scheduler) look(ctx context.Context) error {
	if err := s.sendWishes(ctx); err != nil {
		return err
	}
	for ctx.Err() == nil && s.mayTake() {
		room := s.room()
		if room == nil {
			return nil
		}
		taken, err := s.take(ctx, room)
		if err != nil || !taken {
			return err
		}
	}
	return nil
}

// take takes a lease, if there is one for a room, and begins its run.
func (s *Scheduler) take(ctx context.Context, room *cluster.Room) (taken bool, err error) {
	began := time.Now()
	within, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.opts.Length/3) // a lease that is taken at the end is given back
	defer cancel()
	l, taken, err := s.table.Take(within, room)
	if err != nil || !taken {
		return false, err
	}
	s.metrics.taken.Inc()
	s.begin(ctx, &l, began.Add(s.opts.Length))
	return true, nil
}

// report logs when the table cannot be read any more, and when it can again.
func (s *Scheduler) report(ctx context.Context, err error) {
	if ctx.Err() != nil {
		return
	}
	s.mu.Lock()
	was := s.failing
	s.failing = err != nil
	s.mu.Unlock()
	switch {
	case err != nil && !was:
		s.opts.Logger.Warn("the leases of pulls cannot be read; it is tried again", "error", err)
	case err == nil && was:
		s.opts.Logger.Info("the leases of pulls can be read again")
	}
}

func (s *Scheduler) sendWishes(ctx context.Context) error {
	s.mu.Lock()
	by := map[string][]string{}
	for branch, who := range s.wishes {
		by[who] = append(by[who], branch)
	}
	clear(s.wishes)
	s.mu.Unlock()
	within, cancel := context.WithTimeout(ctx, s.opts.Length/3)
	defer cancel()
	var failed error
	for who, branches := range by {
		if failed == nil {
			failed = s.opts.Table.Wish(within, branches, who)
		}
		if failed != nil {
			s.keepWishes(branches, who)
		}
	}
	return failed
}

// keepWishes keeps wishes that could not be written.
func (s *Scheduler) keepWishes(branches []string, by string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, branch := range branches {
		if _, newer := s.wishes[branch]; !newer {
			s.wishes[branch] = by
		}
	}
}

// room is what this process can pull; nil for nothing. Where jobs have several hosts,
// none gets the last worker beside another one: if it hangs, the others go on.
func (s *Scheduler) room() *cluster.Room {
	s.mu.Lock()
	r := s.roomLocked()
	s.mu.Unlock()
	if r != nil { // Has may call this package
		r.Local = slices.DeleteFunc(r.Local, func(branch string) bool { return !s.opts.Has(branch) })
	}
	return r
}

func (s *Scheduler) roomLocked() *cluster.Room {
	free := s.opts.Workers - len(s.running)
	if free <= 0 || !s.set {
		return nil
	}
	r := &cluster.Room{Process: s.opts.Process, Configuration: s.opts.Configuration(), Length: s.opts.Length, PerHost: perHost}
	for branch := range s.running {
		r.Pulling = append(r.Pulling, branch)
	}
	if s.alone != nil {
		return r // memory has all local repositories, and knows its hosts
	}
	r.Local = s.local()
	if free == 1 && s.opts.Workers > 1 && len(s.hosts) > 1 {
		for host, runs := range s.busy {
			if host != "" && runs > 0 {
				r.Full = append(r.Full, host)
			}
		}
	}
	return r
}
