package schedule

import (
	"errors"
	"time"

	"github.com/repoglot/repoglot/catalog/store"
)

// stall is the last run that failed since the disk of the database is full. It concerns
// all branches and all processes: each process tries one branch in a third of a lease,
// until that one is pulled, or for the length of a lease.
type stall struct {
	branch string // "" for none
	at     time.Time
}

// Problem says why this process takes no lease, or a few; "" if it takes what it can.
func (p *Puller) Problem() string {
	if problem := p.roomProblem(); problem != "" {
		return problem
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stalled() {
		return store.ErrFull.Error()
	}
	return ""
}

// roomProblem says why this process has no room; "" if it has, or does not pull.
func (p *Puller) roomProblem() string {
	if p.opts.Workers <= 0 {
		return ""
	}
	if err := p.opts.Room(); err != nil {
		return err.Error()
	}
	return ""
}

// stalled reports whether the database was full lately. The caller holds p.mu.
func (p *Puller) stalled() bool {
	return p.stall.branch != "" && time.Since(p.stall.at) < p.opts.Length
}

// noteFull remembers that a run failed since the database is full, and forgets it when
// the same branch ends otherwise. again reports that this was known.
func (p *Puller) noteFull(branch string, err error) (again bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	again = p.stalled()
	switch {
	case errors.Is(err, store.ErrFull):
		p.stall = stall{branch: branch, at: time.Now()}
		return again
	case p.stall.branch == branch:
		p.stall = stall{}
	}
	return false
}

// mayTake reports whether this process may take a lease, and logs when a problem begins
// and ends.
func (p *Puller) mayTake() bool {
	problem := p.roomProblem()
	p.mu.Lock()
	pause := problem != ""
	if !pause && p.stalled() {
		problem = store.ErrFull.Error()
		pause = len(p.running) > 0 || time.Since(p.stall.at) < p.opts.Length/3
	}
	was := p.paused
	p.paused = problem != ""
	p.mu.Unlock()
	switch {
	case problem != "" && !was:
		p.opts.Logger.Warn("this process pauses its pulls", "error", problem)
	case problem == "" && was:
		p.opts.Logger.Info("this process pulls again")
	}
	return !pause
}
