package store

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/repoglot/repoglot/catalog/store/access"
	"github.com/repoglot/repoglot/catalog/store/cluster"
	"github.com/repoglot/repoglot/catalog/store/internal/history"
	"github.com/repoglot/repoglot/catalog/store/internal/sqldb"
	"github.com/repoglot/repoglot/catalog/store/internal/stored"
)

// DB is an open database. It is safe for concurrent use: any number of readers
// run beside one writer, and neither waits for the other.
type DB struct {
	sql      *sqldb.DB
	pools    sqldb.Pools
	codec    *stored.Codec
	caches   caches
	searches *searches
	notifier *notifier
	wished   chan struct{} // see cluster.Cluster.Wished
	// generations are what Unchanged compares.
	generations *generations
	server      string       // that followServer saw last
	reached     atomic.Int64 // when the database answered last, in Unix nanoseconds
	bots        atomic.Pointer[bots]
	now         func() time.Time
	log         *slog.Logger
	metrics     *metrics
}

// caches are what a DB remembers between answers, beside the searches.
type caches struct {
	spans   *history.Spans
	lookups *lookups
}

// Open opens the SQLite file at dsn, creates it if it is missing, and migrates its
// schema. The folder must exist. A dsn "postgres://…" opens a database of PostgreSQL,
// with the environment variables and service file of libpq. Errors are one line that
// names the database, without its password, and the remedy: folder missing or not
// writable, not a database, corrupt, locked by another process, written by a newer
// repoglot; no connection, server too old.
func Open(ctx context.Context, dsn string, opts sqldb.Options) (*DB, error) {
	opts = opts.WithDefaults()
	db := newDB(dsn, opts)
	if err := db.open(ctx, opts); err != nil {
		err = db.fail(ctx, "open", err)
		_ = db.Close()
		return nil, err
	}
	db.log.Info("database open", "path", db.sql.Name)
	return db, nil
}

// newDB makes a DB that is not open.
func newDB(dsn string, opts sqldb.Options) *DB {
	db := &DB{
		caches:   caches{spans: history.NewSpans(history.SpanWidth, history.MaxSpans), lookups: newLookups()},
		searches: newSearches(opts.Readers),
		notifier: newNotifier(opts.PollInterval), wished: make(chan struct{}, 1), generations: newGenerations(),
		now: opts.Now, log: opts.Logger, metrics: newMetrics(),
	}
	db.sql = sqldb.New(dsn, opts, db.metrics.statements)
	return db
}

func (db *DB) open(ctx context.Context, opts sqldb.Options) error {
	var err error
	if db.pools, err = db.sql.Open(ctx); err != nil {
		return err
	}
	if db.codec, err = stored.NewCodec(); err != nil {
		return err
	}
	return db.Read(ctx, func(ctx context.Context, s *Snapshot) error {
		return s.Announce(ctx)
	})
}

// fail makes an error of any operation fit to leave the package.
func (db *DB) fail(ctx context.Context, op string, err error) error {
	return db.sql.Fail(ctx, op, err)
}

// Cluster returns the cluster of a database of PostgreSQL; nil for SQLite, which one
// process uses.
func (db *DB) Cluster() *cluster.Cluster {
	if db.pools.Cluster == nil {
		return nil
	}
	return cluster.New(db.sql, db.pools.Cluster, db.write, db.wished)
}

// Access creates and ends tokens and sessions. It waits for no step.
func (db *DB) Access() *access.Writer {
	return access.NewWriter(db.sql, db.pools.Writer, db.writeTokens, db.now)
}

// Schema is the version of the schema that this program makes.
func (*DB) Schema() int64 { return sqldb.Schema() }

// Close waits for running transactions, wakes the watches and closes the
// database. Other methods fail after it.
func (db *DB) Close() error {
	db.notifier.close()
	return db.sql.Close(&db.pools)
}

// Metrics returns the collectors of this database, for the registry of cmd.
func (db *DB) Metrics() []prometheus.Collector { return db.metrics.collectors() }

// write runs fn in a transaction of the writer, beside which nothing else is
// written. After the commit it wakes the watches if fn took a generation. fn is run
// again after an ErrAgain; steps are not, whose callers begin anew with the next pull.
func (db *DB) write(ctx context.Context, fn func(s *sqldb.Session) error) error {
	return db.writeAgain(ctx, lockAll, fn)
}

// writeTokens is write for tokens and sessions, which wait for no step.
func (db *DB) writeTokens(ctx context.Context, fn func(s *sqldb.Session) error) error {
	return db.writeAgain(ctx, lockTokens, fn)
}

func (db *DB) writeAgain(ctx context.Context, lock func(context.Context, *sqldb.Session) error, fn func(s *sqldb.Session) error) error {
	for attempt := 1; ; attempt++ {
		err := db.writeLocked(ctx, lock, fn)
		if _, sentinel, _ := db.sql.Engine.Explain(err); sentinel != sqldb.ErrAgain || attempt == maxAttempts {
			return err
		}
	}
}

// maxAttempts is how often write runs a transaction.
const maxAttempts = 5

// writeLocked is write with other locks.
func (db *DB) writeLocked(ctx context.Context, lock func(context.Context, *sqldb.Session) error, fn func(s *sqldb.Session) error) error {
	var changed news
	err := db.pools.Writer.Transact(ctx, func(s *sqldb.Session) error {
		err := cluster.Fenced(ctx, s, lock)
		if err == nil {
			err = fn(s)
		}
		if err == nil {
			known := db.generations.newest()
			changed, err = newsSince(ctx, s, known)
			if err == nil && changed.generation > known {
				err = s.Notify(ctx)
			}
		}
		return err
	})
	if err == nil {
		db.publish(&changed)
		db.sql.Engine.Committed(ctx)
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

// Options are the settings of Open. The zero value is usable.
type Options = sqldb.Options

var (
	// ErrUnavailable says that the database cannot be used at the moment: the disk is
	// full or fails, another process holds the lock, the file cannot be written.
	// Nothing of the operation was stored and its arguments are not the cause: it can
	// be repeated.
	ErrUnavailable = sqldb.ErrUnavailable
	// ErrAgain is the ErrUnavailable of an operation that can be repeated at once: another
	// process was in its way, or has changed the schema.
	ErrAgain = sqldb.ErrAgain
	// ErrWriting is the ErrUnavailable of an operation that has waited for a transaction of
	// another process, such as a large import, for as long as it may.
	ErrWriting = sqldb.ErrWriting
	// ErrFull is the ErrUnavailable of a database whose disk is full.
	ErrFull = sqldb.ErrFull
	// ErrTooMuch says that a step writes more than StepInfo.MaxBytes.
	ErrTooMuch = sqldb.ErrTooMuch
	// ErrLocked says that another process serves or pulls into the data directory.
	ErrLocked = sqldb.ErrLocked
)

// Lock makes this process the only one that serves or pulls into dir, which is created if
// missing. unlock releases the directory; so does the end of the process, however it ends.
// A second Lock fails at once with ErrLocked, in one line that names the directory, the
// process that holds it and the remedy.
func Lock(dir string) (unlock func() error, err error) { return sqldb.Lock(dir) }
