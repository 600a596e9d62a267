package sqldb

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

// Unheard finds connections on which an answer was lost: what lies between takes packets
// and passes none on, which the kernel cannot notice. Connections are seldom lost alone:
// when one is, all that were not heard since it waits are in doubt. They are replaced
// before their next transaction, or asked about at once if they wait, too. One after
// another they would hold up a process for minutes.
type Unheard struct {
	Mu    sync.Mutex
	Conns map[*HeardConn]bool
	Since atomic.Int64       // when the latest lost one began to wait, in Unix nanoseconds
	stop  context.CancelFunc // nil: it does not run
	done  chan struct{}
}

// HeardConn is a connection that knows since when it waits for the server.
type HeardConn struct {
	net.Conn
	Of    *Unheard
	PID   uint32
	Since atomic.Int64 // in Unix nanoseconds; 0: it does not wait
	Heard atomic.Int64 // when the server sent something last
	times int          // how often in a row the server had answered
}

func (c *HeardConn) Read(b []byte) (int, error) {
	began := time.Now().UnixNano()
	c.Since.Store(began)
	n, err := c.Conn.Read(b)
	if n > 0 {
		c.Heard.Store(time.Now().UnixNano())
	}
	c.Since.Store(0)
	if errors.Is(err, os.ErrDeadlineExceeded) && c.PID != 0 { // the server did not even say that it cancels
		c.Of.lost(began)
	}
	return n, err
}

// InDoubt reports whether another connection was lost since this one was heard.
func (c *HeardConn) InDoubt() bool { return c.Heard.Load() < c.Of.Since.Load() }

func (c *HeardConn) Close() error {
	c.Of.Mu.Lock()
	delete(c.Of.Conns, c)
	c.Of.Mu.Unlock()
	return c.Conn.Close()
}

// Every lookInterval connections are asked about that have waited for maxUnanswered, and
// ended when the server was not at work for them maxUnheard times in a row: a lost one
// is found within lockLimit.
const (
	MaxUnanswered = lockLimit / 2
	maxUnheard    = 2
	lookInterval  = lockLimit / 5
)

// heardKey finds the heardConn of a connection.
const heardKey = "heard"

// inDoubt reports whether another connection was lost since this one was heard.
func inDoubt(conn *pgconn.PgConn) bool {
	c, ok := conn.CustomData()[heardKey].(*HeardConn)
	return ok && c.InDoubt()
}

// lost notes that a connection was lost that has waited since then.
func (u *Unheard) lost(since int64) {
	for {
		known := u.Since.Load()
		if known >= since || u.Since.CompareAndSwap(known, since) {
			return
		}
	}
}

// connect opens a connection that is looked after.
func (u *Unheard) connect(ctx context.Context, config *pgconn.Config) (*pgconn.PgConn, error) {
	var last atomic.Pointer[HeardConn]
	own, dial := config.Copy(), config.DialFunc
	own.DialFunc = func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		heard := &HeardConn{Conn: conn, Of: u}
		last.Store(heard)
		return heard, nil
	}
	conn, err := pgconn.ConnectConfig(ctx, own)
	if err == nil {
		heard := last.Load()
		conn.CustomData()[heardKey] = heard
		u.Mu.Lock()
		heard.PID = conn.PID()
		u.Conns[heard] = true
		u.Mu.Unlock()
	}
	return conn, err
}

// run looks after connections until close is called. active reports whether the server
// is at work for a connection.
func (u *Unheard) run(active func(ctx context.Context, pid uint32) (bool, error)) {
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
			u.Look(ctx, time.Now(), active)
		}
	}()
}

// Close ends run.
func (u *Unheard) Close() {
	if u.stop != nil {
		u.stop()
		<-u.done
	}
}

// Look ends the connections whose answers were lost.
func (u *Unheard) Look(ctx context.Context, now time.Time, active func(ctx context.Context, pid uint32) (bool, error)) {
	u.Mu.Lock()
	var waiting []*HeardConn
	for c := range u.Conns {
		if since := c.Since.Load(); since != 0 && (c.InDoubt() || now.Sub(time.Unix(0, since)) >= MaxUnanswered) {
			waiting = append(waiting, c)
		} else {
			c.times = 0
		}
	}
	u.Mu.Unlock()
	for _, c := range waiting {
		since := c.Since.Load()
		ctx, cancel := context.WithTimeout(ctx, connectTimeout)
		works, err := active(ctx, c.PID)
		cancel()
		switch {
		case err != nil:
		case works, c.Since.Load() != since:
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
func (e *Postgres) works(ctx context.Context, pid uint32) (bool, error) {
	conn, err := e.dial(ctx, e.Config)
	if err != nil {
		return false, err
	}
	defer conn.Close(ctx)
	active, err := onlyValue(ctx, conn, "SELECT COUNT(*) FROM pg_stat_activity WHERE state = 'active' AND pid = "+strconv.FormatUint(uint64(pid), 10))
	return active != "0", err
}
