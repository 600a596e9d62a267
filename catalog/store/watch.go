package store

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"time"

	"github.com/repoglot/repoglot/catalog/store/internal/sqldb"
)

// Watch reports changes of the database. All watches share one wake-up per
// generation: a step or change of settings of this process wakes them at once. As
// long as a watch is open, changes by other processes are learnt, too: from the
// notifications of PostgreSQL, and on every engine by a query every
// Options.PollInterval. A process that serves what others write keeps a watch open.
// To miss nothing: call Changed, read, wait for the channel, and repeat.
type Watch struct {
	notifier *notifier
	once     sync.Once
}

// Watch opens a watch. The caller must close it.
func (db *DB) Watch() *Watch {
	n := db.notifier
	n.mu.Lock()
	defer n.mu.Unlock()
	n.watches++
	if n.watches == 1 && !n.closed {
		ctx, stop := context.WithCancel(context.Background())
		n.stop = stop
		n.pollers.Go(func() { db.follow(ctx) })
	}
	return &Watch{notifier: n}
}

// Published is the newest generation that this process has committed or announced
// (Snapshot.Announce; a watch does so, too); 0 before the first. A snapshot that
// begins after the call shows that generation or a newer one.
func (db *DB) Published() int64 { return db.generations.published.Load() }

// Changed returns a channel that is closed when a generation newer than the last
// known one appears, or when the database is closed.
func (w *Watch) Changed() <-chan struct{} {
	w.notifier.mu.Lock()
	defer w.notifier.mu.Unlock()
	return w.notifier.changed
}

// Close closes the watch. It may be called more than once.
func (w *Watch) Close() {
	w.once.Do(func() {
		w.notifier.mu.Lock()
		defer w.notifier.mu.Unlock()
		w.notifier.watches--
		if w.notifier.watches == 0 && w.notifier.stop != nil {
			w.notifier.stop()
			w.notifier.stop = nil
		}
	})
}

// notifier is the state that all watches share.
type notifier struct {
	interval   time.Duration // between two polls
	mu         sync.Mutex
	generation int64
	changed    chan struct{} // closed and replaced for every new generation
	watches    int
	stop       context.CancelFunc // of the poller; nil if it does not run
	pollers    sync.WaitGroup
	closed     bool
}

// publish wakes the watches if the generation is new.
func (n *notifier) publish(generation int64) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if generation > n.generation && !n.closed {
		n.generation = generation
		close(n.changed)
		n.changed = make(chan struct{})
	}
}

// close wakes the watches a last time and waits for the poller.
func (n *notifier) close() {
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

// within calls fn with a context that ends after followTime.
func within(ctx context.Context, fn func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, sqldb.FollowTime)
	defer cancel()
	return fn(ctx)
}

// follow learns what other processes write until ctx is done.
func (db *DB) follow(ctx context.Context) {
	notified := make(chan struct{}, 1)
	wake := func(c chan struct{}) func() {
		return func() {
			select {
			case c <- struct{}{}:
			default:
			}
		}
	}
	var listener sync.WaitGroup
	defer listener.Wait()
	listener.Go(func() { db.sql.Engine.Listen(ctx, wake(notified), wake(db.wished)) })
	ticker := time.NewTicker(db.notifier.interval)
	defer ticker.Stop()
	failed := false
	for {
		select {
		case <-ctx.Done():
			return
		case <-notified:
		case <-ticker.C:
		}
		err := errors.Join(within(ctx, db.followServer), within(ctx, db.Refresh))
		db.sql.Engine.CatchUp(ctx)
		switch {
		case ctx.Err() != nil:
			return
		case err != nil && !failed:
			db.log.Warn("looking for changes of other processes failed; it is tried again", "error", err)
		case err == nil && failed:
			db.log.Info("changes of other processes are seen again")
		}
		failed = err != nil
	}
}

// historyGap is more than the generations that a failover loses.
const historyGap = 1_000_000

// followServer renews the history of the clock if the database is on another server, or
// another timeline, than before: transactions may be lost that clients and processes have
// seen. The generation then leaves a gap, and everything counts as changed, so that no
// process takes what it kept for what the database has.
func (db *DB) followServer(ctx context.Context) error {
	identity := db.sql.Engine.Server()
	if identity == "" || identity == db.server {
		return nil
	}
	var stored string
	if err := db.Cluster().Do(ctx, "note the server", func(s *sqldb.Session) error {
		found, err := s.First(ctx, `SELECT identity FROM servers WHERE one = 1`, nil, &stored)
		if err == nil && !found {
			stored = identity
			err = s.Do(ctx, `INSERT INTO servers (one, identity) VALUES (1, $1) ON CONFLICT DO NOTHING`, identity)
		}
		return err
	}); err != nil {
		return err
	}
	if stored != identity {
		if err := db.renewHistory(ctx, identity); err != nil {
			return err
		}
	}
	db.server = identity
	return nil
}

// renewHistory begins a new history, unless another process has done so.
func (db *DB) renewHistory(ctx context.Context, identity string) error {
	renewed := int64(0)
	err := db.write(ctx, func(s *sqldb.Session) (err error) {
		renewed, err = s.Exec(ctx, `UPDATE servers SET identity = $1 WHERE one = 1 AND identity <> $1`, identity)
		if err != nil || renewed == 0 {
			return err
		}
		return newHistory(ctx, s)
	})
	if err == nil && renewed > 0 {
		db.log.Warn("the database is on another server, or was put back: its history begins anew", "server", identity)
	}
	return db.fail(ctx, "renew the history", err)
}

// newHistory gives what generations count another name, and leaves a gap.
func newHistory(ctx context.Context, s *sqldb.Session) error {
	var generation int64
	_, err := s.First(ctx, `UPDATE clock SET history = substr(md5(gen_random_uuid()::text), 1, 16),
		generation = generation + $1, configured = generation + $1, public = generation + $1 WHERE one = 1 RETURNING generation`, []any{int64(historyGap)}, &generation)
	return cmp.Or(err, s.Do(ctx, `UPDATE components SET generation = $1`, generation), s.Do(ctx, `UPDATE projects SET generation = $1`, generation))
}
