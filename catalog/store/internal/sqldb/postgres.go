package sqldb

import (
	"cmp"
	"context"
	_ "embed" // of take_ids.sql
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"net"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgconn/ctxwatch"

	"github.com/repoglot/repoglot/catalog"
)

// Postgres is a database of PostgreSQL.
type Postgres struct {
	dsn    string
	Config *pgx.ConnConfig // of sessions that write
	Reads  *pgx.ConnConfig // of those that read
	log    *slog.Logger

	connections int                     // that this process may open
	away        atomic.Pointer[failure] // the last attempt to connect; nil if it succeeded
	now         func() time.Time
	schema      atomic.Int64           // how often it was found changed
	identity    atomic.Pointer[string] // of the server that was reached last; nil: not known
}

// clusterSessions is the number of sessions of a Cluster: one may wait for a row.
const clusterSessions = 2

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

// Open connects to the server.
func (e *Postgres) Open(ctx context.Context, opts Options, shared *DB) (p Pools, err error) {
	if e.Config, err = pgx.ParseConfig(e.dsn); err != nil {
		return p, Refusal("the address of the database is not valid: " + OneLine(err.Error()))
	}
	e.configure(opts)
	conn, err := e.dial(ctx, e.Config)
	if err != nil {
		return p, err
	}
	if err := errors.Join(e.checkServer(ctx, conn, opts.Shared), conn.Close(ctx)); err != nil {
		return p, err
	}
	shared.Dialect = dialect{insertRows: 8 * insertRows, insertInto: "INSERT INTO ", Schema: pgTokens}
	connect := func(config *pgx.ConnConfig) func(context.Context) (connection, error) {
		return func(ctx context.Context) (connection, error) {
			c := &PostgresConnection{engine: e, config: config}
			return c, c.reconnect(ctx)
		}
	}
	return Pools{
		Writer:  newPool(connect(e.Config), 1, false, shared),
		Readers: newPool(connect(e.Reads), opts.Readers, true, shared),
		Cluster: newPool(connect(e.Config), clusterSessions, false, shared),
	}, nil
}

// configure sets the parameters of sessions: they win over those of the address.
func (e *Postgres) configure(opts Options) {
	milliseconds := func(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) }
	set := e.Config.RuntimeParams
	set["client_encoding"] = "UTF8"
	set["synchronous_commit"] = "on"
	set["idle_in_transaction_session_timeout"] = milliseconds(idleLimit)
	set["lock_timeout"] = milliseconds(min(lockLimit, opts.BusyTimeout))
	set["tcp_user_timeout"] = milliseconds(lockLimit)
	maps.Copy(set, Planning)
	maps.Copy(set, expected)
	set["application_name"] = cmp.Or(set["application_name"], "repoglot")
	e.Config.BuildContextWatcherHandler = func(conn *pgconn.PgConn) ctxwatch.Handler {
		return &pgconn.CancelRequestContextWatcherHandler{Conn: conn, DeadlineDelay: time.Second}
	}
	e.Config.ConnectTimeout = cmp.Or(e.Config.ConnectTimeout, connectTimeout)
	dialer := net.Dialer{KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: lockLimit / 2, Interval: time.Second, Count: int(lockLimit / 2 / time.Second)}, Control: boundUnacknowledged}
	e.Config.DialFunc = dialer.DialContext
	e.Reads = e.Config.Copy()
	e.Reads.RuntimeParams["idle_in_transaction_session_timeout"] = milliseconds(readIdleLimit)
}

// Planning has each statement planned once, for any arguments, and find its rows by
// indexes, as SQLite does. PostgreSQL takes any range of ids for a two-hundredth of the
// table: for a page of 50 units of many millions it would read other tables whole, with
// several processes, and compile the statement.
var Planning = map[string]string{
	"plan_cache_mode": "force_generic_plan", "enable_seqscan": "off", "enable_hashjoin": "off", "enable_mergejoin": "off",
	"max_parallel_workers_per_gather": "0", "jit": "off",
}

// expected are the defaults of PostgreSQL that the code relies on. The administrator may
// have set others for the database or the user: with another isolation writers would fail
// instead of waiting for each other, and a migration or a large step may take long.
var expected = map[string]string{
	"default_transaction_isolation": "read committed", "statement_timeout": "0", "idle_session_timeout": "0", "standard_conforming_strings": "on",
}

// connectTimeout bounds the opening of a connection, unless connect_timeout does.
const connectTimeout = 5 * time.Second

// After a failure nobody asks a server that is away for another connection for a while,
// awayPause at most. It does not grow: one attempt for a process costs a server little, and
// answers come back as soon as it does.
const awayPause = 500 * time.Millisecond

// failure is an attempt to connect that failed.
type failure struct {
	err   error
	until time.Time // when the next one is allowed
}

