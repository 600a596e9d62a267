package store

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// Watch tells when the database has something new. Any number of watches share
// one wake-up per generation: a step or change of settings of this process
// wakes them at once, those of other processes are found by one query every
// Options.PollInterval while there is a watch. Use it so: take Changed, read,
// wait for the channel, and so on; then nothing is missed.
type Watch struct {
	news *news
	once sync.Once
}

// Watch begins to watch. Close must be called.
func (db *DB) Watch() *Watch {
	n := db.news
	n.mu.Lock()
	defer n.mu.Unlock()
	n.watches++
	if n.watches == 1 && !n.closed {
		ctx, stop := context.WithCancel(context.Background())
		n.stop = stop
		n.pollers.Go(func() { db.poll(ctx) })
	}
	return &Watch{news: n}
}

// Published is the newest generation that this process has committed, or heard
// of while somebody watches; 0 before the first. A snapshot that is begun after
// it was asked for shows that generation or a newer one.
func (db *DB) Published() int64 { return db.news.newest.Load() }

// Changed returns a channel that is closed as soon as there is a generation
// that was not known when Changed was called, or the database is closed.
func (w *Watch) Changed() <-chan struct{} {
	w.news.mu.Lock()
	defer w.news.mu.Unlock()
	return w.news.changed
}

// Close ends the watch. It may be called more than once.
func (w *Watch) Close() {
	w.once.Do(func() {
		w.news.mu.Lock()
		defer w.news.mu.Unlock()
		w.news.watches--
		if w.news.watches == 0 && w.news.stop != nil {
			w.news.stop()
			w.news.stop = nil
		}
	})
}

// news is what watches share.
type news struct {
	mu         sync.Mutex
	generation int64
	newest     atomic.Int64  // generation, without the lock
	changed    chan struct{} // closed and replaced at every new generation
	watches    int
	stop       context.CancelFunc // of the poller; nil while there is none
	pollers    sync.WaitGroup
	closed     bool
}

func newNews() *news { return &news{changed: make(chan struct{})} }

// publish wakes the watches if the generation is new.
func (n *news) publish(generation int64) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if generation > n.generation && !n.closed {
		n.generation = generation
		n.newest.Store(generation)
		close(n.changed)
		n.changed = make(chan struct{})
	}
}

// close wakes the watches for the last time and waits for the poller.
func (n *news) close() {
	n.mu.Lock()
	if !n.closed {
		n.closed = true
		close(n.changed)
	}
	if n.stop != nil {
		n.stop()
		n.stop = nil
	}
	n.mu.Unlock()
	n.pollers.Wait()
}

// poll looks for generations of other processes until ctx is done.
func (db *DB) poll(ctx context.Context) {
	ticker := time.NewTicker(db.pollInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		err := db.Read(ctx, func(ctx context.Context, s *Snapshot) error {
			generation, err := s.Generation(ctx)
			if err == nil {
				db.news.publish(generation)
			}
			return err
		})
		if err != nil && ctx.Err() == nil {
			db.log.Warn("looking for changes of other processes failed; it is tried again", "error", err)
		}
	}
}
