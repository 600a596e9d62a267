package schedule

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var errDead = errors.New("no route to host")

// A play is a Scheduler in a bubble of fake time, with a diary of its runs.
type play struct {
	*Scheduler
	t     *testing.T
	start time.Time

	mu     sync.Mutex
	diary  []string
	active map[string]int // runs in progress by key
	most   map[string]int // most runs at a time by host, "all" for all
	now    map[string]int // runs in progress by host
	odd    []string       // what must never happen
}

// stage runs a test with a Scheduler that runs, in a bubble of fake time:
// time.Sleep there takes no time, and is over only when all else has settled.
func stage(t *testing.T, opts Options, test func(t *testing.T, p *play)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		if opts.Jitter == 0 {
			opts.Jitter = -1
		}
		if opts.Logger == nil {
			opts.Logger = slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelDebug}))
		}
		p := &play{
			Scheduler: New(opts), t: t, start: time.Now(),
			active: map[string]int{}, most: map[string]int{}, now: map[string]int{},
		}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- p.Run(ctx) }()
		test(t, p)
		cancel()
		if err := <-done; err != nil {
			t.Errorf("Run = %v, want nil after a stop", err)
		}
		if len(p.odd) > 0 {
			t.Errorf("broken: %q", p.odd)
		}
	})
}

// job is a Job that notes "key@offset" in the diary and does what work says.
func (p *play) job(key, host string, interval time.Duration, work func(ctx context.Context) error) Job {
	return Job{Key: key, Host: host, Interval: interval, Run: func(ctx context.Context) error {
		p.enter(key, host)
		defer p.leave(key, host)
		return work(ctx)
	}}
}

func (p *play) enter(key, host string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.diary = append(p.diary, fmt.Sprintf("%s@%v", key, time.Since(p.start)))
	if p.active[key]++; p.active[key] > 1 {
		p.odd = append(p.odd, "two runs of "+key)
	}
	for _, h := range []string{"host " + host, "all"} {
		p.now[h]++
		p.most[h] = max(p.most[h], p.now[h])
	}
}

func (p *play) leave(key, host string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.active[key]--
	p.now["host "+host]--
	p.now["all"]--
}

// wait lets d of fake time pass, and all that happens meanwhile settle.
func (p *play) wait(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// take empties the diary; it returns the runs in order.
func (p *play) take() []string {
	synctest.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	diary := p.diary
	p.diary = nil
	return diary
}

// wantDiary compares the runs since the last call; those of one moment come in
// any order.
func (p *play) wantDiary(want ...string) {
	p.t.Helper()
	got := slices.Sorted(slices.Values(p.take()))
	if d := cmp.Diff(slices.Sorted(slices.Values(want)), got); d != "" {
		p.t.Errorf("runs (-want +got):\n%s", d)
	}
}

// count is the number of runs of the key so far.
func (p *play) count(key string) int {
	synctest.Wait()
	st, _ := p.State(key)
	return st.Attempts
}

func (p *play) wantStatus(key string, want Status) State {
	p.t.Helper()
	synctest.Wait()
	st, ok := p.State(key)
	if !ok || st.Status != want {
		p.t.Errorf("State(%q) = %v, %t; want %v", key, st.Status, ok, want)
	}
	return st
}

// Works.

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
