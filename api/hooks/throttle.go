package hooks

import (
	"context"
	"sync"
	"time"
)

// throttle lets something happen at most once per pause for each key. What is
// asked for during a pause happens once, at its end. Keys are branches of the
// configuration, so there are few.
type throttle struct {
	*Options
	kind  string
	pause time.Duration

	mu     sync.Mutex
	closed bool
	last   map[string]time.Time
	stops  map[string]func() bool // by key, while something waits for the end of its pause
}

func newThrottle(kind string, pause time.Duration, o *Options) *throttle {
	return &throttle{Options: o, kind: kind, pause: pause, last: map[string]time.Time{}, stops: map[string]func() bool{}}
}

// begin reports whether something may happen now, and if so begins the key's pause, for
// all processes. Else later is called once at the end of the pause, for all refusals.
func (p *throttle) begin(ctx context.Context, key string, later func(key string)) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || p.stops[key] != nil {
		return false
	}
	now := p.Now()
	left := p.pause - now.Sub(p.last[key])
	if left <= 0 || left > p.pause { // the clock was set back
		p.last[key] = now
		p.mu.Unlock()
		left = p.claimed(ctx, key)
		p.mu.Lock()
		if left <= 0 {
			return true
		}
		delete(p.last, key)
	}
	if !p.closed && p.stops[key] == nil {
		p.stops[key] = p.AfterFunc(left, func() { p.over(key, later) })
	}
	return false
}

// claimed begins a pause for all processes, or returns the rest of another's.
func (p *throttle) claimed(ctx context.Context, key string) time.Duration {
	if p.Claim == nil {
		return 0
	}
	left, err := p.Claim(ctx, p.kind, key, p.pause)
	if err != nil {
		p.Logger.Debug("hook: the pauses of other processes are not known", "branch", key, "error", err)
		return 0
	}
	return min(left, p.pause)
}

// over ends a key's pause and begins the next one, unless another process did that: then
// later is called at the end of its pause.
func (p *throttle) over(key string, later func(key string)) {
	p.mu.Lock()
	delete(p.stops, key)
	p.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), answerTime)
	defer cancel()
	if p.begin(ctx, key, later) {
		later(key)
	}
}

// close drops everything that waits.
func (p *throttle) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	for _, stop := range p.stops {
		stop()
	}
}
