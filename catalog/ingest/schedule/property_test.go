package schedule

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"
)

// An action is one step of a randomTest.
type action struct {
	kind string // set, trigger, outage, repair, wait
	jobs []jobSpec
	key  string
	host string
	wait time.Duration
}

// A jobSpec describes a Job of a randomTest.
type jobSpec struct {
	key, host      string
	interval, last time.Duration
	stubborn       bool // it ends its step when it is cancelled
	broken         bool // it fails by itself as long as the play goes on
}

// A randomTest is a random sequence of actions.
type randomTest struct {
	workers, perHost int
	actions          []action
}

var propertyHosts = []string{"", "h", "i", "j"}

func drawTest(rt *rapid.T) randomTest {
	keys := rapid.SampledFrom([]string{"a", "b", "c", "d", "e", "f", "g", "k", "l", "m"})
	hosts := rapid.SampledFrom(propertyHosts)
	seconds := func(of ...int) *rapid.Generator[time.Duration] {
		return rapid.Map(rapid.SampledFrom(of), func(n int) time.Duration { return time.Duration(n) * time.Second })
	}
	spec := rapid.Custom(func(rt *rapid.T) jobSpec {
		return jobSpec{
			key: keys.Draw(rt, "key"), host: hosts.Draw(rt, "host"),
			interval: seconds(0, 10, 300).Draw(rt, "interval"), last: seconds(0, 1, 7, 100).Draw(rt, "last"),
			stubborn: rapid.Bool().Draw(rt, "stubborn"), broken: rapid.IntRange(0, 4).Draw(rt, "broken") == 0,
		}
	})
	return randomTest{
		workers: rapid.IntRange(1, 5).Draw(rt, "workers"),
		perHost: rapid.IntRange(1, 4).Draw(rt, "perHost"),
		actions: rapid.SliceOfN(rapid.Custom(func(rt *rapid.T) action {
			a := action{kind: rapid.SampledFrom([]string{"set", "trigger", "trigger", "outage", "repair", "wait", "wait"}).Draw(rt, "kind")}
			switch a.kind {
			case "set":
				a.jobs = rapid.SliceOfN(spec, 0, 12).Draw(rt, "jobs")
			case "trigger":
				a.key = keys.Draw(rt, "key")
			case "outage", "repair":
				a.host = hosts.Draw(rt, "host")
			case "wait":
				a.wait = seconds(0, 1, 3, 10, 60, 1000).Draw(rt, "wait")
			}
			return a
		}), 1, 40).Draw(rt, "acts"),
	}
}

// TestProperties: in any sequence of events the limits hold, no job and no
// trigger is lost, no run that may start waits, and after a repair all jobs run
// at their intervals again.
func TestProperties(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		sc := drawTest(rt)
		var wrongs []string
		synctest.Test(t, func(t *testing.T) { wrongs = sc.run(t) })
		if len(wrongs) > 0 {
			rt.Fatalf("%d workers, %d per host: %q", sc.workers, sc.perHost, wrongs)
		}
	})
}

// randomRun is shared by the runs of a randomTest and the test. fixture.mu
// guards its fields.
type randomRun struct {
	*fixture
	outage map[string]bool
	over   bool                 // no job is broken any more
	starts map[string]time.Time // last start by key
	asked  map[string]time.Time // last accepted trigger by key
}

// run executes the actions and returns the errors found.
func (sc randomTest) run(t *testing.T) []string {
	p := newFixture(t, Options{Workers: sc.workers, Backoff: Backoff{First: 30 * time.Second, Max: 5 * time.Minute}, Rand: func() float64 { return 0.75 }})
	p.alone.perHost = sc.perHost
	h := &randomRun{fixture: p, outage: map[string]bool{}, starts: map[string]time.Time{}, asked: map[string]time.Time{}}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- p.Run(ctx) }()
	for _, a := range sc.actions {
		h.do(a)
		synctest.Wait()
		h.check(sc)
	}
	h.do(action{kind: "heal"})
	p.wait(time.Hour) // past any backoff and any queue
	h.check(sc)
	h.checkWell()
	cancel()
	if err := <-done; err != nil {
		h.wrong("Run = %v", err)
	}
	return p.wrongs
}

func (h *randomRun) wrong(format string, args ...any) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.wrongs = append(h.wrongs, fmt.Sprintf(format, args...))
}

