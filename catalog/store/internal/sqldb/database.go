package sqldb

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"runtime"
	"strings"
	"sync"
	"time"

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
	BulkCache  int      // KiB
	inserts    sync.Map // texts of statements, by insertKey
}

// New makes a database that is not open. statements counts what is run; nil counts nothing.
func New(dsn string, opts Options, statements prometheus.Counter) *DB {
	if statements == nil {
		statements = prometheus.NewCounter(prometheus.CounterOpts{})
	}
	db := &DB{Name: dsn, options: opts, statements: statements, BulkCache: opts.BulkCache()}
	if IsPostgres(dsn) {
		connections := opts.Readers + 2 + clusterSessions // a writer, a listener
		db.Engine, db.Name = &Postgres{dsn: dsn, log: opts.Logger, now: opts.Now, connections: connections}, address(dsn)
	} else {
		e := &SQLite{path: dsn, log: opts.Logger, busyTimeout: opts.BusyTimeout}
		e.CheckpointAt.Store(CheckpointAbove)
		db.Engine = e
	}
	return db
}

// Open opens the database, migrates its schema and returns its sessions.
func (db *DB) Open(ctx context.Context) (Pools, error) {
	if db.Name == "" {
		return Pools{}, Refusal("no database path given: name the file of the database")
	}
	pools, err := db.Engine.Open(ctx, db.options, db)
	if err != nil {
		return Pools{}, err
	}
	if err := db.migrate(ctx, pools.Writer); err != nil {
		return Pools{}, errors.Join(err, pools.Close())
	}
	return pools, nil
}

// Close waits for transactions and closes the database.
func (db *DB) Close(p *Pools) error {
	return db.Fail(context.Background(), "close", p.Close())
}

// IsPostgres reports whether an address is one of PostgreSQL.
func IsPostgres(dsn string) bool {
	return strings.HasPrefix(dsn, "postgres://") || strings.HasPrefix(dsn, "postgresql://")
}

// engine is where a database is: a file of SQLite, or a server of PostgreSQL.
type engine interface {
	// open opens the database, whose schema may be older, and returns its sessions.
	Open(ctx context.Context, opts Options, shared *DB) (Pools, error)
	// server names the server that was reached last, with its timeline; "" without a
	// server, or before one was reached.
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
	// sqlite says that pragmas are there.
	Sqlite bool
	// insertRows is the number of rows that an inserter writes at a time.
	insertRows int
	// insertInto begins an insert of many rows.
	insertInto string
	// schema fills in the tokens of types in statements of migrations.
	Schema func(statements string) string
}

// Options are the settings of Open. The zero value is usable.
type Options struct {
	// Logger gets a line per opened database and per migration; nil discards
	// them.
	Logger *slog.Logger
	// Now is the clock; nil is time.Now. It only measures durations: callers
	// provide the times that are stored.
	Now func() time.Time
	// OwnClock says that Now is not of this machine, so that Session.Now is it, too.
	OwnClock bool
	// BusyTimeout is how long a transaction waits for another process that
	// holds the database; 0 is ten seconds.
	BusyTimeout time.Duration
	// Shared opens a database that another process serves or pulls into. Its
	// schema is not migrated; a schema of another version is refused.
	Shared bool
	// Pragmas are further settings for the connections of SQLite that write, such
	// as "max_page_count(100000)", which limits the size of the file.
	Pragmas []string
	// Readers is the number of snapshots that can be open at once; 0 is twice
	// the number of cores and four, at least eight.
	Readers int
	// Memory is what the process may take, in bytes; 0: enough. With less than 2 GiB
	// SQLite's cache for large imports is smaller.
	Memory int64
	// PollInterval is how often a Watch looks for changes by other processes; 0 is
	// one second.
	PollInterval time.Duration

	Migrations fs.FS // nil: those of this version
}

// WithDefaults fills in what is zero.
func (o Options) WithDefaults() Options {
	if o.Migrations == nil {
		o.Migrations = MigrationFiles
	}
	o.Logger = cmp.Or(o.Logger, slog.New(slog.DiscardHandler))
	if o.OwnClock = o.Now != nil; !o.OwnClock {
		o.Now = time.Now
	}
	if o.BusyTimeout <= 0 {
		o.BusyTimeout = 10 * time.Second
	}
	if o.Readers <= 0 {
		o.Readers = max(8, 4+2*runtime.GOMAXPROCS(0))
	}
	if o.PollInterval <= 0 {
		o.PollInterval = time.Second
	}
	return o
}

// BulkCache is the cache of large imports in KiB: a sixteenth of the memory at most, with
// what the allocator adds.
func (o *Options) BulkCache() int {
	if o.Memory <= 0 {
		return BulkCache
	}
	return int(min(max(o.Memory>>15, ImportCache), BulkCache))
}
