package sqldb

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
)

// sqliteConnection is a connection to SQLite.
type sqliteConnection struct {
	conn    *sql.Conn
	stmts   map[string]*sql.Stmt
	once    map[string]*sql.Stmt // of readOnce: the latest ones
	inserts map[insertKey]string // SQL texts of inserters
	direct  *direct              // reads past database/sql; nil: not on this connection
	bulk    *direct              // inserts past database/sql; nil on connections that read
}

// insertKey names a statement of an inserter.
type insertKey struct {
	head, tail string
	rows       int
}

// maxOnce is the number of statements of readOnce that stay prepared: those of a
// search's components often have the same text.
const maxOnce = 16

func openSQLiteConnection(ctx context.Context, h *sql.DB, readOnly bool) (*sqliteConnection, error) {
	conn, err := h.Conn(ctx)
	if err != nil {
		return nil, err
	}
	c := &sqliteConnection{conn: conn, stmts: map[string]*sql.Stmt{}, inserts: map[insertKey]string{}}
	d, err := openDirect(conn)
	if readOnly {
		c.direct = d
	} else {
		c.bulk = d
	}
	return c, err
}

// Close closes the connection. Statements are closed first: the driver does not
// allow them to outlive their connection.
func (c *sqliteConnection) Close(sound bool) {
	for _, stmt := range c.stmts {
		_ = stmt.Close()
	}
	c.stmts = nil
	c.forget()
	for _, d := range []*direct{c.direct, c.bulk} {
		if d != nil {
			d.Close()
		}
	}
	if !sound {
		_ = c.conn.Raw(func(any) error { return driver.ErrBadConn })
	}
	_ = c.conn.Close()
}

func (c *sqliteConnection) forget() {
	for _, stmt := range c.once {
		_ = stmt.Close()
	}
	clear(c.once)
}

// Export names nothing: two connections see the same if their generation is.
func (c *sqliteConnection) Export(context.Context) (string, error) { return "", nil }

func (c *sqliteConnection) Adopt(string) {}

func (c *sqliteConnection) Begin(ctx context.Context, readOnly bool) (transaction, error) {
	if c.direct != nil && readOnly {
		return c.direct.Begin()
	}
	return c.conn.BeginTx(ctx, &sql.TxOptions{ReadOnly: readOnly})
}

func (c *sqliteConnection) stmt(ctx context.Context, query string) (*sql.Stmt, error) {
	if stmt, ok := c.stmts[query]; ok {
		return stmt, nil
	}
	stmt, err := c.conn.PrepareContext(ctx, BindStyle(query))
	if err == nil {
		c.stmts[query] = stmt
	}
	return stmt, err
}

// stmtOnce is stmt for texts of readOnce.
func (c *sqliteConnection) stmtOnce(ctx context.Context, query string) (*sql.Stmt, error) {
	if stmt, ok := c.once[query]; ok {
		return stmt, nil
	}
	if len(c.once) >= maxOnce {
		c.forget()
	}
	stmt, err := c.conn.PrepareContext(ctx, BindStyle(query))
	if err != nil {
		return nil, err
	}
	if c.once == nil {
		c.once = map[string]*sql.Stmt{}
	}
	c.once[query] = stmt
	return stmt, nil
}

func (c *sqliteConnection) Exec(ctx context.Context, query string, args []any) (int64, error) {
	stmt, err := c.stmt(ctx, query)
	if err != nil {
		return 0, err
	}
	res, err := stmt.ExecContext(ctx, args...)
	if err != nil {
		return 0, err
	}
	return res.RowsAffected()
}

func (c *sqliteConnection) Do(ctx context.Context, query string, args []any) error {
	_, err := c.Exec(ctx, query, args)
	return err
}

func (c *sqliteConnection) Query(ctx context.Context, how reads, query string, args []any, each func(Scan) error) (err error) {
	var stmt *sql.Stmt
	switch {
	case how == readOnce:
		stmt, err = c.stmtOnce(ctx, query)
	case how == readFew && c.direct != nil:
		return c.readDirect(ctx, context.Background(), query, args, each)
	case how == readMany && c.direct != nil:
		return c.readDirect(ctx, ctx, query, args, each)
	default:
		stmt, err = c.stmt(ctx, query)
	}
	if err != nil {
		return err
	}
	rows, err := stmt.QueryContext(ctx, args...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	scanRow := rows.Scan // once: a method value is an allocation
	for rows.Next() {
		if err := each(scanRow); err != nil {
			return err
		}
	}
	return rows.Err()
}

func (c *sqliteConnection) First(ctx context.Context, query string, args, dest []any) (found bool, err error) {
	stmt, err := c.stmt(ctx, query)
	if err != nil {
		return false, err
	}
	err = stmt.QueryRowContext(ctx, args...).Scan(dest...)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	return err == nil, err
}

// insert writes up to insertRows rows per statement, in a few fixed numbers.
func (c *sqliteConnection) insert(ctx context.Context, in *Inserter, args []any) error {
	for len(args) > 0 {
		rows := insertSize(len(args) / in.cols())
		key := insertKey{in.head, in.tail, rows}
		query, ok := c.inserts[key]
		if !ok {
			query = bulkInsert + in.sql(rows)
			c.inserts[key] = query
		}
		if err := c.bulk.insert(ctx, query, args[:rows*in.cols()]); err != nil {
			return err
		}
		args = args[rows*in.cols():]
	}
	return nil
}
