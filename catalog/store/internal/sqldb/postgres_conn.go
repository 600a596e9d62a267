package sqldb

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// PostgresConnection is a connection to PostgreSQL. Statements whose result nobody needs
// (do, insert, BEGIN) wait and are sent with the next one, or with COMMIT, in one
// round trip.
type PostgresConnection struct {
	engine *Postgres
	config *pgx.ConnConfig
	Conn   *pgconn.PgConn
	whole  *pgx.Conn // which has Conn
	Stmts  statements[*pgconn.StatementDescription]
	names  int // statements prepared so far, which names them

	waiting pgconn.Batch // statements that are not sent yet, BEGIN among them
	count   int          // how many
	bytes   int          // the size of their arguments
	sent    bool         // something of the transaction was sent
	stale   bool         // a statement was prepared before the schema changed
	schema  int64        // engine.schema when it was opened
	ended   func()       // ends keepAlive

	mu    sync.Mutex // held while a statement runs; keepAlive uses the connection, too
	inUse bool       // a statement of the owner is running
	used  time.Time

	args pgArgs
}

// Statements wait until there are maxWaiting of them, or until their arguments have
// maxWaitingBytes.
const (
	maxWaiting      = 256
	maxWaitingBytes = 1 << 20
)

// errNested says that a statement was run while the rows of another one were read.
// SQLite allows it, PostgreSQL does not.
var errNested = errors.New("a statement was run within another one")

// errStale says that the connection has statements of an older schema.
var errStale = errors.New("the schema was changed")

// lost is the error of a connection that is gone.
type lost struct{ error }

func (l lost) Unwrap() error { return l.error }

// binaryFormat is the format of all results.
var binaryFormat = []int16{1}

func (c *PostgresConnection) reconnect(ctx context.Context) error {
	schema := c.engine.schema.Load()
	conn, err := c.engine.dial(ctx, c.config)
	if err != nil {
		return err
	}
	c.schema = schema
	c.whole, c.Conn, c.Stmts, c.names = conn, conn.PgConn(), statements[*pgconn.StatementDescription]{}, 0
	return nil
}

func (c *PostgresConnection) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_ = c.Conn.Close(ctx) // the server may be gone
	return nil
}

// lock reserves the connection for a statement.
func (c *PostgresConnection) lock() error {
	if c.inUse {
		return errNested
	}
	c.mu.Lock()
	c.inUse = true
	return nil
}

func (c *PostgresConnection) unlock() {
	c.inUse = false
	c.used = time.Now()
	c.mu.Unlock()
}

// broken marks an error of a connection that is gone.
func (c *PostgresConnection) broken(err error) error {
	if err != nil && c.Conn.IsClosed() {
		return lost{err}
	}
	if server, ok := errors.AsType[*pgconn.PgError](err); ok && isStale(server) {
		c.stale = true
		c.engine.schema.CompareAndSwap(c.schema, c.schema+1)
	}
	return err
}

// prepared returns a statement, prepared for arguments of these types. Their types
// decide what PostgreSQL takes them for, so that it does not choose a smaller one.
func (c *PostgresConnection) prepared(ctx context.Context, query string, args []any) (*pgconn.StatementDescription, error) {
	return c.Stmts.get(query, func() (*pgconn.StatementDescription, error) {
		c.names++
		sd, err := c.Conn.Prepare(ctx, "s"+strconv.Itoa(c.names), query, oidsOf(args))
		if err != nil {
			return nil, fmt.Errorf("%w in %q", err, query)
		}
		return sd, nil
	})
}

// run sends the statements that wait, and then one whose result the caller reads
// and closes with end. A connection that is found closed before anything of the
// transaction was done is replaced.
func (c *PostgresConnection) run(ctx context.Context, query string, args []any) (rows *pgconn.ResultReader, end func() (int64, error), err error) {
	if err := c.lock(); err != nil {
		return nil, nil, err
	}
	rows, end, err = c.attempt(ctx, query, args)
	if err != nil && c.Conn.IsClosed() && !c.sent && ctx.Err() == nil && c.reconnect(ctx) == nil {
		rows, end, err = c.attempt(ctx, query, args)
	}
	if err != nil {
		err = c.broken(err)
		c.unlock()
	}
	return rows, end, err
}

