package schedule

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"time"

	"github.com/repoglot/repoglot/catalog/store/cluster"
)

// unknownWait is how long a branch waits that was taken by a process that does not
// know it: its configuration is being replaced.
const unknownWait = 5 * time.Second

// begin begins the run of a lease that lasts until expires.
func (s *Scheduler) begin(ctx context.Context, l *cluster.Lease, expires time.Time) {
	s.mu.Lock()
	job, known := s.jobs[l.Branch]
	runCtx, cancel := context.WithCancelCause(ctx)
	s.running[l.Branch] = cancel
	s.busy[job.Host]++
	s.mu.Unlock()
	s.runs.Go(func() {
		defer cancel(nil)
		outcome := cluster.Outcome{Cut: true, Next: unknownWait}
		if known {
			outcome = s.hold(runCtx, cancel, &job, l, expires)
		}
		s.give(ctx, l, outcome)
		s.mu.Lock()
		delete(s.running, l.Branch)
		s.busy[job.Host]--
		s.mu.Unlock()
		s.Wake()
	})
}

// hold runs a job and renews its lease meanwhile.
func (s *Scheduler) hold(ctx context.Context, cancel context.CancelCauseFunc, job *Job, l *cluster.Lease, expires time.Time) cluster.Outcome {
	began := time.Now()
	s.opts.Logger.Debug("run started", "job", job.Key, "host", job.Host)
	var err error
	ended := make(chan struct{})
	go func() { // which a job may end by runtime.Goexit
		defer close(ended)
		fenced := ctx
		if s.alone == nil {
			fenced = cluster.WithFence(ctx, l.Fence)
		}
		call(fenced, *job, &err)
	}()
	s.renew(ctx, cancel, l, expires, ended)
	<-ended
	if errors.Is(context.Cause(ctx), ErrLost) || errors.Is(err, cluster.ErrFenced) {
		s.metrics.lost.Inc()
		s.opts.Logger.Warn("the lease of a pull was lost: another process goes on", "job", l.Branch, "error", err)
		return cluster.Outcome{Cut: true} // if nobody has taken it yet, anybody may
	}
	s.noteFull(l.Branch, err)
	o := s.outcome(ctx, job, l, err)
	if !o.Cut {
		s.logFailure(job, l, &o)
	}
	took := time.Since(began)
	s.metrics.observe(&o, took)
	s.opts.Logger.Debug("run ended", "job", job.Key, "error", err, "took", took)
	return o
}

// outcome says what is stored of a run, and when the next one is due.
func (s *Scheduler) outcome(ctx context.Context, job *Job, l *cluster.Lease, err error) cluster.Outcome {
	s.mu.Lock()
	if now, ok := s.jobs[l.Branch]; ok {
		job = &now
	}
	s.mu.Unlock()
	switch {
	case err == nil && job.Interval > 0:
		return cluster.Outcome{Next: s.jittered(job.Interval)}
	case err == nil:
		return cluster.Outcome{Next: -1}
	case ctx.Err() != nil && !isPanic(err):
		return cluster.Outcome{Cut: true}
	case s.roomProblem() != "": // it says nothing about the repository: another process takes it
		return cluster.Outcome{Cut: true}
	case isPanic(err) || !s.opts.Excused(err):
		return cluster.Outcome{Err: err, Next: s.jittered(s.opts.Backoff.delay(l.Failures+1, job.Interval))}
	case s.alone == nil: // it concerns all processes, which try again together
		return cluster.Outcome{Err: err, Excused: true, Next: s.jittered(s.opts.Length / 3)}
	}
	return cluster.Outcome{Err: err, Excused: true, Next: s.jittered(s.opts.Backoff.delay(max(1, l.Failures), job.Interval))}
}

// logFailure logs that a run failed; of failures that are excused, the first since a
// success as a warning.
func (s *Scheduler) logFailure(job *Job, l *cluster.Lease, o *cluster.Outcome) {
	s.mu.Lock()
	again := o.Excused && s.excusing
	s.excusing = o.Excused || s.excusing && o.Err != nil
	s.mu.Unlock()
	if o.Err == nil {
		return
	}
	failures, level := l.Failures+1, slog.LevelWarn
	if o.Excused {
		failures--
	}
	if again {
		level = slog.LevelDebug
	}
	args := []any{"job", job.Key, "about", job.About, "host", job.Host, "failures", failures, "error", o.Err, "retry_in", o.Next}
	if p, ok := o.Err.(*PanicError); ok {
		level, args = slog.LevelError, append(args, "stack", string(p.Stack))
	}
	s.opts.Logger.Log(context.Background(), level, "run failed", args...)
}

