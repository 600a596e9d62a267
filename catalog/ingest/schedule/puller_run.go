package schedule

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/repoglot/repoglot/catalog/store"
	"github.com/repoglot/repoglot/catalog/store/cluster"
)

// unknownWait is how long a branch waits that was taken by a process that does not
// know it: its configuration is being replaced.
const unknownWait = 5 * time.Second

// begin begins the run of a lease that lasts until expires.
func (p *Puller) begin(ctx context.Context, l *cluster.Lease, expires time.Time) {
	p.mu.Lock()
	job, known := p.jobs[l.Branch]
	runCtx, cancel := context.WithCancelCause(ctx)
	p.running[l.Branch] = cancel
	p.busy[job.Host]++
	p.mu.Unlock()
	p.runs.Go(func() {
		defer cancel(nil)
		outcome := cluster.Outcome{Cut: true, Next: unknownWait}
		if known {
			outcome = p.hold(runCtx, cancel, &job, l, expires)
		}
		p.give(ctx, l, outcome)
		p.mu.Lock()
		delete(p.running, l.Branch)
		p.busy[job.Host]--
		p.mu.Unlock()
		p.Wake()
	})
}

// hold runs a job and renews its lease meanwhile.
func (p *Puller) hold(ctx context.Context, cancel context.CancelCauseFunc, job *Job, l *cluster.Lease, expires time.Time) cluster.Outcome {
	renewed := make(chan struct{})
	renewing, stop := context.WithCancel(ctx)
	go func() {
		defer close(renewed)
		p.renew(renewing, cancel, l, expires)
	}()
	began := time.Now()
	var err error
	call(cluster.WithFence(ctx, l.Fence), *job, &err)
	stop()
	<-renewed
	if errors.Is(context.Cause(ctx), ErrLost) || errors.Is(err, cluster.ErrFenced) {
		p.metrics.lost.Inc()
		p.opts.Logger.Warn("the lease of a pull was lost: another process goes on", "job", l.Branch, "error", err)
		return cluster.Outcome{Cut: true} // if nobody has taken it yet, anybody may
	}
	stalled := p.noteFull(l.Branch, err)
	o := p.outcome(ctx, job, l, err)
	if o.Problem != "" && !stalled {
		p.logFailure(job, l, &o, err)
	}
	p.metrics.observe(&o, time.Since(began))
	return o
}

// outcome says what is stored of a run, and when the next one is due.
func (p *Puller) outcome(ctx context.Context, job *Job, l *cluster.Lease, err error) cluster.Outcome {
	switch {
	case err == nil && job.Interval > 0:
		return cluster.Outcome{Next: p.jittered(job.Interval)}
	case err == nil:
		return cluster.Outcome{Next: -1}
	case ctx.Err() != nil && !isPanic(err):
		return cluster.Outcome{Cut: true}
	}
	if p.roomProblem() != "" { // it says nothing about the repository: another process takes it
		return cluster.Outcome{Cut: true}
	}
	if errors.Is(err, store.ErrUnavailable) { // neither does this, and it concerns all processes
		return cluster.Outcome{Problem: err.Error(), Excused: true, Next: p.jittered(p.opts.Length / 3)}
	}
	return cluster.Outcome{Problem: err.Error(), Next: p.jittered(p.opts.Backoff.delay(l.Failures+1, job.Interval))}
}

// logFailure logs that a run failed.
func (p *Puller) logFailure(job *Job, l *cluster.Lease, o *cluster.Outcome, err error) {
	failures := l.Failures
	if !o.Excused {
		failures++
	}
	line := failureLine(job, job.Host, failures, err)
	p.opts.Logger.Log(context.Background(), line.level, line.msg, append(line.args, "retry_in", o.Next)...)
}

func (p *Puller) jittered(d time.Duration) time.Duration {
	return jitter(d, defaultJitter, p.opts.Rand())
}

// renew renews a lease until ctx is done, and ends its run when that may have lost
// it: by the answer of the table, or by the clock of this process, which was asked
// before the table was.
func (p *Puller) renew(ctx context.Context, cancel context.CancelCauseFunc, l *cluster.Lease, expires time.Time) {
	wait := p.opts.Length / 3
	for {
		timer := time.NewTimer(min(wait, time.Until(expires)))
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-timer.C:
		}
		asked := time.Now()
		within, done := context.WithDeadline(ctx, expires)
		held, err := p.opts.Table.Renew(within, l, p.opts.Length)
		done()
		switch {
		case ctx.Err() != nil:
			return
		case err == nil && held:
			expires, wait = asked.Add(p.opts.Length), p.opts.Length/3
		case err == nil, !time.Now().Before(expires):
			cancel(ErrLost)
			return
		default:
			wait = p.opts.Length / 15
		}
	}
}

// give gives a lease back, if need be several times: otherwise it would hold up the
// branch until it expires.
func (p *Puller) give(ctx context.Context, l *cluster.Lease, o cluster.Outcome) {
	within, cancel := context.WithTimeout(context.WithoutCancel(ctx), p.opts.Length)
	defer cancel()
	for {
		err := p.opts.Table.Give(within, l, o)
		if err == nil {
			return
		}
		timer := time.NewTimer(p.opts.Length / 15)
		select {
		case <-within.Done():
			timer.Stop()
			p.opts.Logger.Warn("a lease could not be given back; it ends by itself", "job", l.Branch, "error", err)
			return
		case <-timer.C:
		}
	}
}

// Hold takes the lease of one branch, waiting for it if need be, and calls fn with
// its context, which ends when the lease is lost.
func (p *Puller) Hold(ctx context.Context, job *Job) error {
	room := &cluster.Room{Process: p.opts.Process, Configuration: p.opts.Configuration(), Length: p.opts.Length, Only: job.Key}
	for {
		began := time.Now()
		l, taken, err := p.opts.Table.Take(ctx, room)
		if err != nil {
			return fmt.Errorf("taking the lease of %s: %w", job.Key, err)
		}
		if taken {
			ctx, cancel := context.WithCancelCause(ctx)
			defer cancel(nil)
			var result error
			kept := *job
			kept.Run = func(ctx context.Context) error { result = job.Run(ctx); return result }
			outcome := p.hold(ctx, cancel, &kept, &l, began.Add(p.opts.Length))
			p.give(ctx, &l, outcome)
			return result
		}
		timer := time.NewTimer(p.opts.Poll)
		select {
		case <-ctx.Done():
			timer.Stop()
			return ctx.Err()
		case <-timer.C:
		}
	}
}
