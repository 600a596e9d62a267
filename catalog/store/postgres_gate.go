package store

import (
	"math/rand/v2"
	"sync"
	"time"
)

// gate keeps a process from asking a server that is away for a connection again and
// again: after a failure nobody does so for a while, which grows.
type gate struct {
	now func() time.Time

	mu       sync.Mutex
	failures int
	until    time.Time
	err      error
}

// The pause after the first failure, and the longest.
const (
	firstPause   = 50 * time.Millisecond
	longestPause = time.Second
)

// closed is the last failure while nobody may try again; nil afterwards.
func (g *gate) closed() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.failures > 0 && g.now().Before(g.until) {
		return g.err
	}
	return nil
}

// failed closes the gate. Attempts that fail at the same time count once.
func (g *gate) failed(err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if now := g.now(); g.failures == 0 || !now.Before(g.until) {
		pause := min(longestPause, firstPause<<min(g.failures, 10))
		g.until = now.Add(pause/2 + rand.N(pause/2)) // processes do not come together
		g.failures++
	}
	g.err = err
}

func (g *gate) succeeded() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.failures = 0
}
