package store

import (
	"context"
	"errors"
	"io/fs"
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
	engine   engine
	pools    pools
	name     string // for messages: no password
	codec    *codec
	caches   caches
	searches *searches
	notifier *notifier
	wished   chan struct{} // see Cluster.Wished
	// generations are what Unchanged compares.
	generations *generations
	server      string       // that followServer saw last
	reached     atomic.Int64 // when the database answered last, in Unix nanoseconds
	unedited    atomic.Int64 // a generation without pending edits; 0: none is known
	bots        atomic.Pointer[bots]
	now         func() time.Time
	log         *slog.Logger
	metrics     *metrics
}

// caches are what a DB remembers between answers, beside the searches.
type caches struct {
	spans   *spanCache
	lookups *lookups
}

// Options are the settings of Open. The zero value is usable.
type Options struct {
	// Logger gets a line per opened database and per migration; nil discards
	// them.
	Logger *slog.Logger
	// Now is the clock; nil is time.Now. It only measures durations: callers
	// provide the times that are stored.
	Now func() time.Time
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
	// the number of cores, at least four.
	Readers int
	// LongReaders is the number of snapshots of ReadLong that can be open at once; 0
	// is eight. They do not count towards Readers, so that slow clients do not block
	// others.
	LongReaders int
	// Memory is what the process may take, in bytes; 0: enough. With less than 2 GiB
	// SQLite's cache for large imports is smaller.
	Memory int64
	// MaxWAL is the length in bytes of SQLite's write-ahead log above which long
	// reads must end; 0 is 512 MiB.
	MaxWAL int64
	// PollInterval is how often a Watch looks for changes by other processes; 0 is
	// one second.
	PollInterval time.Duration

	migrations fs.FS // nil: those of this version
}

func (o Options) withDefaults() Options {
	if o.migrations == nil {
		o.migrations = migrationFiles
	}
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
	if o.LongReaders <= 0 {
		o.LongReaders = 8
	}
	if o.MaxWAL <= 0 {
		o.MaxWAL = maxWAL
	}
	if o.PollInterval <= 0 {
		o.PollInterval = time.Second
	}
	return o
}

// Open opens the SQLite file at dsn, creates it if it is missing, and migrates its
// schema. The folder must exist. A dsn "postgres://…" opens a database of PostgreSQL,
// with the environment variables and service file of libpq. Errors are one line that
// names the database, without its password, and the remedy: folder missing or not
// writable, not a database, corrupt, locked by another process, written by a newer
// repoglot; no connection, server too old.
func Open(ctx context.Context, dsn string, opts Options) (*DB, error) {
	opts = opts.withDefaults()
	db, err := newDB(dsn, opts)
	if err != nil {
		return nil, err
	}
	if err := db.open(ctx, opts); err != nil {
		err = db.fail(ctx, "open", err)
		_ = db.Close()
		return nil, err
	}
	db.log.Info("database open", "path", db.name)
	return db, nil
}

// newDB makes a DB that is not open.
func newDB(dsn string, opts Options) (*DB, error) {
	if dsn == "" {
		return nil, refusal("store: open: no database path given: name the file of the database")
	}
	db := &DB{
		name:     dsn,
		caches:   caches{spans: newSpanCache(), lookups: newLookups()},
		searches: newSearches(opts.Readers),
		notifier: newNotifier(opts.PollInterval), wished: make(chan struct{}, 1), generations: newGenerations(),
		now: opts.Now, log: opts.Logger, metrics: newMetrics(),
	}
	if isPostgres(dsn) {
		db.engine, db.name = newPostgres(dsn, opts), address(dsn)
	} else {
		db.engine = newSQLite(dsn, opts, db.searches.predicates)
	}
	return db, nil
}

func isPostgres(dsn string) bool {
	return strings.HasPrefix(dsn, "postgres://") || strings.HasPrefix(dsn, "postgresql://")
}

func (db *DB) open(ctx context.Context, opts Options) error {
	var err error
	if db.pools, err = db.engine.open(ctx, opts, &shared{statements: db.metrics.statements, bulkCache: opts.bulkCache()}); err != nil {
		return err
	}
	if db.codec, err = newCodec(); err != nil {
		return err
	}
	return db.Read(ctx, func(ctx context.Context, s *Snapshot) error {
		return s.Announce(ctx)
	})
}

// Close waits for running transactions, wakes the watches and closes the
// database. Other methods fail after it.
func (db *DB) Close() error {
	db.notifier.close()
	db.pools.close()
	return db.fail(context.Background(), "close", errors.Join(db.engine.close()...))
}

// Metrics returns the collectors of this database, for the registry of cmd.
func (db *DB) Metrics() []prometheus.Collector { return db.metrics.collectors() }

// write runs fn in a transaction of the writer, beside which nothing else is
// written. After the commit it wakes the watches if fn took a generation. fn is run
// again after an ErrAgain; steps are not, whose callers begin anew with the next pull.
func (db *DB) write(ctx context.Context, fn func(s *session) error) error {
	return db.writeAgain(ctx, lockAll, fn)
}

// writeTokens is write for tokens and sessions, which wait for no step.
func (db *DB) writeTokens(ctx context.Context, fn func(s *session) error) error {
	return db.writeAgain(ctx, lockTokens, fn)
}

func (db *DB) writeAgain(ctx context.Context, lock func(context.Context, *session) error, fn func(s *session) error) error {
	for attempt := 1; ; attempt++ {
		err := db.writeLocked(ctx, lock, fn)
		if _, sentinel, _ := db.engine.explain(err); sentinel != ErrAgain || attempt == maxAttempts {
			return err
		}
	}
}

// maxAttempts is how often write runs a transaction.
const maxAttempts = 5

// writeLocked is write with other locks.
func (db *DB) writeLocked(ctx context.Context, lock func(context.Context, *session) error, fn func(s *session) error) error {
	var changed news
	err := db.pools.writer.transact(ctx, func(s *session) error {
		err := fenced(ctx, s, lock)
		if err == nil {
			err = fn(s)
		}
		if err == nil {
			known := db.generations.newest()
			changed, err = newsSince(ctx, s, known)
			if err == nil && changed.generation > known {
				err = s.notify(ctx)
			}
		}
		return err
	})
	if err == nil {
		db.publish(&changed)
		db.engine.committed(ctx)
	}
	return err
}

type metrics struct {
	steps      *prometheus.HistogramVec
	changes    prometheus.Counter
	generation prometheus.Gauge
	statements prometheus.Counter
}

func newMetrics() *metrics {
	return &metrics{
		steps: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "repoglot_store_step_seconds",
			Help:    "Duration of steps, waiting for the writer included, by result.",
			Buckets: []float64{.001, .005, .02, .1, .5, 2, 10, 60},
		}, []string{"result"}),
		changes: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "repoglot_store_changes_total",
			Help: "Change entries written.",
		}),
		generation: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "repoglot_store_generation",
			Help: "Newest generation that this process knows.",
		}),
		statements: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "repoglot_store_statements_total",
			Help: "SQL statements run.",
		}),
	}
}

func (m *metrics) collectors() []prometheus.Collector {
	return []prometheus.Collector{m.steps, m.changes, m.generation, m.statements}
}
