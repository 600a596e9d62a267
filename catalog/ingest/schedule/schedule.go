// Package schedule says when to pull: it runs jobs, each at its own interval,
// sooner when something calls, later when a host does not answer.
//
// Goals: one run per key at a time; never more than [Options.Workers] runs in
// all and [Options.PerHost] on one host; a slow or dead host keeps no other
// host's jobs, and no local ones, from running; a trigger is never lost, and
// any number of them during a run makes exactly one more run; a panic of a job
// is an error of that job alone.
//
// How one host is kept from delaying the others, with Workers a hard ceiling
// (DESIGN, configuration key workers): wherever jobs of more than one host
// exist, a host takes the last free worker only if it runs nothing yet, and
// hosts that count as down never hold all workers together. So one hanging host
// leaves a worker to the rest, and so does any number of hosts that are known
// to be down. With Workers 1 nothing can be left over, and a hanging run delays
// everything until it returns.
//
// Backoff has two levels. A job that failed waits longer after each failure
// ([Backoff]). A host counts as down once three of its jobs (or all it has, if
// fewer) failed and none succeeded in between: then one probe at a time goes
// there, the healthiest job first, and the first success lifts it. One broken
// repository on a big host thus slows nobody but itself. First attempts and
// triggered runs do not wait for a host, so that the first round always ends
// and a webhook is always heard.
//
// Non-goals: it knows neither git nor PO nor the store, keeps nothing across
// restarts, sets no time limit on a run (who talks to a network must), and does
// not spread jobs over machines. It logs and returns the errors of runs as they
// are: whoever makes them keeps credentials out.
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

// ErrRunning is what [Scheduler.Run] returns when it is called on a Scheduler
// that runs already.
var ErrRunning = errors.New("schedule: already running")

// ErrRemoved is the cause of a run's cancelled context ([context.Cause]) when
// [Scheduler.Set] took its job away.
var ErrRemoved = errors.New("schedule: job was removed")

// A Job is something to do again and again.
type Job struct {
	// Key names the job; unique within a set, any text. It is logged, so it
	// holds no credentials.
	Key string
	// About says in the log of failures whom the job serves, such as the names
	// of components; any text without credentials, "" for nothing.
	About string
	// Host is the machine that a run talks to. Empty means local: no limit but
	// Workers, and no backoff shared with other jobs.
	Host string
	// Interval is the time from the end of a good run to the next one, before
	// jitter. Zero or less: no polling; the job runs when it is new, when it is
	// triggered, and again (with backoff) as long as it fails.
	Interval time.Duration
	// Run does the work. Its context ends when the Scheduler stops or the job
	// is removed; it then returns as soon as what it did so far is whole. Runs
	// of different keys are concurrent.
	Run func(ctx context.Context) error
}

// Options configure a [Scheduler]. The zero value is usable.
type Options struct {
	// Workers is how many runs there are at a time, at most. Zero or less: one
	// per core (GOMAXPROCS), but at least two, since a single one would let a
	// hanging host delay all others.
	Workers int
	// PerHost is how many runs talk to one host at a time, at most. Zero or
	// less: 4.
	PerHost int
	// Jitter is the share by which waiting times vary, up and down: 0.1 makes
	// five minutes 4:30 to 5:30. Zero: 0.1; less than zero: none; at most 1.
	Jitter float64
	// Backoff is how long to wait after failures.
	Backoff Backoff
	// Now is the clock; nil: time.Now. It never runs backwards.
	Now func() time.Time
	// AfterFunc calls f in its own goroutine once d has passed on the clock
	// Now, unless stop comes first; nil: time.AfterFunc.
	AfterFunc func(d time.Duration, f func()) (stop func() bool)
	// Rand gives numbers in [0, 1) for the jitter, one call at a time; nil: a
	// shared random source.
	Rand func() float64
	// Logger gets failures (warn), panics (error), hosts that go down or come
	// back, and every run (debug). nil: nothing is logged.
	Logger *slog.Logger
}

// withDefaults is o with every zero value replaced.
func (o Options) withDefaults() Options {
	if o.Workers <= 0 {
		o.Workers = max(2, runtime.GOMAXPROCS(0))
	}
	if o.PerHost <= 0 {
		o.PerHost = 4
	}
	switch {
	case o.Jitter == 0:
		o.Jitter = 0.1
	case !(o.Jitter > 0): // below zero, or not a number
		o.Jitter = 0
	}
	o.Jitter = min(o.Jitter, 1)
	o.Backoff = o.Backoff.withDefaults()
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.AfterFunc == nil {
		o.AfterFunc = func(d time.Duration, f func()) func() bool { return time.AfterFunc(d, f).Stop }
	}
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
	// wake tells the loop of Run to look again; one pending call is enough.
	wake chan struct{}
	// firstRound is closed when every job finished once.
	firstRound chan struct{}
	// runs counts the goroutines of runs. Only the loop of Run adds.
	runs sync.WaitGroup

	mu         sync.Mutex
	looping    bool              // Run is executing
	set        bool              // Set was called
	jobs       map[string]*entry // removed ones included while they still run
	hosts      map[string]*host  // every host with an entry
	waiting    queue             // entries due later, by due time
	running    int               // runs at present
	unfinished int               // entries of the set that never finished a run
	seq        uint64            // last number given to a queued entry
	tally      tally
}

// New returns a Scheduler without jobs. Nothing runs before [Scheduler.Run].
func New(opts Options) *Scheduler {
	return &Scheduler{
		opts:       opts.withDefaults(),
		wake:       make(chan struct{}, 1),
		firstRound: make(chan struct{}),
		jobs:       map[string]*entry{},
		hosts:      map[string]*host{},
		waiting:    queue{less: byDue},
	}
}

// poke makes the loop of Run look again.
func (s *Scheduler) poke() {
	select {
	case s.wake <- struct{}{}:
	default: // it will look anyway
	}
}
