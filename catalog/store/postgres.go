package store

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgconn/ctxwatch"

	"github.com/repoglot/repoglot/catalog"
)

// pgEngine is a database of PostgreSQL.
type pgEngine struct {
	dsn    string
	config *pgconn.Config // of sessions that write
	reads  *pgconn.Config // of those that read
	log    *slog.Logger
	long   atomic.Int32 // snapshots of ReadLong that are open
}

// oldestServer is the oldest version of PostgreSQL that is supported.
const oldestServer = 15

// A writer that is stopped or cut off holds its locks for as long as idleLimit, and
// lockLimit is how long another waits for them.
// A snapshot holds up no writer, only the removal of old rows.
const (
	readIdleLimit = 10 * time.Minute

	idleLimit = 10 * time.Second
	lockLimit = 10 * time.Second
)

func newPostgres(dsn string, opts Options) *pgEngine { return &pgEngine{dsn: dsn, log: opts.Logger} }

// open connects to the server.
func (e *pgEngine) open(ctx context.Context, opts Options, shared *shared) (p pools, err error) {
	if e.config, err = pgconn.ParseConfig(e.dsn); err != nil {
		return p, refusal("the address of the database is not valid: " + oneLine(err.Error()))
	}
	e.configure(opts)
	conn, err := e.dial(ctx, e.config)
	if err != nil {
		return p, err
	}
	err = errors.Join(e.migrate(ctx, conn, opts.Shared), conn.Close(ctx))
	if err != nil {
		return p, err
	}
	shared.dialect = dialect{insertRows: 8 * insertRows}
	connect := func(config *pgconn.Config) func(context.Context) (connection, error) {
		return func(ctx context.Context) (connection, error) {
			c, err := e.connect(ctx, config)
			if err != nil {
				return nil, err
			}
			return c, nil
		}
	}
	return pools{
		writer:  newPool(connect(e.config), 1, false, shared),
		readers: newPool(connect(e.reads), opts.Readers, true, shared),
		long:    newPool(connect(e.reads), longReaders, true, shared),
	}, nil
}

// configure sets the parameters of sessions: they win over those of the address.
func (e *pgEngine) configure(opts Options) {
	milliseconds := func(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) }
	set := e.config.RuntimeParams
	set["client_encoding"] = "UTF8"
	set["synchronous_commit"] = "on"
	set["idle_in_transaction_session_timeout"] = milliseconds(idleLimit)
	set["lock_timeout"] = milliseconds(min(lockLimit, opts.BusyTimeout))
	set["tcp_user_timeout"] = milliseconds(lockLimit)
	set["plan_cache_mode"] = "force_generic_plan"
	if set["application_name"] == "" {
		set["application_name"] = "repoglot"
	}
	e.config.BuildContextWatcherHandler = func(conn *pgconn.PgConn) ctxwatch.Handler {
		return &pgconn.CancelRequestContextWatcherHandler{Conn: conn, DeadlineDelay: time.Second}
	}
	e.reads = e.config.Copy()
	e.reads.RuntimeParams["idle_in_transaction_session_timeout"] = milliseconds(readIdleLimit)
}

// dial opens a connection and checks what is at its other end.
func (e *pgEngine) dial(ctx context.Context, config *pgconn.Config) (*pgconn.PgConn, error) {
	conn, err := pgconn.ConnectConfig(ctx, config)
	if err != nil {
		return nil, err
	}
	version := conn.ParameterStatus("server_version")
	n := 0 // "15.18 (Debian 15.18-0)", "16beta1"
	_, _ = fmt.Sscanf(version, "%d", &n)
	switch encoding := conn.ParameterStatus("server_encoding"); {
	case n < oldestServer:
		err = refusal(fmt.Sprintf("the server is PostgreSQL %s: repoglot needs version %d or newer", version, oldestServer))
	case encoding != "UTF8":
		err = refusal(fmt.Sprintf("the database has the encoding %s: create one with ENCODING 'UTF8'", encoding))
	}
	if err != nil {
		return nil, errors.Join(err, conn.Close(ctx))
	}
	return conn, nil
}

// address names a database of PostgreSQL in messages, without its password.
func address(dsn string) string {
	c, err := pgconn.ParseConfig(dsn)
	if err != nil {
		return "of PostgreSQL"
	}
	host := c.Host
	if !strings.HasPrefix(host, "/") {
		host = net.JoinHostPort(host, strconv.Itoa(int(c.Port)))
	}
	return fmt.Sprintf("%q of %s at %s", c.Database, c.User, host)
}

func (*pgEngine) close() []error            { return nil }
func (*pgEngine) committed(context.Context) {}

func (e *pgEngine) beginLongRead() (end func(context.Context)) {
	if e.long.Add(1) > longReaders {
		e.long.Add(-1)
		return nil
	}
	return func(context.Context) { e.long.Add(-1) }
}

func (*pgEngine) checkAge() error { return nil }

func (e *pgEngine) explain(err error) (text string, sentinel error, found bool) {
	var refused refusal
	if errors.As(err, &refused) {
		return string(refused), nil, true
	}
	var server *pgconn.PgError
	if errors.As(err, &server) {
		text, sentinel = explainCode(server)
		return text, sentinel, true
	}
	var connecting *pgconn.ConnectError
	if errors.As(err, &connecting) {
		return "no connection to PostgreSQL: " + oneLine(connecting.Error()) + ": check that the server runs, and the address", ErrUnavailable, true
	}
	var gone lost
	if errors.As(err, &gone) {
		return "the connection was lost (" + oneLine(gone.Error()) + "): nothing of the operation was stored", ErrUnavailable, true
	}
	return "", nil, false
}

// explainCode explains an error of the server
// (https://www.postgresql.org/docs/15/errcodes-appendix.html).
func explainCode(e *pgconn.PgError) (text string, sentinel error) {
	said := oneLine(e.Message)
	switch {
	case e.Code == "55P03":
		return "another process is writing: try again", ErrUnavailable
	case e.Code == "40001", e.Code == "40P01":
		return "another process wrote the same (" + said + "): try again", ErrUnavailable
	case e.Code == "53100":
		return "the disk of the server is full: nothing was lost; free some space, the next pull goes on", ErrUnavailable
	case e.Code == "53300":
		return "the server has too few connections (" + said + "): raise max_connections", ErrUnavailable
	case e.Code == "3D000":
		return said + ": create it", nil
	case e.Code == "25006":
		return "the database cannot be written: it is read-only", ErrUnavailable
	case strings.HasPrefix(e.Code, "28"):
		return said + ": check user and password", nil
	case strings.HasPrefix(e.Code, "23"):
		return "the write contradicts what is stored (" + said + ")", catalog.ErrConflict
	case strings.HasPrefix(e.Code, "08"), strings.HasPrefix(e.Code, "53"), strings.HasPrefix(e.Code, "57P"), strings.HasPrefix(e.Code, "58"), e.Code == "25P03":
		return said + ": try again", ErrUnavailable
	}
	return said + " (" + e.Code + ")", nil
}
