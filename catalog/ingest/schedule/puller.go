package schedule

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/repoglot/repoglot/catalog/store/cluster"
)

// ErrLost is the cause of a run's cancelled context ([context.Cause]) when its lease
// was lost.
var ErrLost = errors.New("lease: another process may have taken the branch")

// Table is where the leases are: a [cluster.Cluster].
type Table interface {
	Take(ctx context.Context, r *cluster.Room) (l cluster.Lease, taken bool, err error)
	Renew(ctx context.Context, l *cluster.Lease, length time.Duration) (held bool, err error)
	Give(ctx context.Context, l *cluster.Lease, o cluster.Outcome) error
	Wish(ctx context.Context, branches []string, by string) error
	State(ctx context.Context) (*cluster.State, error)
}

// The defaults of PullerOptions.
const (
	DefaultLength = 15 * time.Second
	defaultPoll   = time.Second
	perHost       = 4
)

// PullerOptions configure a [Puller]. Table and Process are required.
type PullerOptions struct {
	// Table is where the leases are.
	Table Table
	// Process is the id of this process.
	Process string
	// Configuration returns the fingerprint of its copy of the configuration.
	Configuration func() string
	// Workers is the largest number of runs at a time; zero or less: none, the process
	// only writes wishes.
	Workers int
	// Wished wakes the Puller before its next look; nil: never.
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
	// Poll is the longest time between two looks at the table. Zero: a second.
	Poll time.Duration
	// Backoff is how long a branch waits after failures.
	Backoff Backoff
	// Rand returns a number in [0, 1), by which waiting times vary by a tenth; nil: a
	// shared random source.
	Rand func() float64
	// Logger gets failures and lost leases; nil: nothing is logged.
	Logger *slog.Logger
}

func (o PullerOptions) withDefaults() PullerOptions {
	o.Backoff = o.Backoff.withDefaults()
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
	if o.Poll <= 0 {
		o.Poll = defaultPoll
	}
	if o.Rand == nil {
		o.Rand = rand.Float64
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o
}

// Puller runs the jobs whose leases it gets: each branch in one process at a time, and
// if that one dies, in another. Its methods are those of a [Scheduler] and may be called
// from any goroutine.
//
// The database has a row for each branch ([cluster.Cluster]). A Puller with room
// takes the lease of a branch that is due, and renews it while the pull runs; a
// webhook or a watch writes a wish into the row. A lease saves work and decides
// nothing: the transactions of a pull commit only if its lease is still the last one
// ([store.WithFence]), so a process that was stopped and goes on changes nothing. A wish
// is never lost once the database has it, and before that is kept as long as the process
// lives; a lease is lost only to time; a Puller goes on by itself after any outage of the
// database. Who is served first is decided by the database ([store.Room]).
type Puller struct {
	opts       PullerOptions
	wake       chan struct{} // makes the loop look again
	firstRound chan struct{}
	runs       sync.WaitGroup
	metrics    *leaseMetrics

	mu      sync.Mutex
	jobs    map[string]Job
	set     bool
	hosts   map[string]bool                    // of the jobs
	running map[string]context.CancelCauseFunc // by branch
	busy    map[string]int                     // runs by host
	wishes  map[string]string                  // that the table does not have yet: by what
	states  []State                            // as last read
	failing bool                               // the last look at the table failed
	paused  bool                               // at the last look there was no room, here or in the database
	stall   stall
}

// NewPuller returns a Puller without jobs. Nothing happens before Run.
func NewPuller(opts PullerOptions) *Puller {
	return &Puller{
		opts: opts.withDefaults(), wake: make(chan struct{}, 1), firstRound: make(chan struct{}), metrics: newLeaseMetrics(),
		jobs: map[string]Job{}, hosts: map[string]bool{}, running: map[string]context.CancelCauseFunc{}, busy: map[string]int{}, wishes: map[string]string{},
	}
}

// Set replaces the jobs. A run whose job is gone is cancelled.
func (p *Puller) Set(jobs []Job) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.jobs, p.hosts, p.set = make(map[string]Job, len(jobs)), map[string]bool{}, true
	for _, job := range jobs {
		p.jobs[job.Key], p.hosts[job.Host] = job, true
	}
	for branch, cancel := range p.running {
		if _, ok := p.jobs[branch]; !ok {
			cancel(ErrRemoved)
		}
	}
	p.Wake()
}

// Trigger wishes for a pull of a branch, and reports whether it has a job.
func (p *Puller) Trigger(branch string) bool { return p.Wish(branch, "this process") }

// Wish is Trigger; by says what wishes for it.
func (p *Puller) Wish(branch, by string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, ok := p.jobs[branch]; !ok {
		return false
	}
	p.wishes[branch] = by
	p.Wake()
	return true
}

// Wake has the Puller look at the table now.
func (p *Puller) Wake() {
	select {
	case p.wake <- struct{}{}:
	default: // it will look in any case
	}
}

