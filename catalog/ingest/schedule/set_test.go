package schedule

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

func textLog(w io.Writer) *slog.Logger { return slog.New(slog.NewTextHandler(w, nil)) }

func TestSetKeepsTheScheduleOfOthers(t *testing.T) {
	inFakeTime(t, Options{}, func(t *testing.T, p *fixture) {
		a, b, c := p.job("a", "", time.Minute, good), p.job("b", "", time.Minute, good), p.job("c", "", time.Minute, good)
		p.Set([]Job{a, b})
		p.wait(20 * time.Second)
		p.Set([]Job{b, c})
		p.wantRuns("a@0s", "b@0s", "c@20s")
		if _, ok := p.State("a"); ok || p.Trigger("a") {
			t.Error("a removed job is still known")
		}
		p.wait(61 * time.Second)
		p.wantRuns("b@1m0s", "c@1m20s")
	})
}

func TestSetChangesAJob(t *testing.T) {
	inFakeTime(t, Options{}, func(t *testing.T, p *fixture) {
		p.Set([]Job{
			p.job("shorter", "h", time.Hour, good),
			p.job("longer", "h", time.Minute, good),
			p.job("never", "h", time.Minute, good),
			p.job("again", "h", 0, good),
			p.job("moved", "h", time.Minute, good),
			p.job("failing", "", time.Minute, dead),
		})
		p.wait(20 * time.Second)
		p.wantRuns("shorter@0s", "longer@0s", "never@0s", "again@0s", "moved@0s", "failing@0s")
		p.Set([]Job{
			p.job("shorter", "h", 10*time.Second, good),
			p.job("longer", "h", 2*time.Minute, good),
			p.job("never", "h", 0, good),
			p.job("again", "h", 3*time.Minute, good),
			p.job("moved", "i", time.Minute, good),
			p.job("failing", "", time.Hour, good), // the new Run
		})
		p.wantRuns("shorter@20s")
		p.wait(9 * time.Second)
		p.Set(nil)
		p.wantRuns()
		p.Set([]Job{p.job("x", "", 0, good)})
		p.wantRuns("x@29s")
	})
	inFakeTime(t, Options{}, func(t *testing.T, p *fixture) {
		p.Set([]Job{
			p.job("longer", "h", time.Minute, good), p.job("again", "h", 0, good),
			p.job("moved", "h", time.Minute, good), p.job("failing", "", time.Minute, dead),
		})
		p.wait(20 * time.Second)
		p.Set([]Job{
			p.job("longer", "h", 2*time.Minute, good), p.job("again", "h", 3*time.Minute, good),
			p.job("moved", "i", time.Minute, good), p.job("failing", "", time.Hour, good),
		})
		p.take()
		p.wait(170 * time.Second)
		p.wantRuns("failing@30s", "moved@1m0s", "moved@2m0s", "longer@2m0s", "moved@3m0s", "again@3m0s")
	})
}

func TestSetDuplicateKeys(t *testing.T) {
	inFakeTime(t, Options{}, func(t *testing.T, p *fixture) {
		p.Set([]Job{p.job("a", "h", 0, dead), p.job("a", "i", 0, good)})
		if st := p.wantStatus("a", OK); st.Host != "i" || len(p.States()) != 1 {
			t.Errorf("states = %+v, want the later job alone", p.States())
		}
	})
}

func TestSetCancelsAVanishedRun(t *testing.T) {
	inFakeTime(t, Options{}, func(t *testing.T, p *fixture) {
		var cause error
		p.Set([]Job{p.job("a", "h", time.Minute, func(ctx context.Context) error {
			<-ctx.Done()
			cause = context.Cause(ctx)
			return ctx.Err()
		})})
		p.wantStatus("a", Running)
		p.Set(nil)
		synctest.Wait()
		if !errors.Is(cause, ErrRemoved) {
			t.Errorf("cause = %v, want ErrRemoved", cause)
		}
		if len(p.alone.rows) != 0 || len(p.alone.hosts) != 0 || !p.Ready() {
			t.Errorf("left over: jobs %v, hosts %v", p.alone.rows, p.alone.hosts)
		}
		p.wait(time.Hour)
		p.wantRuns("a@0s")
	})
}

// The cancelled run takes a while to reach the end of its step; meanwhile the
// key comes back. Then it starts as a new job.
func TestSetBringsAKeyBackWhileItsRunEnds(t *testing.T) {
	for _, outcome := range []error{nil, errDead} {
		t.Run(fmt.Sprint(outcome), func(t *testing.T) { testSetBringsAKeyBack(t, outcome) })
	}
}

