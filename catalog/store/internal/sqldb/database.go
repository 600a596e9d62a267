package sqldb

import (
	"context"
	"strings"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/repoglot/repoglot/catalog"
)

// DB is what all sessions of a database have in common.
type DB struct {
	Engine     engine
	Name       string // for messages: no password
	Dialect    dialect
	statements prometheus.Counter
	Projects   settingsCache[catalog.ProjectSettings]
	Components settingsCache[catalog.ComponentSettings]
	options    Options
	BulkCache  int // KiB
}

// New makes a database that is not open. statements counts what is run; nil counts nothing.
func New(dsn string, opts Options, statements prometheus.Counter) *DB {
	if statements == nil {
		statements = prometheus.NewCounter(prometheus.CounterOpts{})
	}
	db := &DB{Name: dsn, options: opts, statements: statements, BulkCache: opts.BulkCache()}
	if IsPostgres(dsn) {
		db.Engine, db.Name = newPostgres(dsn, opts), address(dsn)
	} else {
		db.Engine = newSQLite(dsn, opts)
	}
	return db
}

// Open opens the database, migrates its schema and returns its sessions.
func (db *DB) Open(ctx context.Context) (Pools, error) {
	if db.Name == "" {
		return Pools{}, Refusal("no database path given: name the file of the database")
	}
	return db.Engine.Open(ctx, db.options, db)
}

// Close waits for transactions and closes the database.
func (db *DB) Close(p *Pools) error {
	return db.Fail(context.Background(), "close", p.Close())
}

// IsPostgres reports whether an address is one of PostgreSQL.
func IsPostgres(dsn string) bool {
	return strings.HasPrefix(dsn, "postgres://") || strings.HasPrefix(dsn, "postgresql://")
}