func (h *randomRun) do(a action) {
	switch a.kind {
	case "set":
		// There is always a job on another host.
		jobs := []Job{h.jobOf(jobSpec{key: "anchor"})}
		for _, spec := range a.jobs {
			jobs = append(jobs, h.jobOf(spec))
		}
		h.Set(jobs)
		h.mu.Lock()
		for key := range h.asked {
			if !slices.ContainsFunc(jobs, func(j Job) bool { return j.Key == key }) {
				delete(h.asked, key)
			}
		}
		h.mu.Unlock()
	case "trigger":
		if h.Trigger(a.key) {
			h.mu.Lock()
			h.asked[a.key] = time.Now()
			h.mu.Unlock()
		}
	case "outage", "repair":
		h.mu.Lock()
		h.outage[a.host] = a.kind == "outage"
		h.mu.Unlock()
	case "wait":
		time.Sleep(a.wait)
	case "heal":
		h.mu.Lock()
		clear(h.outage)
		h.over = true
		h.mu.Unlock()
	}
}

func (h *randomRun) jobOf(spec jobSpec) Job {
	return h.job(spec.key, spec.host, spec.interval, func(ctx context.Context) error {
		h.mu.Lock()
		h.starts[spec.key] = time.Now()
		h.mu.Unlock()
		// Not time.After: a channel timer that is due at once crashes the race
		// detector of Go 1.26.8 within a bubble now and then (SIGSEGV below
		// runtime.(*timer).maybeRunChan).
		over := make(chan struct{})
		defer time.AfterFunc(spec.last, func() { close(over) }).Stop()
		select {
		case <-over:
		case <-ctx.Done():
			if !spec.stubborn {
				return ctx.Err()
			}
			time.Sleep(5 * time.Second)
		}
		h.mu.Lock()
		defer h.mu.Unlock()
		if h.outage[spec.host] || spec.broken && !h.over {
			return errDead
		}
		return nil
	})
}

// check reports errors that must not exist at any time when everything is idle.
func (h *randomRun) check(sc randomTest) {
	for _, host := range propertyHosts {
		limit := sc.workers
		if host != "" {
			limit = min(limit, sc.perHost)
			if sc.workers > 1 {
				limit = min(limit, sc.workers-1) // one is left for the others
			}
		}
		if n := h.atMost("host " + host); n > limit {
			h.wrong("%d runs at a time on host %q", n, host)
		}
	}
	if n := h.atMost("all"); n > sc.workers {
		h.wrong("%d runs at a time", n)
	}
	broken := h.alone.inconsistent()
	if broken == "" && h.set {
		if key := h.mayRun(); key != "" {
			broken = key + " may run and does not"
		}
	}
	if broken != "" {
		h.wrong("%s", broken)
	}
}

// inconsistent returns the inconsistencies in the table.
func (m *memory) inconsistent() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	jobs, runs := map[*host]int{}, map[*host]int{}
	for _, h := range m.running {
		runs[h]++
	}
	for key, r := range m.rows {
		jobs[r.host]++
		switch {
		case r.planned && r.token != 0:
			return key + " is planned while it runs"
		case !r.planned && r.token == 0 && (r.Status != OK || r.job.Interval > 0 || r.triggered):
			return key + " is lost: it neither runs nor waits"
		case r.token != 0 && m.running[r.token] == nil:
			return key + " has a run that ended"
		case m.hosts[r.host.name] != r.host:
			return key + " is on a host that is forgotten"
		}
	}
	for name, h := range m.hosts {
		if h.running != runs[h] || h.jobs != jobs[h] {
			return fmt.Sprintf("host %q counts %d runs, %d jobs; there are %d, %d", name, h.running, h.jobs, runs[h], jobs[h])
		}
		if h.jobs == 0 && h.running == 0 {
			return "host " + name + " is left over"
		}
	}
	return ""
}

// mayRun is a job that may run and does not, or "". Everything is idle.
func (h *randomRun) mayRun() string {
	if room := h.room(); room != nil {
		if l, taken, _ := h.alone.Take(h.t.Context(), room); taken {
			return l.Branch
		}
	}
	return ""
}

// checkWell reports errors that must not exist an hour after everything was
// repaired.
func (h *randomRun) checkWell() {
	if h.set && !h.Ready() {
		h.wrong("the first round does not end")
	}
	for _, st := range h.States() {
		h.mu.Lock()
		start, asked, heard := h.starts[st.Key], h.asked[st.Key], true
		if !asked.IsZero() {
			heard = !start.Before(asked)
		}
		h.mu.Unlock()
		if !heard {
			h.wrong("the trigger of %s was lost", st.Key)
		}
		if st.Failures > 0 {
			h.wrong("%s still fails", st.Key)
		}
		e := h.alone.rows[st.Key]
		// Ten jobs of 100 s each on one worker, and the interval with jitter.
		if e.job.Interval > 0 && time.Since(st.LastStart) > e.job.Interval*11/10+20*100*time.Second {
			h.wrong("%s is not polled any more, last at %v", st.Key, st.LastStart.Sub(h.start))
		}
	}
}
