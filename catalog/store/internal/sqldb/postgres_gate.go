package sqldb

import (
	"math/rand/v2"
	"sync"
	"time"
)

// Gate keeps a process from asking a server that is away for a connection again and
// again: after a failure nobody does so for a while, which grows.
type Gate struct {
	Now func() time.Time

	mu       sync.Mutex
	Failures int
	Until    time.Time
	err      error
}

// The pause after the first failure, and the longest.
const (
	firstPause   = 50 * time.Millisecond
	LongestPause = time.Second
)

// Closed is the last failure while nobody may try again; nil afterwards.
func (g *Gate) Closed() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.Failures > 0 && g.Now().Before(g.Until) {
		return g.err
	}
	return nil
}

// Failed closes the gate. Attempts that fail at the same time count once.
func (g *Gate) Failed(err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if now := g.Now(); g.Failures == 0 || !now.Before(g.Until) {
		pause := min(LongestPause, firstPause<<min(g.Failures, 10))
		g.Until = now.Add(pause/2 + rand.N(pause/2)) // processes do not come together
		g.Failures++
	}
	g.err = err
}

// Succeeded opens the gate.
func (g *Gate) Succeeded() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.Failures = 0
}
