package hooks

import (
	"sync"
	"time"
)

// pace lets something happen at most once in a pause for each key, and drops
// nothing: what is asked for too soon happens once at the end of the pause.
// Keys are branches of the configuration, so there are few.
type pace struct {
	pause time.Duration
	now   func() time.Time
	after func(time.Duration, func()) func() bool

	mu     sync.Mutex
	closed bool
	last   map[string]time.Time
	stops  map[string]func() bool // of those that wait
}

func newPace(pause time.Duration, now func() time.Time, after func(time.Duration, func()) func() bool) *pace {
	return &pace{pause: pause, now: now, after: after, last: map[string]time.Time{}, stops: map[string]func() bool{}}
}

// left is the rest of a key's pause. p.mu is held.
func (p *pace) left(key string) time.Duration {
	last, ok := p.last[key]
	if !ok {
		return 0
	}
	passed := p.now().Sub(last)
	if passed < 0 { // the clock was set back
		return 0
	}
	return p.pause - passed
}

// begin reports whether it may happen now, and begins the key's pause if so.
// Else later is called when the pause is over, once for all that were refused
// in it.
func (p *pace) begin(key string, later func()) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || p.stops[key] != nil {
		return false
	}
	if left := p.left(key); left > 0 {
		p.stops[key] = p.after(left, func() { p.over(key, later) })
		return false
	}
	p.last[key] = p.now()
	return true
}

// over ends a key's pause, and begins the next.
func (p *pace) over(key string, later func()) {
	p.mu.Lock()
	delete(p.stops, key)
	p.last[key] = p.now()
	closed := p.closed
	p.mu.Unlock()
	if !closed {
		later()
	}
}

// close forgets what waits.
func (p *pace) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	for _, stop := range p.stops {
		stop()
	}
}
