// Package schedule decides when to pull: it runs jobs, each at its own interval,
// sooner after a trigger, later when a host does not answer. A [Scheduler] keeps what is
// due in memory, for one process; a [Puller] in the database, for several.
//
// Goals of a Scheduler: one run per key at a time; never more than [Options.Workers] runs in all
// and [Options.PerHost] on one host; a slow or dead host does not stop the jobs of
// other hosts, or local ones; a trigger is never lost, and any number of them
// during a run makes exactly one more run; a panic of a job is an error of that
// job alone.
//
// So that one host does not delay the others within the hard limit of Workers:
// where jobs have more than one host, a host takes the last free worker only if it
// has no other run, and the hosts that count as down never hold all workers
// together. So one hanging host leaves a worker to the others, and so does any
// number of hosts that are known to be down. With Workers 1 a hanging run delays
// everything until it returns.
//
// Backoff has two levels. A job that failed waits longer after each failure
// ([Backoff]). A host counts as down once three of its jobs (or all it has, if
// fewer) failed and none succeeded in between: then it gets one probe at a time,
// the job with the fewest failures first, and is up again with the first success.
// One broken repository on a big host thus slows only itself. First attempts and
// triggered runs do not wait for a host that is down, so that the first round
// always ends and a webhook always has an effect. A failure that is nobody's there
// ([Options.Excused]) counts on neither level.
//
// Non-goals: it knows neither git nor PO, keeps nothing across restarts and sets no time
// limit on a run (jobs that use a network must). It logs and returns the errors of runs unchanged:
// jobs must keep credentials out of them.
package schedule

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"runtime"
	"sync"
	"time"
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
	// Host is the machine that a run talks to. Empty means local: Workers is the only
	// limit, and the job shares no backoff with others.
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

// Options configure a [Scheduler]. The zero value is usable.
type Options struct {
	// Workers is the largest number of runs at a time. Zero or less: one per core
	// (GOMAXPROCS), and at least two, since a single one would let a hanging host
	// delay all others.
	Workers int
	// PerHost is the largest number of runs at a time on one host. Zero or less: 4.
	PerHost int
	// Jitter is the share by which waiting times vary, up and down: 0.1 makes
	// five minutes 4:30 to 5:30. Zero: 0.1; less than zero: none; at most 1.
	Jitter float64
	// Backoff is how long to wait after failures.
	Backoff Backoff
	// Excused reports whether neither the job nor its host caused a failure, such as a
	// full disk here: it does not count among those that make a job wait longer
	// each time, and only the first one since a success is logged as a warning. It is
	// called concurrently; nil: no failure is excused.
	Excused func(error) bool
	// Rand returns a number in [0, 1) for the jitter. It is not called concurrently;
	// nil: a shared random source.
	Rand func() float64
	// Logger gets failures (warn), panics (error), hosts that go down or come
	// back, and every run (debug). nil: nothing is logged.
	Logger *slog.Logger
}

// defaultJitter is the share by which waiting times vary.
const defaultJitter = 0.1

// withDefaults returns o with every zero value replaced.
func (o Options) withDefaults() Options {
	if o.Workers <= 0 {
		o.Workers = max(2, runtime.GOMAXPROCS(0))
	}
	if o.PerHost <= 0 {
		o.PerHost = 4
	}
	switch {
	case o.Jitter == 0:
		o.Jitter = defaultJitter
	case !(o.Jitter > 0): // below zero, or not a number
		o.Jitter = 0
	}
	o.Jitter = min(o.Jitter, 1)
	if o.Excused == nil {
		o.Excused = func(error) bool { return false }
	}
	o.Backoff = o.Backoff.withDefaults()
	if o.Rand == nil {
		o.Rand = rand.Float64
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o
}

// A Scheduler runs a set of jobs. Its methods may be called from any goroutine,
// and from within a run; make one with [New].
type Scheduler struct {
	opts Options
	// wake makes the loop of Run look again; one pending value is enough.
	wake chan struct{}
	// firstRound is closed when every job has finished once.
	firstRound chan struct{}
	metrics    *metrics
	// runs counts the goroutines of runs. Only the loop of Run adds.
	runs sync.WaitGroup

	mu         sync.Mutex
	set        bool              // Set was called
	jobs       map[string]*entry // including removed ones that still run
	hosts      map[string]*host  // every host with an entry
	running    int               // runs at present
	unfinished int               // entries of the set that never finished a run
	seq        uint64            // last number given to a queued entry
	excusing   bool              // a failure was excused since the last success
}

// New returns a Scheduler without jobs. Nothing runs before [Scheduler.Run].
func New(opts Options) *Scheduler {
	return &Scheduler{
		opts:       opts.withDefaults(),
		wake:       make(chan struct{}, 1),
		firstRound: make(chan struct{}),
		metrics:    newMetrics(),
		jobs:       map[string]*entry{},
		hosts:      map[string]*host{},
	}
}

// wakeUp makes the loop of Run look again.
func (s *Scheduler) wakeUp() {
	select {
	case s.wake <- struct{}{}:
	default: // it will look again in any case
	}
}
