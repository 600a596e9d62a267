package schedule

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/repoglot/repoglot/catalog/store/cluster"
)

func TestBackoffDelay(t *testing.T) {
	const s, m, h = time.Second, time.Minute, time.Hour
	usual := New(Options{}).opts.Backoff
	for _, test := range []struct {
		backoff  Backoff
		interval time.Duration
		want     []time.Duration // after 1, 2, … failures
	}{
		{usual, 0, []time.Duration{30 * s, m, 2 * m, 4 * m, 8 * m, 16 * m, 32 * m, h, h}},
		{usual, 5 * m, []time.Duration{30 * s, m, 2 * m, 4 * m, 8 * m, 16 * m, 32 * m, h, h}},
		{usual, 24 * h, []time.Duration{30 * s, m}},
		{usual, 2 * s, []time.Duration{2 * s, 4 * s, 8 * s, 16 * s, 32 * s, 32 * s}},
		{Backoff{First: 10 * s, Max: 25 * s}, 0, []time.Duration{10 * s, 20 * s, 25 * s, 25 * s}},
		{Backoff{First: h, Max: m}, 0, []time.Duration{m, m}},
		{Backoff{30 * s, math.MaxInt64}, math.MaxInt64, []time.Duration{30 * s}},
	} {
		var got []time.Duration
		for n := range test.want {
			got = append(got, test.backoff.delay(n+1, test.interval))
		}
		if d := cmp.Diff(test.want, got); d != "" {
			t.Errorf("%v, interval %v (-want +got):\n%s", test.backoff, test.interval, d)
		}
	}
	if got := (Backoff{1, math.MaxInt64}).delay(math.MaxInt, 0); got != math.MaxInt64 {
		t.Errorf("delay after very many failures = %v", got)
	}
}

func TestFailedJobBacksOffAndRecovers(t *testing.T) {
	inFakeTime(t, Options{}, func(t *testing.T, p *fixture) {
		var broken atomic.Bool
		broken.Store(true)
		p.Set([]Job{p.job("a", "", time.Minute, func(context.Context) error {
			if broken.Load() {
				return errDead
			}
			return nil
		})})
		p.wait(5 * time.Minute)
		p.wantRuns("a@0s", "a@30s", "a@1m30s", "a@3m30s")
		st := p.wantStatus("a", Failed)
		if st.Err != errDead || st.Failures != 4 || p.count("a") != 4 || st.Next.Sub(p.start) != 7*time.Minute+30*time.Second {
			t.Errorf("state = %+v", st)
		}
		broken.Store(false)
		p.wait(4 * time.Minute)
		p.wantRuns("a@7m30s", "a@8m30s")
		if st := p.wantStatus("a", OK); st.Err != nil || st.Failures != 0 {
			t.Errorf("state after recovery = %+v", st)
		}
	})
}

// A failure that is excused makes no job wait longer, takes no host down, and is logged
// once.
func TestExcusedFailures(t *testing.T) {
	full := errors.New("the disk is full")
	var log bytes.Buffer
	opts := Options{Excused: func(err error) bool { return errors.Is(err, full) }, Logger: slog.New(slog.NewTextHandler(&log, nil))}
	inFakeTime(t, opts, func(t *testing.T, p *fixture) {
		var broken atomic.Bool
		broken.Store(true)
		var jobs []Job
		for _, key := range []string{"a", "b", "c"} {
			jobs = append(jobs, p.job(key, "example.com", time.Minute, func(context.Context) error {
				if broken.Load() {
					return fmt.Errorf("storing: %w", full)
				}
				return nil
			}))
		}
		p.Set(jobs)
		p.wait(50 * time.Second)
		p.wantRuns("a@0s", "b@0s", "c@0s", "a@30s", "b@30s", "c@30s")
		if st := p.wantStatus("a", Failed); !errors.Is(st.Err, full) || st.Failures != 0 {
			t.Errorf("state = %+v", st)
		}
		broken.Store(false)
		p.wait(20 * time.Second)
		p.wantRuns("a@1m0s", "b@1m0s", "c@1m0s")
		p.wantStatus("a", OK)
	})
	if n := strings.Count(log.String(), "\n"); n != 1 || !strings.Contains(log.String(), "failures=0") {
		t.Errorf("the log: %s", &log)
	}
}

// A job without interval is retried as long as it fails.
func TestFailedJobWithoutPolling(t *testing.T) {
	inFakeTime(t, Options{}, func(t *testing.T, p *fixture) {
		p.Set([]Job{p.job("a", "", 0, dead)})
		p.wait(90 * time.Second)
		p.wantRuns("a@0s", "a@30s", "a@1m30s")
	})
}

func TestDownHostGetsOneRunAtATime(t *testing.T) {
	inFakeTime(t, Options{Workers: 20}, func(t *testing.T, p *fixture) {
		var broken atomic.Bool
		broken.Store(true)
		var jobs []Job
		for i := range 12 {
			jobs = append(jobs, p.job(fmt.Sprintf("j%02d", i), "h", 10*time.Minute, func(ctx context.Context) error {
				if broken.Load() {
					return lasting(time.Minute, errDead)(ctx)
				}
				return nil
			}))
		}
		p.Set(jobs)
		p.wait(3*time.Minute + time.Second)
		if p.atMost("host h") != 4 || !p.Ready() {
			t.Errorf("%d runs at a time in the first round, want four: nothing waits for a host that is down", p.atMost("host h"))
		}
		p.wait(time.Minute) // runs that began in the first round end
		p.mu.Lock()
		clear(p.most)
		p.mu.Unlock()
		p.wait(30 * time.Minute)
		if n := p.atMost("host h"); n != 1 {
			t.Errorf("%d runs at a time on a host that is down", n)
		}
		p.Trigger("j00")
		p.Trigger("j01")
		p.wait(time.Second)
		if n := p.atMost("host h"); n < 2 {
			t.Error("a trigger waits for a host that is down")
		}
		broken.Store(false)
		p.wait(time.Hour)
		for _, j := range jobs {
			p.wantStatus(j.Key, OK)
		}
	})
}

