package schedule

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"
)

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