func (c *PostgresConnection) attempt(ctx context.Context, query string, args []any) (*pgconn.ResultReader, func() (int64, error), error) {
	sd, err := c.prepared(ctx, query, args)
	if err != nil {
		return nil, nil, err
	}
	if err := c.args.encode(c.whole.TypeMap(), args, sd); err != nil {
		return nil, nil, err
	}
	batch := c.waiting // which stays what it is if the connection is replaced
	batch.ExecStatement(sd, c.args.ParamValues, c.args.ParamFormats, binaryFormat)
	all := c.Conn.ExecBatch(ctx, &batch)
	rows, err := resultAfter(all, c.count)
	if err != nil {
		return nil, nil, err
	}
	c.flushed()
	return rows, func() (int64, error) {
		defer c.unlock()
		tag, err := rows.Close()
		if e := all.Close(); err == nil {
			err = e
		}
		return tag.RowsAffected(), c.broken(err)
	}, nil
}

// resultAfter skips the results of n statements.
func resultAfter(all *pgconn.MultiResultReader, n int) (*pgconn.ResultReader, error) {
	for ; all.NextResult(); n-- {
		if n == 0 {
			return all.ResultReader(), nil
		}
		if _, err := all.ResultReader().Close(); err != nil {
			_ = all.Close()
			return nil, err
		}
	}
	return nil, cmp.Or(all.Close(), errors.New("the server sent no result"))
}

// flushed forgets what waited.
func (c *PostgresConnection) flushed() {
	c.waiting, c.count, c.bytes, c.sent = pgconn.Batch{}, 0, 0, true
}

func (c *PostgresConnection) Exec(ctx context.Context, query string, args []any) (int64, error) {
	_, end, err := c.run(ctx, query, args)
	if err != nil {
		return 0, err
	}
	return end()
}

// Do runs a statement later: with the next one.
func (c *PostgresConnection) Do(ctx context.Context, query string, args []any) error {
	if !c.sent { // the first of a transaction
		_, err := c.Exec(ctx, query, args)
		return err
	}
	if c.count >= maxWaiting || c.bytes > maxWaitingBytes {
		if err := c.Flush(ctx); err != nil {
			return err
		}
	}
	if c.inUse {
		return errNested
	}
	sd, err := c.prepared(ctx, query, args)
	if err != nil {
		return c.broken(err)
	}
	if err := c.args.encode(c.whole.TypeMap(), args, sd); err != nil {
		return err
	}
	c.waiting.ExecStatement(sd, c.args.ParamValues, c.args.ParamFormats, binaryFormat)
	c.count++
	c.bytes += c.args.size
	return nil
}

// Flush sends what waits.
func (c *PostgresConnection) Flush(ctx context.Context) error {
	if c.count == 0 {
		return nil
	}
	if err := c.lock(); err != nil {
		return err
	}
	defer c.unlock()
	err := c.Conn.ExecBatch(ctx, &c.waiting).Close()
	c.flushed()
	return c.broken(err)
}

// copyRows is the number of rows from which they are copied (COPY), which takes
// round trips; fewer are inserted by statements that wait for the next one.
const copyRows = 64

// bulk writes rows by COPY if they are many and cannot be there already.
func (c *PostgresConnection) bulk(ctx context.Context, in *Inserter, args []any) (done bool, err error) {
	rows := len(args) / in.cols()
	if in.tail != "" || rows < copyRows {
		return false, nil
	}
	if err := c.Flush(ctx); err != nil {
		return true, err
	}
	if err := c.lock(); err != nil {
		return true, err
	}
	defer c.unlock()
	for i, arg := range args {
		args[i] = pgValue(arg)
	}
	_, err = c.whole.CopyFrom(ctx, pgx.Identifier{in.table}, in.columns, pgx.CopyFromSlice(rows, func(i int) ([]any, error) {
		return args[i*in.cols() : (i+1)*in.cols()], nil
	}))
	return true, c.broken(err)
}