// dial opens a connection and checks what is at its other end.
func (e *Postgres) dial(ctx context.Context, config *pgx.ConnConfig) (*pgx.Conn, error) {
	if away := e.away.Load(); away != nil && e.now().Before(away.until) {
		return nil, away.err
	}
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		if ctx.Err() == nil {
			e.away.Store(&failure{err, e.now().Add(awayPause/2 + rand.N(awayPause/2))}) // processes do not come together
		}
		return nil, err
	}
	e.away.Store(nil)
	version := conn.PgConn().ParameterStatus("server_version")
	n := 0 // "15.18 (Debian 15.18-0)", "16beta1"
	_, _ = fmt.Sscanf(version, "%d", &n)
	switch encoding := conn.PgConn().ParameterStatus("server_encoding"); {
	case n < oldestServer:
		err = Refusal(fmt.Sprintf("the server is PostgreSQL %s: repoglot needs version %d or newer", version, oldestServer))
	case encoding != "UTF8":
		err = Refusal(fmt.Sprintf("the database has the encoding %s: create one with ENCODING 'UTF8'", encoding))
	}
	if err == nil {
		err = e.identify(ctx, conn)
	}
	if err != nil {
		return nil, errors.Join(err, conn.Close(ctx))
	}
	return conn, nil
}

// checkServer refuses a pooler, and a server with fewer connections than this process
// may open.
func (e *Postgres) checkServer(ctx context.Context, conn *pgx.Conn, beside bool) error {
	var pid uint32
	if err := conn.QueryRow(ctx, "SELECT pg_backend_pid()", pgx.QueryExecModeSimpleProtocol).Scan(&pid); err != nil {
		return err
	}
	if pid != conn.PgConn().PID() {
		return Refusal(poolerRefused)
	}
	if beside { // a short command
		return nil
	}
	var left int
	err := conn.QueryRow(ctx, `SELECT LEAST(
		current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int,
		(SELECT NULLIF(datconnlimit, -1) FROM pg_database WHERE datname = current_database()),
		(SELECT NULLIF(rolconnlimit, -1) FROM pg_roles WHERE rolname = current_user))`, pgx.QueryExecModeSimpleProtocol).Scan(&left)
	if err == nil && left < e.connections {
		err = Refusal(fmt.Sprintf("the server allows %d connections, and this process may need %d: raise max_connections, or lower database_readers", left, e.connections))
	}
	return err
}

// pgTokens fills in types in the migrations, as SchemaTokens does for SQLite. Texts
// are compared by bytes, whatever the collation of the database.
func pgTokens(text string) string {
	text = strings.NewReplacer("@AUTOID", "BIGINT GENERATED BY DEFAULT AS IDENTITY", "@ID", "BIGINT", "@BYTES", "BYTEA", " @CLUSTERED", "", "@POSTGRES", "", "@RANDOM", "substr(md5(gen_random_uuid()::text), 1, 16)").Replace(text)
	return textColumn.ReplaceAllString(text, `TEXT COLLATE "C"`)
}

var textColumn = regexp.MustCompile(`\bTEXT\b`)

// poolerRefused is about poolers such as PgBouncer: sessions have settings, prepared
// statements, locks and notifications, which end with each transaction there.
const poolerRefused = "the address is one of a pooler of connections: name the server itself, repoglot keeps few connections open"

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

// isStale says that a statement was prepared before the schema changed.
func isStale(e *pgconn.PgError) bool {
	return e.Code == "0A000" && strings.Contains(e.Message, "cached plan")
}

func (*Postgres) Committed(context.Context) {}

func (*Postgres) CatchUp(context.Context) {}

func (e *Postgres) Explain(err error) (text string, sentinel error, found bool) {
	if refused, ok := errors.AsType[Refusal](err); ok {
		return string(refused), nil, true
	}
	if server, ok := errors.AsType[*pgconn.PgError](err); ok {
		text, sentinel = ExplainCode(server)
		return text, sentinel, true
	}
	if connecting, ok := errors.AsType[*pgconn.ConnectError](err); ok {
		return "no connection to PostgreSQL: " + OneLine(strings.Join(slices.Compact(strings.Split(connecting.Error(), "\n")), "\n")) + ": check that the server runs, and the address", ErrUnavailable, true
	}
	if gone, ok := errors.AsType[lost](err); ok {
		return "the connection was lost (" + OneLine(gone.Error()) + "): nothing of the operation was stored", ErrUnavailable, true
	}
	return "", nil, false
}

