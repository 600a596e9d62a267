package schedule

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"
)

func TestIntervalCountsFromTheEndOfARun(t *testing.T) {
	inFakeTime(t, Options{}, func(t *testing.T, p *fixture) {
		p.Set([]Job{
			p.job("a", "h", time.Minute, lasting(10*time.Second, nil)),
			p.job("once", "", 0, good),
			p.job("negative", "", -time.Second, good),
		})
		p.wait(150 * time.Second)
		p.wantRuns("a@0s", "once@0s", "negative@0s", "a@1m10s", "a@2m20s")
		if st := p.wantStatus("once", OK); !st.Next.IsZero() {
			t.Errorf("Next of a job without interval = %v, want none", st.Next)
		}
	})
}

func TestJitter(t *testing.T) {
	for r, want := range map[float64]time.Duration{0: 90 * time.Second, 0.5: 100 * time.Second, 0.75: 105 * time.Second} {
		if got := jitter(100*time.Second, r); got != want {
			t.Errorf("at %v: %v, want %v", r, got, want)
		}
	}
	if got := jitter(1<<62, 0.999); got < 1<<62 {
		t.Errorf("jitter of a very long time = %v, an overflow", got)
	}
}

func TestJitterSpreadsPolls(t *testing.T) {
	r := 0.0
	inFakeTime(t, Options{Rand: func() float64 { r += 0.25; return r - 0.25 }}, func(t *testing.T, p *fixture) {
		p.Set([]Job{p.job("a", "h", 100*time.Second, good)})
		p.wait(300 * time.Second)
		p.wantRuns("a@0s", "a@1m30s", "a@3m5s", "a@4m45s") // 90, 95, 100 s
	})
}

func TestDefaults(t *testing.T) {
	s := New(Options{})
	if s.opts.Backoff != (Backoff{30 * time.Second, time.Hour}) || s.opts.Length != DefaultLength || s.alone.perHost != 4 {
		t.Errorf("options %+v, per host %d", s.opts, s.alone.perHost)
	}
}

func TestLimits(t *testing.T) {
	for _, test := range []struct {
		workers, perHost int
		hosts            []string // one job for each
		want             map[string]int
	}{
		{3, 9, []string{"", "", "", "", ""}, map[string]int{"host ": 3, "all": 3}},
		{9, 2, []string{"h", "h", "h", "h"}, map[string]int{"host h": 2, "all": 2}},
		{9, 2, []string{"h", "i", "h", "i", "h", "i"}, map[string]int{"host h": 2, "host i": 2, "all": 4}},
		{9, 2, []string{"", "", "", "h", "h", "h"}, map[string]int{"host ": 3, "host h": 2, "all": 5}},
		{2, 4, []string{"h", "h", "h", "h"}, map[string]int{"host h": 2, "all": 2}}, // alone it may take all
		{1, 4, []string{"h", "i", ""}, map[string]int{"host h": 1, "host i": 1, "host ": 1, "all": 1}},
	} {
		t.Run(fmt.Sprintf("workers=%d,perhost=%d,hosts=%q", test.workers, test.perHost, test.hosts), func(t *testing.T) {
			inFakeTime(t, Options{Workers: test.workers}, func(t *testing.T, p *fixture) {
				p.alone.perHost = test.perHost
				var jobs []Job
				for i, h := range test.hosts {
					jobs = append(jobs, p.job(fmt.Sprint(i), h, 0, lasting(time.Second, nil)))
				}
				p.Set(jobs)
				p.wait(time.Minute)
				for h, n := range test.want {
					if p.atMost(h) != n {
						t.Errorf("%s: %d runs at a time, want %d", h, p.atMost(h), n)
					}
				}
				if !p.Ready() {
					t.Error("not all jobs ran")
				}
			})
		})
	}
}

func TestRunsInTheOrderGiven(t *testing.T) {
	inFakeTime(t, Options{Workers: 1}, func(t *testing.T, p *fixture) {
		var jobs []Job
		var want []string
		for i := range 20 {
			jobs = append(jobs, p.job(fmt.Sprintf("%d", 19-i), "", 0, lasting(time.Second, nil)))
			want = append(want, fmt.Sprintf("%d@%ds", 19-i, i))
		}
		p.Set(jobs)
		p.wait(20 * time.Second)
		p.wantRuns(want...)
	})
}

