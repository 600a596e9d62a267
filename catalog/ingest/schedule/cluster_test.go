package schedule

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/repoglot/repoglot/catalog/store"
	"github.com/repoglot/repoglot/catalog/store/cluster"
)

// inWorld runs a test with a process, whose faults the test decides, and a job.
func inWorld(t *testing.T, run func(ctx context.Context) error, test func(t *testing.T, w *world, p *process)) {
	t.Helper()
	inWorldWith(t, func(*Options) {}, run, test)
}

// inWorldWith is inWorld with other options.
func inWorldWith(t *testing.T, change func(*Options), run func(ctx context.Context) error, test func(t *testing.T, w *world, p *process)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(1, 1)
		p := &process{w: w, id: "P", counts: map[string]int{}, ended: make(chan struct{})}
		w.known[p.id] = p
		opts := Options{Table: p, Process: p.id, Workers: 1, Configuration: func() string { return "c" }, Rand: func() float64 { return 0.5 }}
		change(&opts)
		p.scheduler = New(opts)
		p.scheduler.Set([]Job{{Key: "b0", Host: "h", Interval: time.Hour, Run: run}})
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			defer close(p.ended)
			_ = p.scheduler.Run(ctx)
		}()
		test(t, w, p)
		cancel()
		<-p.ended
		close(w.end)
		time.Sleep(time.Minute)
	})
}

// TestAfterFailures: a branch waits longer after each failure, but not for long if the
// database was away, which says nothing about its repository and counts for nothing. A
// panic is a failure.
func TestAfterFailures(t *testing.T) {
	var mu sync.Mutex
	var began []time.Time
	errs := []error{
		errors.New("no route"), fmt.Errorf("step: %w", store.ErrUnavailable), errors.New("no route"), nil,
	}
	inWorld(t, func(context.Context) error {
		mu.Lock()
		defer mu.Unlock()
		began = append(began, time.Now())
		if len(began) == len(errs)+1 {
			panic("boom")
		}
		return errs[min(len(began), len(errs))-1]
	}, func(t *testing.T, _ *world, _ *process) {
		time.Sleep(2 * time.Hour)
		mu.Lock()
		defer mu.Unlock()
		var waits []string
		for i := range began[1:] {
			waits = append(waits, began[i+1].Sub(began[i]).Round(5*time.Second).String())
		}
		if want := []string{"30s", "5s", "1m0s", "1h0m0s", "30s"}; !slices.Equal(waits[:5], want) {
			t.Errorf("waits %q, want %q", waits, want)
		}
	})
}

// TestNoRoom: a process without room takes no lease, says so, and goes on by itself when
// it has room. A pull that fails for want of room is no failure of the branch: it is due
// at once, for others.
func TestNoRoom(t *testing.T) {
	var full atomic.Bool
	began := make(chan time.Time, 9)
	inWorldWith(t, func(o *Options) {
		o.Room = func() error {
			if full.Load() {
				return errors.New("no room")
			}
			return nil
		}
	}, func(context.Context) error {
		began <- time.Now()
		if len(began) == 1 {
			full.Store(true)
			return errors.New("the disk is full")
		}
		return nil
	}, func(t *testing.T, w *world, p *process) {
		time.Sleep(10 * time.Minute)
		r := w.row("b0")
		if len(began) != 1 || r.holder != "" || r.token != 1 || r.failures != 0 || r.due.After(w.start.Add(10*time.Second)) {
			t.Errorf("without room: %d runs, %+v", len(began), r)
		}
		metrics := prometheus.NewRegistry()
		metrics.MustRegister(p.scheduler.Metrics()...)
		if p.scheduler.Problem() != "no room" || metric(t, metrics, "repoglot_leases_paused") != 1 {
			t.Errorf("the problem is %q", p.scheduler.Problem())
		}
		full.Store(false)
		time.Sleep(10 * time.Second)
		if len(began) != 2 || p.scheduler.Problem() != "" || metric(t, metrics, "repoglot_leases_paused") != 0 {
			t.Errorf("with room again: %d runs, %q", len(began), p.scheduler.Problem())
		}
	})
	lacking := New(Options{Table: &process{}, Workers: 1, Has: func(branch string) bool { return branch == "b" }})
	lacking.Set([]Job{{Key: "c"}, {Key: "b"}, {Key: "a"}, {Key: "remote", Host: "h"}})
	if got := lacking.Lacks(); !slices.Equal(got, []string{"a", "c"}) {
		t.Errorf("a process lacks %q", got)
	}
	if problem := New(Options{Table: &process{}, Room: func() error { return errors.New("no room") }}).Problem(); problem != "" {
		t.Errorf("a process that does not pull says %q", problem)
	}
}

