// Package store keeps the catalog in a database: projects, components,
// translations, units, the ledger of changes, the current bytes of each file.
//
// Goals: one step of a repository is one transaction with compare-and-swap on
// the heads of its components (DESIGN, invariant 3); ids are dense, ascending
// and for ever (invariant 4); every answer is read in one snapshot that knows
// its generation (invariant 5); no cost grows with history or with the page
// number (invariant 6). One SQL code base: what differs between engines is in
// dialect.go and in the tokens of the migrations. No type and no error of
// database/sql or of a driver leaves the package.
//
// Non-goals: no git, no PO, no HTTP; no decision about what a change is (that is
// catalog.Diff and package ingest); no caching of answers.
package store

import (
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"runtime"
	"strings"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// DB is an open database. It is safe for concurrent use: any number of readers
// run beside one writer, and neither waits for the other.
type DB struct {
	handles []*sql.DB
	writer  *pool // one session: writes are serial
	readers *pool
	long    *pool // of ReadLong
	codec   *codec
	ledgers *ledgers
	lookups *lookups
	news    *news
	now     func() time.Time
	log     *slog.Logger
	metrics *metrics
	where   string // for messages: the path

	pollInterval time.Duration

	bots atomic.Pointer[bots]

	predicates   *predicates
	found        *searchCache
	uniques      *uniques
	searchTime   time.Duration
	longSearches chan struct{} // one for each that runs
	searchLong   int64         // units from which on a search is long
	spanUnits    int64         // ids, entries and units of layouts that a search reads at once

	longReads atomic.Int32 // how many are open
	maxHeld   int64        // bytes of the log that they may hold back
	foldAt    atomic.Int64 // the length of the log from which on it is folded

	beforeCommit func() // tests only: what happens if we crash here
}

// Options are the settings of Open. The zero value is usable.
type Options struct {
	// Logger gets a line per opened database and migration; nil is silence.
	Logger *slog.Logger
	// Now is the clock; nil is time.Now. It only measures durations: times that
	// are stored come from the callers.
	Now func() time.Time
	// BusyTimeout is how long a transaction waits for another process that
	// holds the database; 0 is ten seconds.
	BusyTimeout time.Duration
	// Beside opens a database that another process serves or pulls into: its
	// schema is not touched, and one that is not this program's is refused.
	Shared bool
	// Fault, if set, is a PRAGMA of SQLite, such as "max_page_count(100)" or
	// "query_only(1)", for the connections that write: tests let a disk be full,
	// or read-only, with it.
	Fault string
	// Readers is the number of snapshots that can be open at once; 0 is twice
	// the number of cores, at least four.
	Readers int
	// MaxWAL is the length of the write-ahead log, in bytes, up to which long reads
	// may go on; 0 is 512 MiB.
	MaxWAL int64
	// PollInterval is how often a Watch looks for changes that other processes
	// made; 0 is one second.
	PollInterval time.Duration
}

func (o Options) withDefaults() Options {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.BusyTimeout <= 0 {
		o.BusyTimeout = 10 * time.Second
	}
	if o.Readers <= 0 {
		o.Readers = max(4, 2*runtime.GOMAXPROCS(0))
	}
	if o.MaxWAL <= 0 {
		o.MaxWAL = maxHeld
	}
	if o.PollInterval <= 0 {
		o.PollInterval = time.Second
	}
	return o
}

// Open opens the SQLite file at dsn, makes it if it is missing, and brings its
// schema up to date. The folder must exist. Errors are one line and name the
// file and the remedy: folder missing or not writable, not a database, corrupt,
// locked by another process, made by a newer repoglot. A dsn "postgres://…" is
// ErrInvalid: not in this version.
func Open(ctx context.Context, dsn string, opts Options) (*DB, error) {
	opts = opts.withDefaults()
	if isPostgres(dsn) {
		return nil, refusal("store: open: PostgreSQL is not supported by this version: leave database empty to use SQLite in data_dir")
	}
	if dsn == "" {
		return nil, refusal("store: open: no database path given: name the file of the database")
	}
	db := &DB{now: opts.Now, log: opts.Logger, metrics: newMetrics(), ledgers: newLedgers(), lookups: newLookups(), news: newNews(), pollInterval: opts.PollInterval, where: dsn}
	db.predicates, db.found, db.searchTime = new(predicates), newSearchCache(), searchTime
	db.uniques = newUniques()
	db.searchLong, db.spanUnits = longSearch, spanUnits
	db.longSearches = make(chan struct{}, max(1, opts.Readers/2))
	db.maxHeld = opts.MaxWAL
	db.foldAt.Store(foldAbove)
	if err := db.open(ctx, opts); err != nil {
		err = db.fail(ctx, "open", err)
		_ = db.Close()
		return nil, err
	}
	db.log.Info("database open", "path", dsn)
	return db, nil
}

func isPostgres(dsn string) bool {
	return strings.HasPrefix(dsn, "postgres://") || strings.HasPrefix(dsn, "postgresql://")
}

func (db *DB) open(ctx context.Context, opts Options) error {
	if err := touch(db.where); err != nil {
		return err
	}
	var err error
	if db.codec, err = newCodec(); err != nil {
		return err
	}
	write, err := db.handle(opts, true)
	if err != nil {
		return err
	}
	if err := migrate(ctx, write, opts.Shared, db.log); err != nil {
		return err
	}
	read, err := db.handle(opts, false)
	if err != nil {
		return err
	}
	known := &known{statements: db.metrics.statements}
	db.writer, db.readers, db.long = newPool(write, 1, known), newPool(read, opts.Readers, known), newPool(read, longReaders, known)
	db.readers.reads = true
	return db.Read(ctx, func(ctx context.Context, s *Snapshot) error {
		generation, err := s.Generation(ctx)
		db.metrics.generation.Set(float64(generation))
		db.news.publish(generation)
		return err
	})
}

func (db *DB) handle(opts Options, write bool) (*sql.DB, error) {
	dsn, err := sqliteDSN(db.where, write, opts)
	if err != nil {
		return nil, err
	}
	c, err := newConnector(dsn, db.predicates)
	if err != nil {
		return nil, err
	}
	h := sql.OpenDB(c)
	n := opts.Readers + longReaders
	if write {
		n = 1
	}
	h.SetMaxOpenConns(n)
	h.SetMaxIdleConns(n)
	db.handles = append(db.handles, h)
	return h, nil
}

// Close waits for running transactions to end and closes the database; watches
// are woken. Calls of
// other methods after it fail.
func (db *DB) Close() error {
	db.news.close()
	if db.readers != nil {
		db.readers.close()
	}
	if db.long != nil {
		db.long.close()
	}
	if db.writer != nil {
		db.writer.close()
	}
	var errs []error
	for i := len(db.handles) - 1; i >= 0; i-- { // the writer last: it folds the log into the file
		errs = append(errs, db.handles[i].Close())
	}
	db.handles = nil
	return db.fail(context.Background(), "close", errors.Join(errs...))
}

// Metrics returns the collectors of this database, for the registry of cmd.
func (db *DB) Metrics() []prometheus.Collector { return db.metrics.collectors() }