// ExplainCode explains an error of the server
// (https://www.postgresql.org/docs/15/errcodes-appendix.html).
func ExplainCode(e *pgconn.PgError) (text string, sentinel error) {
	said := OneLine(e.Message)
	switch {
	case e.Code == "55P03":
		return "another process is writing: try again", ErrWriting
	case e.Code == "40001", e.Code == "40P01":
		return "another process wrote the same (" + said + "): try again", ErrAgain
	case isStale(e):
		return "the schema was changed (" + said + "): try again", ErrAgain
	case e.Code == "08P01" && strings.HasPrefix(e.Message, "unsupported startup parameter"): // PgBouncer
		return poolerRefused, nil
	case e.Code == "53100":
		return "the disk of the server is full: nothing was lost; free some space, the next pull goes on", ErrFull
	case e.Code == "53300":
		return "the server has too few connections (" + said + "): raise max_connections, or lower database_readers", ErrUnavailable
	case e.Code == "3D000":
		return said + ": create it", nil
	case e.Code == "42501":
		return said + ": have the user own the schema and its tables (GRANT CREATE ON SCHEMA lets it make them)", nil
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

// serverIdentity tells servers and their timelines apart: a standby that was promoted
// has another timeline, and so has a server that was put back to a moment.
const serverIdentity = `SELECT CASE WHEN pg_is_in_recovery() THEN ''
	ELSE system_identifier || '.' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) END FROM pg_control_system()`

// identify notes which server a new connection has reached. One that forbids the
// question is always the same.
func (e *Postgres) identify(ctx context.Context, conn *pgx.Conn) error {
	var identity string
	err := conn.QueryRow(ctx, serverIdentity, pgx.QueryExecModeSimpleProtocol).Scan(&identity)
	switch {
	case err != nil && conn.IsClosed():
		return err
	case err == nil && identity != "":
		e.identity.Store(&identity)
	}
	return nil
}

func (e *Postgres) Server() string {
	if identity := e.identity.Load(); identity != nil {
		return *identity
	}
	return ""
}

// takeIDs makes the sequences go on after the largest ids, so that a transaction
// that was rolled back, or a process that was killed, leaves no gap. Nothing is done
// if another transaction has taken ids that nobody sees yet: then a gap may stay. The
// exclusive lock ends with the inner block, the change of a sequence does not.
//
//go:embed take_ids.sql
var takeIDs string

// WillTakeIDs is called before a statement that takes an id from a sequence.
func (s *Session) WillTakeIDs(ctx context.Context) error {
	if s.DB.Dialect.Sqlite || s.takesIDs {
		return nil
	}
	s.takesIDs = true
	return s.Do(ctx, takeIDs)
}

// notifyReaders tells the processes that listen that there is a new generation, when
// the transaction commits. Schemas of one database have channels of their own.
const notifyReaders = `SELECT pg_notify('repoglot_' || current_schema()::regnamespace::oid, '')`

// pullWished is the text of the notification that a branch is due.
const pullWished = "pull"

// NotifyPullers tells them that a branch is due.
const NotifyPullers = `SELECT pg_notify('repoglot_' || current_schema()::regnamespace::oid, '` + pullWished + `')`

const listenToWriters = `DO $$ BEGIN EXECUTE 'LISTEN repoglot_' || current_schema()::regnamespace::oid; END $$`

// Notify wakes the readers in other processes, if the transaction commits. With SQLite
// they find out by themselves.
func (s *Session) Notify(ctx context.Context) error {
	if s.DB.Dialect.Sqlite {
		return nil
	}
	return s.Do(ctx, notifyReaders)
}

// Listen waits for notifications on a connection of its own.
func (e *Postgres) Listen(ctx context.Context, wake, wished func()) {
	for ctx.Err() == nil {
		err := e.listenOnce(ctx, wake, wished)
		if ctx.Err() != nil {
			return
		}
		e.log.Debug("notifications of PostgreSQL are not received; it is tried again", "error", err)
		select {
		case <-ctx.Done():
		case <-time.After(listenPause):
		}
	}
}

// listenPause is how long listen waits before it connects again. Meanwhile a Watch
// asks every Options.PollInterval.
const listenPause = time.Second

// listenOnce listens until the connection fails.
func (e *Postgres) listenOnce(ctx context.Context, wake, wished func()) error {
	config := e.Reads.Copy()
	config.OnNotification = func(_ *pgconn.PgConn, n *pgconn.Notification) {
		if n.Payload == pullWished {
			wished()
			return
		}
		wake()
	}
	config.BuildContextWatcherHandler = func(conn *pgconn.PgConn) ctxwatch.Handler { // nothing to cancel
		return &pgconn.DeadlineContextWatcherHandler{Conn: conn.Conn()}
	}
	whole, err := e.dial(ctx, config)
	if err != nil {
		return err
	}
	conn := whole.PgConn()
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		_ = conn.Close(ctx)
	}()
	if err := conn.Exec(ctx, listenToWriters).Close(); err != nil {
		return err
	}
	wake() // there may be news from before
	wished()
	for {
		if err := waitOrProbe(ctx, conn); err != nil {
			return err
		}
	}
}

// FollowTime bounds one look at the database: on a connection that passes nothing on it
// would never end.
const FollowTime = 5 * time.Second

// After probeInterval without a notification the server is asked whether it is there.
const probeInterval = lockLimit / 2

// waitOrProbe waits for a notification.
func waitOrProbe(ctx context.Context, conn *pgconn.PgConn) error {
	waiting, done := context.WithTimeout(ctx, probeInterval)
	err := conn.WaitForNotification(waiting)
	done()
	if err == nil || ctx.Err() != nil || conn.IsClosed() || !pgconn.Timeout(err) {
		return err
	}
	asking, done := context.WithTimeout(ctx, FollowTime)
	defer done()
	return conn.Ping(asking)
}
