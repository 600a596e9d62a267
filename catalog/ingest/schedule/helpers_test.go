package schedule

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var errDead = errors.New("no route to host")

// A fixture is a Scheduler in a synctest bubble, with a list of the runs that
// started.
type fixture struct {
	*Scheduler
	t     *testing.T
	start time.Time

	mu      sync.Mutex
	started []string
	counts  map[string]int // runs so far by key
	active  map[string]int // runs in progress by key
	most    map[string]int // most runs at a time by host, "all" for all
	now     map[string]int // runs in progress by host
	wrongs  []string       // what must never happen
}

// inFakeTime runs a test with a running Scheduler in a synctest bubble, where
// time.Sleep takes no real time and ends only when everything else is idle.
func inFakeTime(t *testing.T, opts Options, test func(t *testing.T, p *fixture)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		if opts.Rand == nil {
			opts.Rand = func() float64 { return 0.5 } // waits as long as it says
		}
		if opts.Logger == nil {
			opts.Logger = slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelDebug}))
		}
		p := newFixture(t, opts)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- p.Run(ctx) }()
		test(t, p)
		cancel()
		if err := <-done; err != nil {
			t.Errorf("Run = %v, want nil after a stop", err)
		}
		if len(p.wrongs) > 0 {
			t.Errorf("broken: %q", p.wrongs)
		}
	})
}

func newFixture(t *testing.T, opts Options) *fixture {
	opts.Workers = cmp.Or(opts.Workers, max(2, runtime.GOMAXPROCS(0)))
	return &fixture{Scheduler: New(opts), t: t, start: time.Now(), counts: map[string]int{}, active: map[string]int{}, most: map[string]int{}, now: map[string]int{}}
}

// job makes a Job that adds "key@offset" to the started runs and then works.
func (p *fixture) job(key, host string, interval time.Duration, work func(ctx context.Context) error) Job {
	return Job{Key: key, Host: host, Interval: interval, Run: func(ctx context.Context) error {
		p.enter(key, host)
		defer p.leave(key, host)
		return work(ctx)
	}}
}

func (p *fixture) enter(key, host string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.counts[key]++
	p.started = append(p.started, fmt.Sprintf("%s@%v", key, time.Since(p.start)))
	if p.active[key]++; p.active[key] > 1 {
		p.wrongs = append(p.wrongs, "two runs of "+key)
	}
	for _, h := range []string{"host " + host, "all"} {
		p.now[h]++
		p.most[h] = max(p.most[h], p.now[h])
	}
}

func (p *fixture) leave(key, host string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.active[key]--
	p.now["host "+host]--
	p.now["all"]--
}

// wait lets d of fake time pass and waits until everything is idle.
func (p *fixture) wait(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// take returns the runs that started since the last call, in order.
func (p *fixture) take() []string {
	synctest.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	started := p.started
	p.started = nil
	return started
}

// wantRuns compares the runs that started since the last call, in any order.
func (p *fixture) wantRuns(want ...string) {
	p.t.Helper()
	got := slices.Sorted(slices.Values(p.take()))
	if d := gocmp.Diff(slices.Sorted(slices.Values(want)), got); d != "" {
		p.t.Errorf("runs (-want +got):\n%s", d)
	}
}

// count returns the number of runs of the key so far.
func (p *fixture) count(key string) int {
	synctest.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.counts[key]
}

// atMost returns the most runs at a time of a host so far ("all" for all hosts).
func (p *fixture) atMost(host string) int {
	synctest.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.most[host]
}

func (p *fixture) wantStatus(key string, want Status) State {
	p.t.Helper()
	synctest.Wait()
	st, ok := p.State(key)
	if !ok || st.Status != want {
		p.t.Errorf("State(%q) = %v, %t; want %v", key, st.Status, ok, want)
	}
	return st
}

// The functions of jobs.

func good(context.Context) error { return nil }
func dead(context.Context) error { return errDead }

// hang works until it is cancelled.
func hang(ctx context.Context) error {
	<-ctx.Done()
	return ctx.Err()
}

// lasting works for d, or until it is cancelled.
func lasting(d time.Duration, err error) func(context.Context) error {
	return func(ctx context.Context) error {
		select {
		case <-time.After(d):
			return err
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// State returns the state of a job; ok is false if the set does not hold it.
func (s *Scheduler) State(key string) (state State, ok bool) {
	for _, state := range s.States() {
		if state.Key == key {
			return state, true
		}
	}
	return state, false
}

// Ready reports whether every job of the current set has finished once, with
// success or not. It is false before the first Set, and again after a Set with a
// new job.
func (s *Scheduler) Ready() bool { return s.finished(context.Background()) }
