package sqldb

import "context"

// engine is where a database is: a file of SQLite, or a server of PostgreSQL.
type engine interface {
	// open opens the database, migrates its schema and returns its sessions.
	Open(ctx context.Context, opts Options, shared *DB) (Pools, error)
	// remote reports whether the database is on a server, which may be away.
	Remote() bool
	// server names the server that was reached last, with its timeline; "" if it is not
	// known, or there is none.
	Server() string
	// listen calls wake when another process may have committed, and wished when a
	// branch may be due, until ctx is done.
	// It may return before, and need not be told of everything.
	Listen(ctx context.Context, wake, wished func())
	// committed is called after every commit of the writer.
	Committed(ctx context.Context)
	// catchUp does what readers kept committed from, if they are gone by now.
	CatchUp(ctx context.Context)
	// explain describes an error of the driver, and the remedy, in one line. found
	// is false if err is no such error. sentinel is nil if no caller can react to it.
	Explain(err error) (text string, sentinel error, found bool)
}

// dialect is what differs in the SQL of engines. Everything else is their common
// subset: $1 placeholders, RETURNING, ON CONFLICT.
type dialect struct {
	// sqlite says that the functions of searches and pragmas are there.
	Sqlite bool
	// insertRows is the number of rows that an inserter writes at a time.
	insertRows int
	// rowOrder follows a table that must be read by its primary key.
	RowOrder string
}
