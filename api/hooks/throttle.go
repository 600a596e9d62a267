package hooks

import (
	"sync"
	"time"
)

// throttle lets something happen at most once per pause for each key. What is
// asked for during a pause happens once, at its end. Keys are branches of the
// configuration, so there are few.
type throttle struct {
	kind  string
	pause time.Duration
	now   func() time.Time
	after func(time.Duration, func()) func() bool

	mu     sync.Mutex
	closed bool
	last   map[string]time.Time
	stops  map[string]func() bool // by key, while something waits for the end of its pause
}

func newThrottle(kind string, pause time.Duration, now func() time.Time, after func(time.Duration, func()) func() bool) *throttle {
	return &throttle{kind: kind, pause: pause, now: now, after: after, last: map[string]time.Time{}, stops: map[string]func() bool{}}
}

// begin reports whether something may happen now, and if so begins the key's
// pause. Else later is called once at the end of the pause, for all refusals.
func (p *throttle) begin(key string, later func()) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || p.stops[key] != nil {
		return false
	}
	now := p.now()
	passed := now.Sub(p.last[key]) // less than 0 if the clock was set back
	if passed >= 0 && passed < p.pause {
		p.stops[key] = p.after(p.pause-passed, func() { p.over(key, later) })
		return false
	}
	p.last[key] = now
	return true
}

// wait calls later after a time, unless something waits for the key already: another
// process has begun the pause.
func (p *throttle) wait(key string, left time.Duration, later func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.closed && p.stops[key] == nil {
		p.stops[key] = p.after(left, func() { p.over(key, later) })
	}
}

// over ends a key's pause and begins the next one.
func (p *throttle) over(key string, later func()) {
	p.mu.Lock()
	delete(p.stops, key)
	p.last[key] = p.now()
	closed := p.closed
	p.mu.Unlock()
	if !closed {
		later()
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
