package schedule

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
)

func TestRunWaitsForItsRunsAndCanBeCalledAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New(Options{Workers: 2})
		runs, ends := 0, 0
		s.Set([]Job{{Key: "a", Host: "h", Interval: time.Hour, Run: func(ctx context.Context) error {
			runs++
			<-ctx.Done()
			time.Sleep(10 * time.Second) // to the end of the step
			ends++
			return ctx.Err()
		}}})
		start := time.Now()
		for round := 1; round <= 2; round++ {
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
			if err := s.Run(ctx); err != nil {
				t.Errorf("Run = %v", err)
			}
			cancel()
			if got, want := time.Since(start), time.Duration(round)*15*time.Second; got != want || ends != round {
				t.Errorf("round %d: Run returned after %v with %d runs ended, want %v", round, got, ends, want)
			}
			st, _ := s.State("a")
			if st.Status != Pending || st.Err != nil || st.Failures != 0 || s.Ready() {
				t.Errorf("round %d: a stop counted as an outcome: %+v", round, st)
			}
		}
		if runs != 2 {
			t.Errorf("%d runs, want one in each round", runs)
		}
		for result, want := range map[string]float64{succeeded: 0, failed: 0, cancelled: 2} {
			if n := testutil.ToFloat64(s.metrics.runs.WithLabelValues(result)); n != want {
				t.Errorf("counted %v runs as %s, want %v", n, result, want)
			}
		}
	})
}

// A run that ends with success during a stop counts as a success.
func TestStopDoesNotSpoilAGoodRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New(Options{Workers: 2})
		s.Set([]Job{
			{Key: "good", Run: func(ctx context.Context) error { <-ctx.Done(); return nil }},
			{Key: "panic", Run: func(ctx context.Context) error { <-ctx.Done(); panic("x") }},
		})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := s.Run(ctx); err != nil {
			t.Error(err)
		}
		if st, _ := s.State("good"); st.Status != OK {
			t.Errorf("status = %v, want ok", st.Status)
		}
		if st, _ := s.State("panic"); st.Status != Failed {
			t.Errorf("status = %v, want failed: a stop hides no bug", st.Status)
		}
	})
}

func TestRunWithAnEndedContext(t *testing.T) {
	s := New(Options{Workers: 2})
	s.Set([]Job{{Key: "a", Run: func(context.Context) error { t.Error("ran"); return nil }}})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Run(ctx); err != nil {
		t.Error(err)
	}
}

// BenchmarkRun measures the cost of the Scheduler for a run that does nothing:
// each operation is a run of one of the jobs, all of which are always due.
func BenchmarkRun(b *testing.B) {
	for _, jobs := range []int{10, 1000, 10000} {
		b.Run(fmt.Sprintf("jobs=%d", jobs), func(b *testing.B) {
			s := New(Options{Workers: 4})
			ctx, cancel := context.WithCancel(b.Context())
			defer cancel()
			var left atomic.Int64
			left.Store(int64(b.N))
			set := make([]Job, jobs)
			for i := range set {
				key := fmt.Sprint(i)
				set[i] = Job{Key: key, Host: fmt.Sprint(i % 10), Interval: time.Nanosecond, Run: func(context.Context) error {
					if left.Add(-1) == 0 {
						cancel()
					}
					return nil
				}}
			}
			s.Set(set)
			b.ReportAllocs()
			b.ResetTimer()
			if err := s.Run(ctx); err != nil {
				b.Fatal(err)
			}
		})
	}
}