func testSetBringsAKeyBack(t *testing.T, outcome error) {
	inFakeTime(t, Options{}, func(t *testing.T, p *fixture) {
		p.alone.perHost = 1
		stubborn := func(ctx context.Context) error {
			<-ctx.Done()
			time.Sleep(10 * time.Second)
			return outcome
		}
		p.Set([]Job{p.job("a", "h", 0, stubborn)})
		p.wantRuns("a@0s")
		p.Set(nil)
		if _, ok := p.State("a"); ok || len(p.States()) > 0 || p.Trigger("a") {
			t.Error("a removed job is still known while its run ends")
		}
		p.Set([]Job{p.job("a", "i", 0, good)})
		st := p.wantStatus("a", Pending)
		if p.count("a") != 1 || p.Ready() {
			t.Errorf("state = %+v, want a new job", st)
		}
		if outcome != nil && !p.Trigger("a") { // with and without
			t.Error("the key is back, but not for Trigger")
		}
		p.wait(9 * time.Second)
		p.wantRuns()
		p.wait(time.Minute)
		p.wantRuns("a@10s")
		if st := p.wantStatus("a", OK); p.count("a") != 2 || !p.Ready() {
			t.Errorf("state = %+v", st)
		}
		if len(p.alone.hosts) != 1 || p.alone.hosts["i"] == nil {
			t.Errorf("hosts = %v, want i alone", p.alone.hosts)
		}
		p.Set(nil)
		if len(p.alone.rows) != 0 || len(p.alone.hosts) != 0 {
			t.Errorf("left over: jobs %v, hosts %v", p.alone.rows, p.alone.hosts)
		}
	})
}

// A job moves to another host while it runs: the old host keeps its count, and
// its failure says nothing about the new one.
func TestSetMovesARunningJob(t *testing.T) {
	inFakeTime(t, Options{}, func(t *testing.T, p *fixture) {
		p.alone.perHost = 1
		p.Set([]Job{p.job("a", "h", 0, lasting(10*time.Second, errDead))})
		p.wantStatus("a", Running)
		p.Set([]Job{p.job("a", "i", 0, good), p.job("b", "h", 0, lasting(10*time.Second, nil)), p.job("c", "i", time.Hour, good)})
		p.wait(5 * time.Second)
		p.wantRuns("a@0s", "c@0s")
		p.wait(10 * time.Second)
		p.wantRuns("b@10s")
		p.wantStatus("a", Failed)
		if c := p.alone.statistics(); c.down != 0 {
			t.Errorf("census = %+v, want no host down", c)
		}
		p.wait(30 * time.Second)
		p.wantRuns("a@40s")
	})
}

func TestFirstRoundAndReady(t *testing.T) {
	closed := func(ch <-chan struct{}) bool {
		select {
		case <-ch:
			return true
		default:
			return false
		}
	}
	inFakeTime(t, Options{}, func(t *testing.T, p *fixture) {
		check := func(when string, ready, first bool) {
			t.Helper()
			synctest.Wait()
			if p.Ready() != ready || closed(p.FirstRound()) != first {
				t.Errorf("%s: ready %t, first round %t; want %t, %t", when, p.Ready(), closed(p.FirstRound()), ready, first)
			}
		}
		check("before Set", false, false)
		fast, slow := p.job("fast", "", time.Second, dead), p.job("slow", "", 0, lasting(10*time.Second, nil))
		hanging := p.job("hanging", "", 0, hang)
		p.Set([]Job{fast, slow, hanging})
		p.wait(5 * time.Second)
		check("one of three finished, many times", false, false)
		p.wait(10 * time.Second)
		check("one still hangs", false, false)
		p.Set([]Job{fast, slow})
		check("the hanging one is gone", true, true)
		p.Set([]Job{fast, slow, hanging})
		check("it is back", false, true)
		p.Set(nil)
		check("no jobs", true, true)
	})
	inFakeTime(t, Options{}, func(t *testing.T, p *fixture) {
		p.Set(nil)
		synctest.Wait()
		if !p.Ready() || !closed(p.FirstRound()) {
			t.Error("an empty set is ready at once")
		}
	})
}

func TestStates(t *testing.T) {
	inFakeTime(t, Options{Workers: 2}, func(t *testing.T, p *fixture) {
		p.Set([]Job{
			p.job("ok", "", time.Minute, good), p.job("failed", "h", time.Minute, dead),
			p.job("running", "i", 0, hang), p.job("running2", "i", 0, lasting(time.Hour, nil)),
		})
		p.wait(time.Second)
		zero := p.start
		want := []State{
			{Key: "failed", Host: "h", Status: Failed, Err: errDead, Failures: 1, LastStart: zero, LastEnd: zero, Next: zero.Add(30 * time.Second)},
			{Key: "ok", Status: OK, LastStart: zero, LastEnd: zero, LastGood: zero, Next: zero.Add(time.Minute)},
			{Key: "running", Host: "i", Status: Running, LastStart: zero},
			{Key: "running2", Host: "i", Status: Pending, Next: zero}, // the last worker is kept for others
		}
		if d := cmp.Diff(want, p.States(), cmp.Comparer(func(a, b error) bool { return a == b })); d != "" {
			t.Errorf("States (-want +got):\n%s", d)
		}
		if c := p.alone.statistics(); c.running != 1 || c.queued != 1 || c.failing != 1 || c.down != 1 {
			t.Errorf("census = %+v", c)
		}
	})
}

// A trigger that waits for a worker survives a reload.
func TestSetKeepsATrigger(t *testing.T) {
	inFakeTime(t, Options{Workers: 1}, func(t *testing.T, p *fixture) {
		long := p.job("long", "", 0, lasting(time.Minute, nil))
		p.Set([]Job{p.job("a", "", time.Hour, good), long})
		p.wait(time.Second)
		p.Trigger("a")
		p.Set([]Job{p.job("a", "", 2*time.Hour, good), long})
		p.wait(time.Minute)
		p.wantRuns("a@0s", "long@0s", "a@1m0s")
	})
}
