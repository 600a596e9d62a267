package store

import (
	"context"
	"database/sql/driver"
	"errors"
	"sync"
)

// pools are the sessions of a database.
type pools struct {
	writer  *pool // of steps and settings
	readers *pool // of Read
	long    *pool // of ReadLong
	cluster *pool // of a Cluster; nil in SQLite
}

func (p *pools) close() {
	for _, p := range []*pool{p.readers, p.long, p.writer, p.cluster} {
		if p != nil {
			p.close()
		}
	}
}

// pool lends sessions. The pools of database/sql and pgx cannot keep a statement
// prepared on a connection that a transaction uses, and preparing costs as much as
// reading a page.
type pool struct {
	open     func(context.Context) (connection, error)
	free     chan *session // nil: opened when first needed
	shared   *shared
	size     int
	readOnly bool
	done     chan struct{}
	once     sync.Once
	// committing is called before each COMMIT, for tests.
	committing func()
}

func newPool(open func(context.Context) (connection, error), size int, readOnly bool, shared *shared) *pool {
	p := &pool{open: open, shared: shared, free: make(chan *session, size), size: size, readOnly: readOnly, done: make(chan struct{})}
	for range size {
		p.free <- nil
	}
	return p
}

// close waits for lent sessions and closes all.
func (p *pool) close() {
	p.once.Do(func() {
		close(p.done)
		for range p.size {
			if s := <-p.free; s != nil {
				s.conn.close(true)
			}
		}
	})
}

// transact runs fn between BEGIN and COMMIT, or ROLLBACK if fn fails or panics.
// ctx ends the statements of fn, but not the transaction: database/sql would roll
// it back from another goroutine while the connection is returned.
func (p *pool) transact(ctx context.Context, fn func(s *session) error) error {
	s, err := p.acquire(ctx)
	if err != nil {
		return err
	}
	return p.within(ctx, s, fn)
}

// tryTransact is transact if a session is free; otherwise it does nothing. Code
// that holds a session must not wait for another.
func (p *pool) tryTransact(ctx context.Context, fn func(s *session) error) error {
	s, err := p.tryAcquire(ctx)
	if err != nil || s == nil {
		return err
	}
	return p.within(ctx, s, fn)
}

// within runs a transaction on an acquired session and releases the session.
func (p *pool) within(ctx context.Context, s *session, fn func(s *session) error) (err error) {
	sound := false
	defer func() { p.release(s, sound) }()
	s.takesIDs = false
	tx, err := s.conn.begin(context.WithoutCancel(ctx), p.readOnly)
	if err != nil {
		sound = !errors.Is(err, driver.ErrBadConn)
		return err
	}
	defer func() {
		if !sound { // fn failed or panicked
			sound = tx.Rollback() == nil
		}
	}()
	if err := fn(s); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if p.committing != nil {
		p.committing()
	}
	if err := tx.Commit(); err != nil {
		return err // the state of the session is unknown: discard it
	}
	sound = true
	return nil
}

// lend runs fn outside of any transaction.
func (p *pool) lend(ctx context.Context, fn func(s *session) error) error {
	s, err := p.acquire(ctx)
	if err != nil {
		return err
	}
	return p.lent(s, fn)
}

// tryLend is lend if a session is free; otherwise it does nothing.
func (p *pool) tryLend(ctx context.Context, fn func(s *session) error) error {
	s, err := p.tryAcquire(ctx)
	if err != nil || s == nil {
		return err
	}
	return p.lent(s, fn)
}

func (p *pool) lent(s *session, fn func(s *session) error) error {
	sound := false
	defer func() { p.release(s, sound) }()
	err := fn(s)
	sound = err == nil
	return err
}

func (p *pool) acquire(ctx context.Context) (*session, error) {
	select {
	case <-p.done:
		return nil, errClosed
	default:
	}
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
func (p *pool) tryAcquire(ctx context.Context) (*session, error) {
	select {
	case <-p.done:
		return nil, errClosed
	default:
	}
	select {
	case s := <-p.free:
		return p.opened(ctx, s)
	default:
		return nil, nil
	}
}

// opened opens a lent session that was never used.
func (p *pool) opened(ctx context.Context, s *session) (*session, error) {
	if s != nil {
		return s, nil
	}
	s, err := p.openSession(ctx)
	if err != nil {
		p.free <- nil
	}
	return s, err
}

func (p *pool) openSession(ctx context.Context) (*session, error) {
	conn, err := p.open(ctx)
	if err != nil {
		return nil, err
	}
	return &session{conn: conn, shared: p.shared}, nil
}

func (p *pool) release(s *session, sound bool) {
	if !sound {
		s.conn.close(false)
		s = nil
	}
	p.free <- s
}
