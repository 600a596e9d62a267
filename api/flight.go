package api

import (
	"context"
	"sync"
)

// flights are the answers that are being rendered and can be kept: who asks for
// one of them meanwhile waits for it instead of rendering it again. After a pull
// the cache is empty and all clients ask for the same pages. The zero value is
// ready. It is safe for concurrent use.
type flights struct {
	mu      sync.Mutex
	running map[flightKey]*flight
}

// flightKey has the generation that was published when the request came, so
// that nobody who has seen a pull gets an answer from before it.
type flightKey struct {
	cacheKey
	generation int64
}

// flight is one answer in the making.
type flight struct {
	done    chan struct{} // closed when it is over
	made    *coded        // then, nil if there is none that others may have
	waiting int           // how many wait; guarded by flights.mu
}

// do returns what render makes, or what it makes for another who came first.
// If that fails or is given up, for it was asked for by a client that went away,
// whoever waited makes it anew, and if ctx ends first, likewise: render knows
// what to say then.
func (f *flights) do(ctx context.Context, key flightKey, render func() (a answer, made *coded)) (answer, *coded) {
	own, first := f.join(key)
	if first {
		defer f.end(key, own)
		var a answer
		a, own.made = render()
		return a, own.made
	}
	select {
	case <-own.done:
	case <-ctx.Done():
	}
	select {
	case <-own.done:
		if own.made != nil {
			return own.made.answer, own.made
		}
	default:
	}
	return render()
}

// join begins a flight, or waits for the one that has begun.
func (f *flights) join(key flightKey) (own *flight, first bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if own := f.running[key]; own != nil {
		own.waiting++
		return own, false
	}
	own = &flight{done: make(chan struct{})}
	if f.running == nil {
		f.running = map[flightKey]*flight{}
	}
	f.running[key] = own
	return own, true
}

func (f *flights) end(key flightKey, own *flight) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.running, key)
	close(own.done)
}
