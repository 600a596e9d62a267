package sqldb

import (
	"context"
	"errors"
	"sync"
)

// Pools are the sessions of a database.
type Pools struct {
	Writer  *Pool // of steps and settings
	Readers *Pool // of Read
	Cluster *Pool // of a Cluster; nil in SQLite
}

// Close closes all sessions.
func (p *Pools) Close() (err error) {
	for _, p := range []*Pool{p.Readers, p.Writer, p.Cluster} {
		if p != nil {
			err = errors.Join(err, p.Close())
		}
	}
	return err
}

// Pool lends sessions. The pools of database/sql and pgx cannot keep a statement
// prepared on a connection that a transaction uses, and preparing costs as much as
// reading a page.
type Pool struct {
	open     func(context.Context) (connection, error)
	free     chan *Session // nil: opened when first needed
	shared   *DB
	size     int
	readOnly bool
	done     chan struct{}
	once     sync.Once
	// committing is called before each COMMIT, for tests.
	Committing func()
}

func newPool(open func(context.Context) (connection, error), size int, readOnly bool, shared *DB) *Pool {
	p := &Pool{open: open, shared: shared, free: make(chan *Session, size), size: size, readOnly: readOnly, done: make(chan struct{})}
	for range size {
		p.free <- nil
	}
	return p
}

// Size is the number of sessions.
func (p *Pool) Size() int { return p.size }

// Close waits for lent sessions and closes all.
func (p *Pool) Close() (err error) {
	p.once.Do(func() {
		close(p.done)
		for range p.size {
			if s := <-p.free; s != nil {
				err = errors.Join(err, s.Conn.Close())
			}
		}
	})
	return err
}

// Transact runs fn between BEGIN and COMMIT, or ROLLBACK if fn fails or panics.
// ctx ends the statements of fn, but not the transaction: database/sql would roll
// it back from another goroutine while the connection is returned.
func (p *Pool) Transact(ctx context.Context, fn func(s *Session) error) error {
	s, err := p.Acquire(ctx)
	return p.within(ctx, s, err, fn)
}

// TryTransact is transact if a session is free; otherwise it does nothing. Code
// that holds a session must not wait for another.
func (p *Pool) TryTransact(ctx context.Context, fn func(s *Session) error) error {
	s, err := p.tryAcquire(ctx)
	return p.within(ctx, s, err, fn)
}

// within runs a transaction on a session, if it was acquired, and releases the session.
func (p *Pool) within(ctx context.Context, s *Session, err error, fn func(s *Session) error) error {
	if err != nil || s == nil {
		return err
	}
	sound := false
	defer func() { p.Release(s, sound) }()
	s.takesIDs, s.failed = false, nil
	if err := s.Conn.Begin(context.WithoutCancel(ctx), p.readOnly); err != nil {
		return err
	}
	defer func() {
		if !sound { // fn failed or panicked
			sound = s.Conn.Rollback() == nil
		}
	}()
	if err := fn(s); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if p.Committing != nil {
		p.Committing()
	}
	if err := s.Conn.Commit(); err != nil {
		return err // the state of the session is unknown: discard it
	}
	sound = true
	return nil
}

// Lend runs fn outside of any transaction.
func (p *Pool) Lend(ctx context.Context, fn func(s *Session) error) error {
	s, err := p.Acquire(ctx)
	return p.lent(s, err, fn)
}

// TryLend is lend if a session is free; otherwise it does nothing.
func (p *Pool) TryLend(ctx context.Context, fn func(s *Session) error) error {
	s, err := p.tryAcquire(ctx)
	return p.lent(s, err, fn)
}

func (p *Pool) lent(s *Session, err error, fn func(s *Session) error) error {
	if err != nil || s == nil {
		return err
	}
	sound := false
	defer func() { p.Release(s, sound) }()
	s.failed = nil
	err = fn(s)
	sound = err == nil
	return err
}

// Acquire waits for a session, which Release gives back.
func (p *Pool) Acquire(ctx context.Context) (*Session, error) {
	select {
	case <-p.done:
		return nil, errClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	case s := <-p.free:
		return p.opened(ctx, s)
	}
}

// tryAcquire is acquire if a session is free, otherwise nil.
func (p *Pool) tryAcquire(ctx context.Context) (*Session, error) {
	select {
	case s := <-p.free:
		return p.opened(ctx, s)
	default:
		return nil, nil
	}
}

// opened opens a lent session that was never used.
func (p *Pool) opened(ctx context.Context, s *Session) (*Session, error) {
	if s != nil {
		return s, nil
	}
	conn, err := p.open(ctx)
	if err != nil {
		p.free <- nil
		return nil, err
	}
	return &Session{Conn: conn, DB: p.shared}, nil
}

// Release gives back a session; one that is not sound is closed.
func (p *Pool) Release(s *Session, sound bool) {
	if !sound {
		_ = s.Conn.Close() // it is not used again
		s = nil
	}
	p.free <- s
}

// statements are the prepared statements of a connection, by their text.
type statements[T any] struct {
	Kept map[string]T
}

// get returns the statement of a text. It is prepared if it is new.
func (s *statements[T]) get(text string, prepare func() (T, error)) (T, error) {
	if stmt, ok := s.Kept[text]; ok {
		return stmt, nil
	}
	stmt, err := prepare()
	if err != nil {
		return stmt, err
	}
	if s.Kept == nil {
		s.Kept = map[string]T{}
	}
	s.Kept[text] = stmt
	return stmt, nil
}
