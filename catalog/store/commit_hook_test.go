package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
)

// beforeCommit makes the writer of a database call fn before each COMMIT: its
// pool gets a connection that wraps the driver's.
func beforeCommit(db *DB, fn func()) error {
	e := db.engine
	dsn, err := sqliteDSN(e.path, true, Options{}.withDefaults())
	if err != nil {
		return err
	}
	c, err := newConnector(dsn, db.searches.predicates)
	if err != nil {
		return err
	}
	h := sql.OpenDB(hookedConnector{c, fn})
	e.writer.close()
	e.writer = newPool(h, 1, e.writer.shared)
	e.handles = append(e.handles, h)
	return nil
}

type hookedConnector struct {
	*connector
	fn func()
}

func (c hookedConnector) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := c.connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return hookedConn{conn.(sqliteConn), c.fn}, nil
}

// sqliteConn is what the writer needs of a connection.
type sqliteConn interface {
	driver.Conn
	driver.ConnPrepareContext
	driver.ConnBeginTx
}

type hookedConn struct {
	sqliteConn
	fn func()
}

func (c hookedConn) BeginTx(ctx context.Context, opts driver.TxOptions) (driver.Tx, error) {
	tx, err := c.sqliteConn.BeginTx(ctx, opts)
	return hookedTx{tx, c.fn}, err
}

type hookedTx struct {
	driver.Tx
	fn func()
}

func (tx hookedTx) Commit() error {
	tx.fn()
	return tx.Tx.Commit()
}