// Ten repositories are deleted; the other ninety keep their intervals.
func TestBrokenJobsDoNotSlowTheirNeighbours(t *testing.T) {
	inFakeTime(t, Options{Workers: 4}, func(t *testing.T, p *fixture) {
		var jobs []Job
		for i := range 100 {
			work := dead
			if i >= 10 {
				work = good
			}
			jobs = append(jobs, p.job(fmt.Sprintf("j%02d", i), "h", 5*time.Minute, work))
		}
		p.Set(jobs)
		p.wait(time.Second)
		if !p.Ready() {
			t.Error("the first round did not end at once")
		}
		p.wait(10 * time.Hour)
		for i := 10; i < 100; i++ { // each pause varies by a tenth: the sum of 120 by 0.63 of one, of which this is five
			if n := p.count(fmt.Sprintf("j%02d", i)); n < 116 || n > 124 {
				t.Errorf("job %d ran %d times in ten hours, want about 120", i, n)
			}
		}
		if n := p.count("j00"); n > 20 {
			t.Errorf("a broken job ran %d times in ten hours", n)
		}
	})
}

func TestTriggerReachesADownHost(t *testing.T) {
	inFakeTime(t, Options{}, func(t *testing.T, p *fixture) {
		p.Set([]Job{p.job("a", "h", time.Minute, dead), p.job("b", "h", time.Minute, dead)})
		p.wait(time.Second)
		p.Trigger("b")
		p.wantRuns("a@0s", "b@0s", "b@1s")
	})
}

// A probe that was due while all workers were busy starts when one is free.
func TestProbeWaitsForAWorker(t *testing.T) {
	inFakeTime(t, Options{Workers: 1}, func(t *testing.T, p *fixture) {
		p.Set([]Job{p.job("a", "h", time.Minute, dead), p.job("long", "", 0, lasting(time.Hour, nil))})
		p.wait(time.Hour + time.Second)
		p.wantRuns("a@0s", "long@0s", "a@1h0m0s")
	})
}

func TestRemovingTheFailingJobsLiftsTheHost(t *testing.T) {
	inFakeTime(t, Options{Workers: 8}, func(t *testing.T, p *fixture) {
		jobs := []Job{p.job("good", "h", 20*time.Second, good)}
		for i := range 3 {
			jobs = append(jobs, p.job(fmt.Sprint(i), "h", time.Minute, lasting(time.Second, errDead)))
		}
		p.Set(jobs)
		p.wait(10 * time.Second)
		if c := p.alone.statistics(); c.down != 1 || c.failing != 3 {
			t.Errorf("census = %+v, want one host down", c)
		}
		p.Set(jobs[:1])
		if c := p.alone.statistics(); c.down != 0 || c.failing != 0 {
			t.Errorf("census = %+v, want no host down", c)
		}
		p.take()
		p.wait(15 * time.Second)
		p.wantRuns("good@20s")
	})
}

// A host that is down is tried although a long local run leaves only one worker.
func TestProbeBesideALongRun(t *testing.T) {
	inFakeTime(t, Options{Workers: 2}, func(t *testing.T, p *fixture) {
		p.Set([]Job{p.job("long", "", 0, lasting(time.Hour, nil)), p.job("a", "h", time.Minute, dead)})
		p.wait(100 * time.Second)
		p.wantRuns("long@0s", "a@0s", "a@30s", "a@1m30s")
	})
}

// When all hosts are down, no worker is kept free for one that is up.
func TestProbeBesideAHangingProbe(t *testing.T) {
	inFakeTime(t, Options{Workers: 2}, func(t *testing.T, p *fixture) {
		first := true
		p.Set([]Job{
			p.job("a", "h", time.Minute, func(ctx context.Context) error {
				if first {
					first = false
					return errDead
				}
				return hang(ctx)
			}),
			p.job("b", "i", time.Minute, dead),
		})
		p.wait(100 * time.Second)
		p.wantRuns("a@0s", "b@0s", "a@30s", "b@30s", "b@1m30s")
	})
}

func TestHostGoesDown(t *testing.T) {
	for _, test := range []struct {
		name, runs string // keys of failed runs; + is a success of any job
		jobs       int
		want       bool
	}{
		{"h", "a", 1, true},
		{"h", "a", 2, false},
		{"h", "ab", 2, true},
		{"h", "ab", 100, false},
		{"h", "abc", 100, true},
		{"h", "aaaaa", 100, false}, // one broken repository
		{"h", "ab+c", 100, false},
		{"h", "abc+", 100, false},
		{"", "abc", 3, false}, // local ones share nothing
	} {
		h := host{name: test.name, jobs: test.jobs, failing: map[string]bool{}}
		for _, key := range test.runs {
			var o cluster.Outcome
			if key != '+' {
				o.Err = errDead
			}
			record(&row{job: Job{Key: string(key)}, host: &h}, &h, &o, time.Unix(0, 0))
		}
		if h.down() != test.want {
			t.Errorf("host %q with %d jobs after %q: down %t, want %t", test.name, test.jobs, test.runs, h.down(), test.want)
		}
	}
}
