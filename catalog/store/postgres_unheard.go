package store

import (
	"context"
	"errors"
	"net"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// unheard finds connections on which an answer was lost: what lies between takes packets
// and passes none on, which the kernel cannot notice. Connections are seldom lost alone:
// when one is, all that were not heard since it waits are in doubt. They are replaced
// before their next transaction, or asked about at once if they wait, too. One after
// another they would hold up a process for minutes.
type unheard struct {
	mu    sync.Mutex
	conns map[*heardConn]bool
	since atomic.Int64       // when the latest lost one began to wait, in Unix nanoseconds
	stop  context.CancelFunc // nil: it does not run
	done  chan struct{}
}

// heardConn is a connection that knows since when it waits for the server.
type heardConn struct {
	net.Conn
	of    *unheard
	pid   uint32
	since atomic.Int64 // in Unix nanoseconds; 0: it does not wait
	heard atomic.Int64 // when the server sent something last
	times int          // how often in a row the server had answered
}

func (c *heardConn) Read(b []byte) (int, error) {
	began := time.Now().UnixNano()
	c.since.Store(began)
	n, err := c.Conn.Read(b)
	if n > 0 {
		c.heard.Store(time.Now().UnixNano())
	}
	c.since.Store(0)
	if errors.Is(err, os.ErrDeadlineExceeded) && c.pid != 0 { // the server did not even say that it cancels
		c.of.lost(began)
	}
	return n, err
}

// inDoubt reports whether another connection was lost since this one was heard.
func (c *heardConn) inDoubt() bool { return c.heard.Load() < c.of.since.Load() }

func (c *heardConn) Close() error {
	c.of.mu.Lock()
	delete(c.of.conns, c)
	c.of.mu.Unlock()
	return c.Conn.Close()
}

// Every lookInterval connections are asked about that have waited for maxUnanswered, and
// ended when the server was not at work for them maxUnheard times in a row: a lost one
// is found within lockLimit.
const (
	maxUnanswered = lockLimit / 2
	maxUnheard    = 2
	lookInterval  = lockLimit / 5
)

// heardKey finds the heardConn of a connection.
const heardKey = "heard"

// inDoubt reports whether another connection was lost since this one was heard.
func inDoubt(conn *pgconn.PgConn) bool {
	c, ok := conn.CustomData()[heardKey].(*heardConn)
	return ok && c.inDoubt()
}

// lost notes that a connection was lost that has waited since then.
func (u *unheard) lost(since int64) {
	for {
		known := u.since.Load()
		if known >= since || u.since.CompareAndSwap(known, since) {
			return
		}
	}
}

// connect opens a connection that is looked after.
func (u *unheard) connect(ctx context.Context, config *pgconn.Config) (*pgconn.PgConn, error) {
	var last atomic.Pointer[heardConn]
	own, dial := config.Copy(), config.DialFunc
	own.DialFunc = func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		heard := &heardConn{Conn: conn, of: u}
		last.Store(heard)
		return heard, nil
	}
	conn, err := pgconn.ConnectConfig(ctx, own)
	if err == nil {
		heard := last.Load()
		conn.CustomData()[heardKey] = heard
		u.mu.Lock()
		heard.pid = conn.PID()
		u.conns[heard] = true
		u.mu.Unlock()
	}
	return conn, err
}

// run looks after connections until close is called. active reports whether the server
// is at work for a connection.
func (u *unheard) run(active func(ctx context.Context, pid uint32) (bool, error)) {
	ctx, stop := context.WithCancel(context.Background())
	u.stop, u.done = stop, make(chan struct{})
	go func() {
		defer close(u.done)
		ticker := time.NewTicker(lookInterval)
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
			}
			u.look(ctx, time.Now(), active)
		}
	}()
}

func (u *unheard) close() {
	if u.stop != nil {
		u.stop()
		<-u.done
	}
}

// look ends the connections whose answers were lost.
func (u *unheard) look(ctx context.Context, now time.Time, active func(ctx context.Context, pid uint32) (bool, error)) {
	u.mu.Lock()
	var waiting []*heardConn
	for c := range u.conns {
		if since := c.since.Load(); since != 0 && (c.inDoubt() || now.Sub(time.Unix(0, since)) >= maxUnanswered) {
			waiting = append(waiting, c)
		} else {
			c.times = 0
		}
	}
	u.mu.Unlock()
	for _, c := range waiting {
		since := c.since.Load()
		ctx, cancel := context.WithTimeout(ctx, connectTimeout)
		works, err := active(ctx, c.pid)
		cancel()
		switch {
		case err != nil:
		case works, c.since.Load() != since:
			c.times = 0
		default:
			if c.times++; c.times >= maxUnheard {
				u.lost(since)
				_ = c.Close() // the statement finds an error
			}
		}
	}
}

// works reports whether the server runs something for a connection.
func (e *pgEngine) works(ctx context.Context, pid uint32) (bool, error) {
	conn, err := e.dial(ctx, e.config)
	if err != nil {
		return false, err
	}
	defer conn.Close(ctx)
	active, err := onlyValue(ctx, conn, "SELECT COUNT(*) FROM pg_stat_activity WHERE state = 'active' AND pid = "+strconv.FormatUint(uint64(pid), 10))
	return active != "0", err
}
