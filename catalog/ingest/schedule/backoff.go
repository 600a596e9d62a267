package schedule

import (
	"math"
	"time"
)

// backoffIntervals is how many intervals of a job its backoff may last.
const backoffIntervals = 16

// Backoff is how long to wait after failures in a row: First, then twice as long
// each time. A job that is polled more often than First starts with its interval
// and waits at most sixteen intervals: a local repository that cannot be watched
// is polled every 2 s, and 30 s would be long for it.
type Backoff struct {
	// First is the wait after the first failure. Zero or less: 30 seconds.
	First time.Duration
	// Max is the longest wait. Zero or less: one hour.
	Max time.Duration
}

func (b Backoff) withDefaults() Backoff {
	if b.First <= 0 {
		b.First = 30 * time.Second
	}
	if b.Max <= 0 {
		b.Max = time.Hour
	}
	return b
}

// delay returns the wait after n failures in a row (n at least 1) of a job with
// an interval, before jitter.
func (b Backoff) delay(n int, interval time.Duration) time.Duration {
	wait, limit := b.First, b.Max
	if interval > 0 {
		wait = min(wait, interval)
		if interval < limit/backoffIntervals {
			limit = interval * backoffIntervals
		}
	}
	for ; n > 1 && wait < limit; n-- {
		if wait > limit/2 {
			return limit
		}
		wait *= 2
	}
	return min(wait, limit)
}

// jitter varies d by up to a tenth, up or down; r in [0, 1) says how far.
func jitter(d time.Duration, r float64) time.Duration {
	varied := float64(d) * (1 + (2*r-1)/10)
	if varied >= math.MaxInt64 {
		return d
	}
	return time.Duration(varied)
}