func (c *PostgresConnection) Query(ctx context.Context, query string, args []any, each func(Scan) error) (err error) {
	rows, end, err := c.run(ctx, query, args)
	if err != nil {
		return err
	}
	defer func() { // also if each panics
		if _, e := end(); e != nil && (err == nil || errors.Is(err, ErrEnough)) {
			err = e
		}
	}()
	row := pgRow{rows: rows, types: c.whole.TypeMap()}
	scanRow := row.scan
	for rows.NextRow() {
		if err := each(scanRow); err != nil {
			return err
		}
	}
	return nil
}

func (c *PostgresConnection) script(ctx context.Context, statements string) error {
	if err := c.Flush(ctx); err != nil {
		return err
	}
	if err := c.lock(); err != nil {
		return err
	}
	defer c.unlock()
	return c.broken(c.Conn.Exec(ctx, statements).Close())
}

// Begin begins a transaction. BEGIN is sent with its first statement.
func (c *PostgresConnection) Begin(ctx context.Context, readOnly bool) error {
	if c.schema != c.engine.schema.Load() { // its statements are stale
		_ = c.Close()
		if err := c.reconnect(ctx); err != nil {
			return c.broken(err)
		}
	}
	c.flushed()
	begin := "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
	c.ended = func() {} // those that read need not be kept alive
	if !readOnly {
		begin, c.ended = "BEGIN", c.keepAlive()
	}
	c.waiting.ExecParams(begin, nil, nil, nil, nil)
	c.count, c.sent = 1, false
	return nil
}

// endTime bounds the wait for the end of a transaction, which no context does: what lies
// between may take packets and pass none on, which the kernel cannot know.
const endTime = 30 * time.Second

// Commit sends what waits, and COMMIT.
func (c *PostgresConnection) Commit() error {
	c.ended()
	ctx, cancel := context.WithTimeout(context.Background(), endTime)
	defer cancel()
	if !c.sent { // no statement was run
		c.flushed()
		return nil
	}
	if err := c.lock(); err != nil {
		return err
	}
	defer c.unlock()
	c.waiting.ExecParams("COMMIT", nil, nil, nil, nil)
	results, err := c.Conn.ExecBatch(ctx, &c.waiting).ReadAll()
	c.flushed()
	if err == nil && results[len(results)-1].CommandTag.String() != "COMMIT" {
		err = errors.New("the transaction had failed")
	}
	return c.broken(err)
}

// Rollback forgets what waits.
func (c *PostgresConnection) Rollback() error {
	c.ended()
	sent := c.sent
	c.flushed()
	if !sent && c.Conn.TxStatus() == 'I' {
		return nil
	}
	if err := c.lock(); err != nil {
		return err
	}
	defer c.unlock()
	if c.stale {
		return errStale // another connection takes its place
	}
	ctx, cancel := context.WithTimeout(context.Background(), endTime)
	defer cancel()
	return c.Conn.Exec(ctx, "ROLLBACK").Close()
}

// keepAlive runs a statement now and then until it is ended: the server ends a
// transaction that runs none for idleLimit, so that a process that was stopped holds
// up no other. Reading files may take a step longer than that.
func (c *PostgresConnection) keepAlive() (end func()) {
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		ticker := time.NewTicker(idleLimit / 4)
		defer ticker.Stop()
		for {
			select {
			case <-stop:
				return
			case <-ticker.C:
			}
			if !c.mu.TryLock() {
				continue
			}
			if c.Conn.TxStatus() == 'T' && time.Since(c.used) > idleLimit/4 {
				ctx, cancel := context.WithTimeout(context.Background(), idleLimit)
				_ = c.Conn.Exec(ctx, "SELECT 1").Close() // the next statement finds an error
				cancel()
			}
			c.mu.Unlock()
		}
	}()
	return sync.OnceFunc(func() { // by a commit that fails, and the rollback after it
		close(stop)
		<-stopped
	})
}