// TestFullDatabase: while the disk of the database is full, a process says so and tries a
// branch now and then. That is no failure of the branch, which goes on when there is room.
func TestFullDatabase(t *testing.T) {
	var runs, room atomic.Int64
	inWorldWith(t, func(o *Options) { o.Workers = 2 }, func(context.Context) error {
		runs.Add(1)
		if room.Load() == 0 {
			return errFull
		}
		return nil
	}, func(t *testing.T, w *world, p *process) {
		time.Sleep(10 * time.Minute)
		r := w.row("b0")
		if n := runs.Load(); n < 100 || n > 125 || r.failures != 0 {
			t.Errorf("%d runs, %+v", n, r)
		}
		if problem := p.scheduler.Problem(); problem != store.ErrFull.Error() {
			t.Errorf("the problem is %q", problem)
		}
		room.Store(1)
		before := runs.Load()
		time.Sleep(10 * time.Second)
		if n := runs.Load(); n != before+1 || p.scheduler.Problem() != "" {
			t.Errorf("with room: %d runs more, %q", n-before, p.scheduler.Problem())
		}
	})
}

// metric is the value of a gauge.
func metric(t *testing.T, g prometheus.Gatherer, name string) float64 {
	t.Helper()
	families, err := g.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() == name {
			return f.GetMetric()[0].GetGauge().GetValue()
		}
	}
	t.Fatalf("%s is missing", name)
	return 0
}

// TestRemovedJob: a run whose job is removed is cancelled, and the lease given back.
func TestRemovedJob(t *testing.T) {
	causes := make(chan error, 1)
	inWorld(t, func(ctx context.Context) error {
		<-ctx.Done()
		causes <- context.Cause(ctx)
		return context.Cause(ctx)
	}, func(t *testing.T, w *world, p *process) {
		time.Sleep(time.Minute)
		w.mu.Lock()
		held := w.rows["b0"].holder
		w.mu.Unlock()
		if held != "P" {
			t.Errorf("held by %q", held)
		}
		if !p.scheduler.Trigger("b0") || p.scheduler.Trigger("unknown") {
			t.Error("what has a job is not known")
		}
		p.scheduler.Set(nil)
		if cause := <-causes; !errors.Is(cause, ErrRemoved) {
			t.Errorf("the cause is %v", cause)
		}
		time.Sleep(time.Second)
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.rows["b0"].holder != "" {
			t.Error("the lease was not given back")
		}
	})
}

// TestLeaseStates: states follow the table, and the first round ends when every branch was
// pulled.
func TestLeaseStates(t *testing.T) {
	ended := make(chan struct{})
	inWorld(t, func(context.Context) error {
		time.Sleep(10 * time.Second)
		return nil
	}, func(t *testing.T, _ *world, p *process) {
		time.Sleep(5 * time.Second)
		if list := p.scheduler.States(); len(list) != 1 || list[0].Finished() {
			t.Errorf("during the first pull: %+v", list)
		}
		<-p.scheduler.FirstRound()
		if list := p.scheduler.States(); len(list) != 1 || list[0].Status != OK || list[0].LastEnd.IsZero() {
			t.Errorf("after the first round: %+v", list)
		}
		close(ended)
	})
	<-ended
	lacks := cluster.Process{Work: cluster.WorkPull, Seen: day(0), Lacks: []string{"x"}}
	for _, c := range []struct {
		m    cluster.MirrorState
		want Status
		says string
	}{
		{cluster.MirrorState{Mirror: cluster.Mirror{Host: "h"}, Due: day(-1)}, Pending, ""},
		{cluster.MirrorState{Mirror: cluster.Mirror{Branch: "x"}, Due: day(-1)}, Failed, cluster.Nowhere},
		{cluster.MirrorState{Mirror: cluster.Mirror{Branch: "x"}, Due: day(-1), Ended: day(-2)}, Failed, cluster.Nowhere},
		{cluster.MirrorState{Mirror: cluster.Mirror{Branch: "x"}, Due: day(1), Ended: day(-2)}, OK, ""},
		{cluster.MirrorState{Due: day(0)}, Pending, ""},
		{cluster.MirrorState{Holder: "p", Expires: day(1), Problem: "x", Ended: day(-1)}, Running, "x"},
		{cluster.MirrorState{Problem: "x", Ended: day(-1)}, Failed, "x"},
		{cluster.MirrorState{Ended: day(-1)}, OK, ""},
	} {
		s := stateOf(&c.m, &cluster.State{At: day(0), Processes: []cluster.Process{lacks}})
		if s.Finished() != (s.Status == Failed || !c.m.Ended.IsZero()) {
			t.Errorf("%+v: finished %v", c.m, s.Finished())
		}
		if s.Status != c.want || (s.Err == nil) != (c.says == "") || s.Err != nil && !strings.Contains(s.Err.Error(), c.says) {
			t.Errorf("%+v: %v %v", c.m, s.Status, s.Err)
		}
	}
}

func day(n int) time.Time { return time.Date(2026, 1, 10+n, 0, 0, 0, 0, time.UTC) }
