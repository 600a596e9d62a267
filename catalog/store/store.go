package store

import (
	"cmp"
	"context"
	"log/slog"
	"strings"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store/access"
	"github.com/repoglot/repoglot/catalog/store/cluster"
	"github.com/repoglot/repoglot/catalog/store/internal/history"
	"github.com/repoglot/repoglot/catalog/store/internal/roster"
	"github.com/repoglot/repoglot/catalog/store/internal/rows"
	"github.com/repoglot/repoglot/catalog/store/internal/sqldb"
	"github.com/repoglot/repoglot/catalog/store/internal/stored"
)

// DB is an open database. It is safe for concurrent use: any number of readers
// run beside one writer, and neither waits for the other.
type DB struct {
	sql      *sqldb.DB
	pools    sqldb.Pools
	codec    *stored.Codec
	spans    *history.Spans
	lookups  *lookups
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
		spans: history.NewSpans(history.SpanWidth, history.MaxSpans), lookups: newLookups(),
		searches: newSearches(opts.Readers),
		notifier: &notifier{interval: opts.PollInterval, changed: make(chan struct{})}, wished: make(chan struct{}, 1), generations: newGenerations(),
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
func (db *DB) Metrics() []prometheus.Collector {
	m := db.metrics
	return []prometheus.Collector{m.steps, m.changes, m.generation, m.statements}
}

// write runs fn in a transaction of the writer, beside which nothing else is
// written. After the commit it wakes the watches if fn took a generation. fn is run
// again after an ErrAgain; steps are not, whose callers begin anew with the next pull.
func (db *DB) write(ctx context.Context, fn func(s *sqldb.Session) error) error {
	return db.writeAgain(ctx, locking("projects"), fn)
}

// writeTokens is write for tokens and sessions, which wait for no step.
func (db *DB) writeTokens(ctx context.Context, fn func(s *sqldb.Session) error) error {
	return db.writeAgain(ctx, locking("tokens"), fn)
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

// ComponentSpec is a component as given by the configuration or by discovery.
type ComponentSpec = roster.Spec

// TemplateKey names a pattern of the configuration that discovers components.
type TemplateKey = roster.TemplateKey

// Configure stores the projects and components of the configuration, in one
// transaction. The others become inactive: they are neither served nor pulled, but
// keep their rows, ids, units and history, and return with their ids when they are
// named again. A discovered component stays while
// templates has its template. A component whose Repo, Branch or ReadKey changed is
// to be read again against its stored units (BranchComponent.Reread), and loses its
// head unless its first import is under way. Only rows that changed get the next generation.
// Duplicates, unknown projects and addresses with a password are ErrInvalid.
func (db *DB) Configure(ctx context.Context, projects []catalog.Project, components []ComponentSpec, templates []TemplateKey) error {
	return db.fail(ctx, "configure", db.write(ctx, func(s *sqldb.Session) error {
		return roster.Set(ctx, s, projects, components, templates)
	}))
}

// AddComponents stores discovered components and returns them in the order of
// specs. Their project must be configured (ErrNotFound). A slug of a configured
// component or of another template is ErrInvalid.
func (db *DB) AddComponents(ctx context.Context, specs []ComponentSpec) ([]catalog.Component, error) {
	out := make([]catalog.Component, len(specs))
	err := db.write(ctx, func(s *sqldb.Session) error {
		ids, err := roster.Add(ctx, s, specs)
		for i, id := range ids {
			var row ComponentRow
			if err == nil {
				row, err = componentByID(ctx, s, id)
			}
			out[i] = row.Component
		}
		return err
	})
	return out, db.fail(ctx, "add components", err)
}

// bots are the authors that are programs: names and authorKeys.
type bots struct {
	names map[string]bool // in lower case
	keys  map[string]bool // as in users.email_hash
}

// has reports whether an author is a bot; a nil list is empty.
func (b *bots) has(key, name string) bool {
	return b != nil && (b.keys[key] || b.names[strings.ToLower(name)])
}

// SetBots sets which authors are programs: names or e-mail addresses, in any case.
// It updates the stored authors; authors stored later are compared with the list.
func (db *DB) SetBots(ctx context.Context, authors []string) error {
	b := &bots{names: map[string]bool{}, keys: map[string]bool{}}
	for _, who := range authors {
		if who = strings.TrimSpace(who); strings.Contains(who, "@") {
			b.keys[authorKey("", who)] = true
		} else if who != "" {
			b.names[strings.ToLower(who)] = true
		}
	}
	err := db.write(ctx, func(s *sqldb.Session) error {
		db.bots.Store(b) // no step is running now
		marked := map[int64][]int64{}
		if err := s.Query(ctx, `SELECT id, email_hash, full_name, bot FROM users`, nil, sqldb.Cols4(func(id int64, key, name string, bot int64) {
			if now := sqldb.Smallint(b.has(key, name)); now != bot {
				marked[now] = append(marked[now], id)
			}
		})); err != nil || len(marked) == 0 {
			return err
		}
		if _, err := rows.NextConfigured(ctx, s); err != nil {
			return err
		}
		return cmp.Or(s.Do(ctx, `UPDATE clock SET public = generation`),
			s.DoIn(ctx, `UPDATE users SET bot = 1 WHERE id IN $ids`, nil, marked[1]), s.DoIn(ctx, `UPDATE users SET bot = 0 WHERE id IN $ids`, nil, marked[0]))
	})
	return db.fail(ctx, "mark programs among the authors", err)
}