func (s *Scheduler) jittered(d time.Duration) time.Duration { return jitter(d, s.opts.Rand()) }

// renew renews a lease until its run ended or ctx is done, and ends the run when it may have
// lost the lease: by the answer of the table, or by the clock of this process, which was asked
// before the table was.
func (s *Scheduler) renew(ctx context.Context, cancel context.CancelCauseFunc, l *cluster.Lease, expires time.Time, ended <-chan struct{}) {
	wait := s.opts.Length / 3
	for {
		select {
		case <-ended:
			return
		case <-ctx.Done():
			return
		case <-time.After(min(wait, time.Until(expires))):
		}
		asked := time.Now()
		within, done := context.WithDeadline(ctx, expires)
		held, err := s.table.Renew(within, l, s.opts.Length)
		done()
		switch {
		case ctx.Err() != nil:
			return
		case err == nil && held:
			expires, wait = asked.Add(s.opts.Length), s.opts.Length/3
		case err == nil, !time.Now().Before(expires):
			cancel(ErrLost)
			return
		default:
			wait = s.opts.Length / 15
		}
	}
}

// give gives a lease back, if need be several times: otherwise it would hold up the
// branch until it expires.
func (s *Scheduler) give(ctx context.Context, l *cluster.Lease, o cluster.Outcome) {
	within, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.opts.Length)
	defer cancel()
	for {
		err := s.table.Give(within, l, o)
		if err == nil {
			return
		}
		select {
		case <-within.Done():
			s.opts.Logger.Warn("a lease could not be given back; it ends by itself", "job", l.Branch, "error", err)
			return
		case <-time.After(s.opts.Length / 15):
		}
	}
}

// Hold takes the lease of one branch, waiting for it if need be, and calls fn with
// its context, which ends when the lease is lost.
func (s *Scheduler) Hold(ctx context.Context, job *Job) error {
	room := &cluster.Room{Process: s.opts.Process, Configuration: s.opts.Configuration(), Length: s.opts.Length, Only: job.Key}
	for {
		began := time.Now()
		l, taken, err := s.table.Take(ctx, room)
		if err != nil {
			return fmt.Errorf("taking the lease of %s: %w", job.Key, err)
		}
		if taken {
			ctx, cancel := context.WithCancelCause(ctx)
			defer cancel(nil)
			var result error
			kept := *job
			kept.Run = func(ctx context.Context) error { result = job.Run(ctx); return result }
			outcome := s.hold(ctx, cancel, &kept, &l, began.Add(s.opts.Length))
			s.give(ctx, &l, outcome)
			return result
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(defaultPoll):
		}
	}
}

// PanicError is the error of a run that panicked.
type PanicError struct {
	// Value is the argument of panic, nil if the run ended its goroutine with
	// runtime.Goexit instead of returning.
	Value any
	// Stack is the goroutine's stack, from [debug.Stack].
	Stack []byte
}

// Error returns one line without the stack, which goes to the log.
func (e *PanicError) Error() string {
	if e.Value == nil {
		return "run ended without returning (runtime.Goexit); this is a bug, please report it"
	}
	return fmt.Sprintf("run panicked: %v; this is a bug, please report it with the stack in the log", e.Value)
}

// Unwrap returns the argument of panic, if it was an error.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

func isPanic(err error) bool {
	_, ok := err.(*PanicError)
	return ok
}

// call runs the job and stores its error, a [PanicError] after a panic. It does not return the error, because
// nothing returns after runtime.Goexit.
func call(ctx context.Context, job Job, err *error) {
	returned := false
	defer func() {
		if !returned {
			*err = &PanicError{Value: recover(), Stack: debug.Stack()}
		}
	}()
	*err = job.Run(ctx)
	returned = true
}
