package store

import (
	"context"
	"net"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// unheard finds connections on which an answer was lost: what lies between takes packets
// and passes none on, which the kernel cannot notice.
type unheard struct {
	mu    sync.Mutex
	conns map[*heardConn]bool
	stop  context.CancelFunc // nil: it does not run
	done  chan struct{}
}

// heardConn is a connection that knows since when it waits for the server.
type heardConn struct {
	net.Conn
	of    *unheard
	pid   uint32
	since atomic.Int64 // in Unix nanoseconds; 0: it does not wait
	times int          // how often in a row the server had answered
}

func (c *heardConn) Read(b []byte) (int, error) {
	c.since.Store(time.Now().UnixNano())
	n, err := c.Conn.Read(b)
	c.since.Store(0)
	return n, err
}

func (c *heardConn) Close() error {
	c.of.mu.Lock()
	delete(c.of.conns, c)
	c.of.mu.Unlock()
	return c.Conn.Close()
}

// A connection that waits for maxUnanswered is asked about, and ended when the server was
// not at work for it maxUnheard times in a row.
const (
	maxUnanswered = 2 * lockLimit
	maxUnheard    = 2
)

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
		ticker := time.NewTicker(lockLimit / 4)
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
		if since := c.since.Load(); since != 0 && now.Sub(time.Unix(0, since)) >= maxUnanswered {
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
