package schedule

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"
)

func TestTrigger(t *testing.T) {
	inFakeTime(t, Options{}, func(t *testing.T, p *fixture) {
		p.Set([]Job{p.job("a", "h", time.Minute, good), p.job("b", "", 0, good)})
		p.wantRuns("a@0s", "b@0s")
		p.wait(10 * time.Second)
		if !p.Trigger("a") || !p.Trigger("b") || p.Trigger("c") {
			t.Error("Trigger must tell known keys from unknown ones")
		}
		p.wantRuns("a@10s", "b@10s")
		p.wait(60 * time.Second) // the interval starts anew
		p.wantRuns("a@1m10s")
	})
}

func TestTriggerDuringRunMakesExactlyOneMore(t *testing.T) {
	inFakeTime(t, Options{}, func(t *testing.T, p *fixture) {
		p.Set([]Job{p.job("a", "", 0, lasting(10*time.Second, nil))})
		for range 5 {
			p.wait(time.Second)
			p.Trigger("a")
			p.Trigger("a")
		}
		p.wait(time.Minute)
		p.wantRuns("a@0s", "a@10s")
	})
}

func TestTriggerFromWithinTheRunItself(t *testing.T) {
	inFakeTime(t, Options{}, func(t *testing.T, p *fixture) {
		p.Set([]Job{p.job("a", "", 0, func(context.Context) error {
			p.mu.Lock()
			n := p.counts["a"]
			p.mu.Unlock()
			if n < 3 {
				p.Trigger("a")
			}
			return nil
		})})
		p.wantRuns("a@0s", "a@0s", "a@0s")
	})
}

func TestTriggerOverridesBackoff(t *testing.T) {
	inFakeTime(t, Options{}, func(t *testing.T, p *fixture) {
		p.Set([]Job{p.job("a", "h", 5*time.Minute, dead)})
		p.wait(10 * time.Second)
		p.Trigger("a")
		p.wantRuns("a@0s", "a@10s")
		p.wait(59 * time.Second) // second failure: a minute
		p.wantRuns()
		p.wait(time.Second)
		p.wantRuns("a@1m10s")
	})
}

func TestTriggerAfterAFailedRunInProgress(t *testing.T) {
	inFakeTime(t, Options{}, func(t *testing.T, p *fixture) {
		p.Set([]Job{p.job("a", "h", 0, lasting(time.Second, errDead))})
		synctest.Wait()
		p.Trigger("a")
		p.wait(2 * time.Second)
		p.wantRuns("a@0s", "a@1s")
	})
}

func TestTriggerGoesFirstButStarvesNobody(t *testing.T) {
	for _, host := range []string{"h", "i", ""} {
		t.Run("others on "+host, func(t *testing.T) { testTriggerStarvesNobody(t, host) })
	}
}

func testTriggerStarvesNobody(t *testing.T, host string) {
	inFakeTime(t, Options{Workers: 1}, func(t *testing.T, p *fixture) {
		work := lasting(time.Minute, nil)
		jobs := []Job{p.job("hook", "h", 0, work)}
		for i := range 10 {
			jobs = append(jobs, p.job(fmt.Sprint(i), host, 0, work))
		}
		p.Set(jobs)
		p.wait(90 * time.Second)
		p.Trigger("hook") // before 1 to 9
		p.wait(time.Minute)
		p.wantRuns("hook@0s", "0@1m0s", "hook@2m0s")
		for range 20 { // a stream of triggers
			p.Trigger("hook")
			p.wait(time.Minute)
		}
		for i := range 10 {
			if p.count(fmt.Sprint(i)) == 0 {
				t.Errorf("job %d starved by triggers", i)
			}
		}
	})
}

func TestTriggerBeforeRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, n := New(Options{Workers: 2}), 0
		s.Set([]Job{{Key: "a", Run: func(context.Context) error { n++; return nil }}})
		if !s.Trigger("a") || n != 0 {
			t.Errorf("Trigger before Run: %d runs", n)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if err := s.Run(ctx); err != nil || n != 1 {
			t.Errorf("Run = %v after %d runs, want one run, not a second for the trigger", err, n)
		}
	})
}

// A trigger goes before the first run on a host that runs nothing.
func TestTriggerGoesBeforeOtherHosts(t *testing.T) {
	inFakeTime(t, Options{Workers: 2}, func(t *testing.T, p *fixture) {
		p.Set([]Job{
			p.job("long", "", 0, lasting(time.Hour, nil)), p.job("short", "i", 0, lasting(10*time.Second, nil)),
			p.job("queued", "h", 0, good), p.job("hook", "", 0, lasting(time.Second, nil)),
		})
		p.wait(time.Second)
		p.Trigger("hook")
		p.wait(time.Minute)
		p.wantRuns("long@0s", "short@0s", "hook@10s", "queued@11s")
	})
}

func TestTriggersKeepTheirOrder(t *testing.T) {
	inFakeTime(t, Options{Workers: 1}, func(t *testing.T, p *fixture) {
		work := lasting(time.Minute, nil)
		jobs := []Job{p.job("long", "", 0, lasting(10*time.Minute, nil)), p.job("a", "", 0, work), p.job("x", "", 0, work), p.job("y", "", 0, work)}
		p.Set(jobs)
		p.wait(0)
		p.Trigger("y")
		p.Trigger("x")
		p.Trigger("y") // does not move it after x
		p.wait(4 * time.Minute)
		p.Set(append(jobs, p.job("b", "", 0, work)))
		p.wait(time.Minute)
		p.Trigger("b")
		p.wait(time.Minute)
		p.Trigger("a") // later than b's, but a was due before b
		p.wait(10 * time.Minute)
		p.wantRuns("long@0s", "y@10m0s", "x@11m0s", "a@12m0s", "b@13m0s")
	})
}