// A host without runs goes before a host with a long queue.
func TestHostsTakeTurns(t *testing.T) {
	inFakeTime(t, Options{Workers: 3}, func(t *testing.T, p *fixture) {
		var jobs []Job
		for i := range 10 {
			jobs = append(jobs, p.job(fmt.Sprint(i), "", 0, lasting(time.Minute, nil)))
		}
		p.Set(jobs)
		p.wait(time.Second)
		p.Set(append(jobs, p.job("x", "h", 0, lasting(time.Minute, nil))))
		p.wait(time.Minute)
		p.wantRuns("0@0s", "1@0s", "2@0s", "x@1m0s", "3@1m0s", "4@1m0s")
	})
}

func TestHangingHostDelaysNobody(t *testing.T) {
	for _, workers := range []int{2, 3, 4, 8} {
		t.Run(fmt.Sprintf("workers=%d", workers), func(t *testing.T) {
			inFakeTime(t, Options{Workers: workers}, func(t *testing.T, p *fixture) {
				var jobs []Job
				for i := range 50 {
					jobs = append(jobs, p.job(fmt.Sprintf("hang%d", i), "slow", time.Minute, hang))
				}
				jobs = append(jobs, p.job("local", "", time.Second, good), p.job("remote", "fast", time.Second, good))
				p.Set(jobs)
				p.wait(10*time.Second + 1)
				for _, key := range []string{"local", "remote"} {
					if n := p.count(key); n != 11 {
						t.Errorf("%s ran %d times beside a hanging host, want 11", key, n)
					}
				}
				if n := p.atMost("host slow"); n == 0 || n > min(4, workers-1) {
					t.Errorf("%d runs on the slow host", n)
				}
			})
		})
	}
}

// More hosts than workers are down. Each of their probes hangs for longer than the
// wait between two of them.
func TestManyDeadHostsDelayNobody(t *testing.T) {
	for _, workers := range []int{2, 4} {
		t.Run(fmt.Sprintf("workers=%d", workers), func(t *testing.T) {
			inFakeTime(t, Options{Workers: workers, Backoff: Backoff{time.Second, time.Second}}, func(t *testing.T, p *fixture) {
				var jobs []Job
				for i := range 10 {
					jobs = append(jobs, p.job(fmt.Sprintf("dead%d", i), fmt.Sprintf("host%d", i), time.Second, lasting(time.Minute, errDead)))
				}
				p.Set(jobs)
				p.wait(time.Hour) // all are known to be down
				if !p.Ready() {
					t.Error("the first round did not end")
				}
				p.Set(append(jobs, p.job("local", "", time.Second, good), p.job("remote", "fast", time.Second, good)))
				// The last probe that began before there was anybody to spare for.
				p.wait(time.Minute)
				before := p.count("local") + p.count("remote")
				p.wait(10 * time.Minute)
				if n := p.count("local") + p.count("remote") - before; n < 1190 {
					t.Errorf("%d runs in ten minutes, want about 1200", n)
				}
				for i := range 10 {
					if st, _ := p.State(fmt.Sprintf("dead%d", i)); time.Since(st.LastStart) > 11*time.Minute {
						t.Errorf("dead host %d is not tried any more", i)
					}
				}
			})
		})
	}
}

func TestPanicIsAnErrorOfTheJobAlone(t *testing.T) {
	var log strings.Builder
	cause := errors.New("cause")
	inFakeTime(t, Options{Logger: textLog(&log)}, func(t *testing.T, p *fixture) {
		p.Set([]Job{
			p.job("text", "", 0, func(context.Context) error { panic("boom") }),
			p.job("error", "", 0, func(context.Context) error { panic(cause) }),
			p.job("goexit", "", 0, func(context.Context) error { runtime.Goexit(); return nil }),
			{Key: "nil"},
			p.job("fine", "", time.Second, good),
		})
		p.wait(time.Second)
		for key, text := range map[string]string{"text": "boom", "error": "cause", "goexit": "Goexit", "nil": "nil pointer"} {
			st := p.wantStatus(key, Failed)
			var pe *PanicError
			if !errors.As(st.Err, &pe) || !strings.Contains(pe.Error(), text) || strings.Contains(pe.Error(), "\n") {
				t.Errorf("%s: error %v, want a PanicError with %q in one line", key, st.Err, text)
			}
		}
		if st, _ := p.State("error"); !errors.Is(st.Err, cause) {
			t.Errorf("%v does not wrap the error that was given to panic", st.Err)
		}
		if n := p.count("fine"); n != 2 {
			t.Errorf("the other job ran %d times, want 2", n)
		}
		p.wait(29 * time.Second)
		if n := p.count("text"); n != 2 {
			t.Errorf("the panicking job ran %d times, want a second after its backoff", n)
		}
	})
	for _, want := range []string{"level=ERROR", "boom", "schedule_test.go"} { // the stack is in the log
		if !strings.Contains(log.String(), want) {
			t.Errorf("log lacks %q:\n%s", want, log.String())
		}
	}
}