// FirstRound returns a channel that is closed when every job was pulled once, by
// whatever process, with success or not.
func (p *Puller) FirstRound() <-chan struct{} { return p.firstRound }

// Run pulls until ctx is done, then waits for the runs in progress, gives their
// leases back and returns nil.
func (p *Puller) Run(ctx context.Context) error {
	first := true
	for ctx.Err() == nil {
		err := p.look(ctx)
		if err == nil && first && p.finished(ctx) {
			close(p.firstRound)
			first = false
		}
		p.report(ctx, err)
		timer := time.NewTimer(p.opts.Poll)
		select {
		case <-ctx.Done():
		case <-p.wake:
		case <-p.opts.Wished:
		case <-timer.C:
		}
		timer.Stop()
	}
	p.runs.Wait()
	return nil
}

// Lacks are the branches of local repositories that this process does not have,
// ascending.
func (p *Puller) Lacks() []string {
	if p.opts.Workers <= 0 {
		return nil
	}
	p.mu.Lock()
	local := p.local()
	p.mu.Unlock()
	lacks := slices.DeleteFunc(local, p.opts.Has) // which may call this package
	slices.Sort(lacks)
	return lacks
}

// local are the branches of local repositories. The caller holds p.mu.
func (p *Puller) local() (branches []string) {
	for branch, job := range p.jobs {
		if job.Host == "" {
			branches = append(branches, branch)
		}
	}
	return branches
}

// look writes wishes and takes leases while there is room.
func (p *Puller) look(ctx context.Context) error {
	if err := p.sendWishes(ctx); err != nil {
		return err
	}
	for ctx.Err() == nil && p.mayTake() {
		room := p.room()
		if room == nil {
			return nil
		}
		taken, err := p.take(ctx, room)
		if err != nil || !taken {
			return err
		}
	}
	return nil
}

// take takes a lease, if there is one for a room, and begins its run.
func (p *Puller) take(ctx context.Context, room *cluster.Room) (taken bool, err error) {
	began := time.Now()
	within, cancel := context.WithTimeout(context.WithoutCancel(ctx), p.opts.Length/3) // a lease that is taken at the end is given back
	defer cancel()
	l, taken, err := p.opts.Table.Take(within, room)
	if err != nil || !taken {
		return false, err
	}
	p.metrics.taken.Inc()
	p.begin(ctx, &l, began.Add(p.opts.Length))
	return true, nil
}

// report logs when the table cannot be read any more, and when it can again.
func (p *Puller) report(ctx context.Context, err error) {
	if ctx.Err() != nil {
		return
	}
	p.mu.Lock()
	was := p.failing
	p.failing = err != nil
	p.mu.Unlock()
	switch {
	case err != nil && !was:
		p.opts.Logger.Warn("the leases of pulls cannot be read; it is tried again", "error", err)
	case err == nil && was:
		p.opts.Logger.Info("the leases of pulls can be read again")
	}
}

func (p *Puller) sendWishes(ctx context.Context) error {
	p.mu.Lock()
	by := map[string][]string{}
	for branch, who := range p.wishes {
		by[who] = append(by[who], branch)
	}
	clear(p.wishes)
	p.mu.Unlock()
	within, cancel := context.WithTimeout(ctx, p.opts.Length/3)
	defer cancel()
	var failed error
	for who, branches := range by {
		if failed == nil {
			failed = p.opts.Table.Wish(within, branches, who)
		}
		if failed != nil {
			p.keepWishes(branches, who)
		}
	}
	return failed
}

// keepWishes keeps wishes that could not be written.
func (p *Puller) keepWishes(branches []string, by string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, branch := range branches {
		if _, newer := p.wishes[branch]; !newer {
			p.wishes[branch] = by
		}
	}
}

// room is what this process can pull; nil for nothing. Where jobs have several hosts,
// none gets the last worker beside another one: if it hangs, the others go on.
func (p *Puller) room() *cluster.Room {
	p.mu.Lock()
	r := p.roomLocked()
	p.mu.Unlock()
	if r != nil { // Has may call this package
		r.Local = slices.DeleteFunc(r.Local, func(branch string) bool { return !p.opts.Has(branch) })
	}
	return r
}

func (p *Puller) roomLocked() *cluster.Room {
	free := p.opts.Workers - len(p.running)
	if free <= 0 || !p.set {
		return nil
	}
	r := &cluster.Room{Process: p.opts.Process, Configuration: p.opts.Configuration(), Length: p.opts.Length, PerHost: perHost, Local: p.local()}
	for branch := range p.running {
		r.Pulling = append(r.Pulling, branch)
	}
	if free == 1 && p.opts.Workers > 1 && len(p.hosts) > 1 {
		for host, runs := range p.busy {
			if host != "" && runs > 0 {
				r.Full = append(r.Full, host)
			}
		}
	}
	return r
}
