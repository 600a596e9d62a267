package schedule

import (
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"
	"time"
)

// Run starts runs when they are due until ctx is done, then waits for the runs in
// progress, whose contexts end with ctx, and returns nil. It may be called again
// afterwards, not meanwhile: jobs whose runs were cut short are due at once.
func (s *Scheduler) Run(ctx context.Context) error {
	for ctx.Err() == nil {
		var planned <-chan time.Time // nil: no run is planned
		if wait, ok := s.dispatch(ctx); ok {
			planned = time.After(wait)
		}
		select {
		case <-ctx.Done():
		case <-s.wake:
		case <-planned:
		}
	}
	s.runs.Wait()
	return nil
}

// dispatch starts every run that is due and allowed. It returns the time until
// the next one may be, apart from runs that the end of another makes possible; ok
// is false if no run is planned.
func (s *Scheduler) dispatch(ctx context.Context) (wait time.Duration, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	for s.running < s.opts.Workers {
		e, at := s.next(now)
		if e == nil {
			return at.Sub(now), !at.IsZero()
		}
		s.launch(ctx, e, now)
	}
	return 0, false
}

// next returns the entry to start now, or nil, and when another one may be due; zero for
// never. Urgent entries come first, then those on the host with the fewest runs, then the
// order is by rank.
func (s *Scheduler) next(now time.Time) (best *entry, at time.Time) {
	for _, h := range s.hosts {
		h.first = nil
	}
	for _, e := range s.jobs {
		if !e.planned {
			continue
		}
		h, due := e.host, e.due
		if !due.After(now) && (h.first == nil || h.prefers(e, h.first)) {
			h.first = e
		}
		if h.down() && h.until.After(due) {
			due = h.until
		}
		if due.After(now) && (at.IsZero() || due.Before(at)) {
			at = due
		}
	}
	for _, h := range s.hosts {
		if e := h.first; e != nil && s.admits(h) && !h.waits(e, now) && (best == nil || before(e, best, now)) {
			best = e
		}
	}
	return best, at
}

// before reports whether a starts before b, which is on another host.
func before(a, b *entry, now time.Time) bool {
	if ua, ub := a.urgent(now), b.urgent(now); ua != ub {
		return ua
	}
	if a.host.running != b.host.running {
		return a.host.running < b.host.running
	}
	return byRank(a, b)
}

// launch starts a run of e. The caller holds s.mu.
func (s *Scheduler) launch(ctx context.Context, e *entry, now time.Time) {
	e.planned = false
	ctx, cancel := context.WithCancelCause(ctx)
	r := &run{host: e.host, start: now, cancel: cancel}
	e.run = r
	e.triggered, e.again = false, false
	e.attempts++
	e.lastStart = now
	e.host.running++
	s.running++
	job := e.job
	s.runs.Go(func() {
		s.opts.Logger.Debug("run started", "job", job.Key, "host", job.Host)
		var err error
		defer func() {
			cut := ctx.Err() != nil
			cancel(nil)
			s.finish(e, r, err, cut)
		}()
		call(ctx, job, &err)
	})
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

// finish records the end of a run and plans the next one. cut says that the
// context ended before the run did.
func (s *Scheduler) finish(e *entry, r *run, err error, cut bool) {
	r.excused = err != nil && !isPanic(err) && s.opts.Excused(err)
	s.mu.Lock()
	now := time.Now()
	took := now.Sub(r.start)
	s.running--
	r.host.running--
	e.run = nil
	var logs []logLine
	result := cancelled
	switch {
	case r.dropped && e.removed:
		s.drop(e)
	case r.dropped, cut && err != nil && !isPanic(err): // the key came back meanwhile, or a stop cut the run short
		e.triggered = e.triggered || e.again
		s.plan(e, now)
	default:
		result, logs = s.recordOutcome(e, r, err, now)
	}
	s.dropUnused(r.host)
	s.checkFirstRound()
	key := e.job.Key
	s.mu.Unlock()

	s.metrics.observe(result, took)
	s.opts.Logger.Debug("run ended", "job", key, "result", result, "took", took)
	for _, l := range logs {
		s.opts.Logger.Log(context.Background(), l.level, l.msg, l.args...)
	}
	s.wakeUp()
}

// A logLine is logged once the lock is released.
type logLine struct {
	level slog.Level
	msg   string
	args  []any
}

// failureLine says that a run failed on a host.
func failureLine(job *Job, host string, failures int, err error) logLine {
	line := logLine{slog.LevelWarn, "run failed", []any{"job", job.Key, "about", job.About, "host", host, "failures", failures, "error", err}}
	if p, ok := err.(*PanicError); ok {
		line.level = slog.LevelError
		line.args = append(line.args, "stack", string(p.Stack))
	}
	return line
}

// recordOutcome records the outcome of a run that was not cancelled, and plans
// the next one.
func (s *Scheduler) recordOutcome(e *entry, r *run, err error, now time.Time) (result string, logs []logLine) {
	if e.lastEnd.IsZero() {
		s.unfinished--
	}
	e.lastEnd, e.err = now, err
	here := r.host == e.host // else Set moved the job: the outcome is about the old host
	if err == nil {
		result, logs = succeeded, s.recordSuccess(e, r, now)
	} else {
		result, logs = failed, s.recordFailure(e, r, now, here)
	}
	switch {
	case e.again:
		e.triggered, e.again = true, false
		s.plan(e, now)
	case err != nil:
		s.plan(e, now.Add(s.jittered(s.opts.Backoff.delay(max(1, e.failures), e.job.Interval))))
		logs[0].args = append(logs[0].args, "retry_at", e.due)
	case e.job.Interval > 0:
		s.plan(e, now.Add(s.jittered(e.job.Interval)))
	}
	return result, logs
}

func (s *Scheduler) recordSuccess(e *entry, r *run, now time.Time) []logLine {
	e.status, e.failures, e.lastGood = OK, 0, now
	s.excusing = false
	if !r.host.succeeded() {
		return nil
	}
	return []logLine{{slog.LevelInfo, "host answers again", []any{"host", r.host.name}}}
}

func (s *Scheduler) recordFailure(e *entry, r *run, now time.Time, here bool) []logLine {
	e.status = Failed
	if !r.excused {
		e.failures++
	}
	logs := []logLine{failureLine(&e.job, r.host.name, e.failures, e.err)}
	if r.excused {
		if s.excusing {
			logs[0].level = slog.LevelDebug
		}
		s.excusing = true
	}
	if !here || r.excused {
		return logs
	}
	wentDown := r.host.failed(e.job.Key, r.start, now, func(n int) time.Duration {
		return s.jittered(s.opts.Backoff.delay(n, e.job.Interval))
	})
	if wentDown && r.host.jobs > 1 { // of a single repository nothing follows for the host
		logs = append(logs, logLine{slog.LevelWarn, "host seems to be down; its jobs wait, one tries from time to time", []any{"host", r.host.name, "next_try", r.host.until}})
	}
	return logs
}
