package sqldb

import (
	"cmp"
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"path"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
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
func (db *DB) Close(p *Pools) error { return db.Fail(context.Background(), "close", p.Close()) }

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

//go:embed migrations/*.sql
var MigrationFiles embed.FS

// FirstSchema is the schema that the first migration makes. Those before were of versions
// that were never released.
const FirstSchema = 50

// migrationLock is the first half of the key of the advisory lock of PostgreSQL that a
// migration holds; the other is the id of the schema.
const migrationLock = 0x7265706f

// A migration waits for long readers of a table, and everybody else waits for the
// migration. So it gives up after a while and begins anew, the first time after
// firstMigrationWait, then after twice as long each time, up to longestMigrationWait.
const (
	firstMigrationWait   = time.Second
	longestMigrationWait = 16 * time.Second
)

// migrate brings the schema up to date in one transaction. If several processes do so at
// once, the others wait for the first.
func (db *DB) migrate(ctx context.Context, writer *Pool) error {
	older := false
	err := writer.Lend(ctx, func(s *Session) (err error) {
		_, older, err = db.schemaOf(ctx, s)
		return err
	})
	for wait := firstMigrationWait; older && err == nil; wait = min(2*wait, longestMigrationWait) {
		err = writer.Transact(ctx, func(s *Session) error { return db.migrateOnce(ctx, s, wait) })
		var server *pgconn.PgError
		if !errors.As(err, &server) || server.Code != "55P03" { // a lock was not to be had
			break
		}
		db.options.Logger.Info("the database is migrated when those who read it for long have ended", "error", err)
		select {
		case <-ctx.Done():
		case <-time.After(wait): // others go on
			err = nil
		}
	}
	return err
}

// migrateOnce applies the migrations after the schema that the database has, and waits as
// long as wait for each lock of a table. The versions are kept as goose keeps them.
func (db *DB) migrateOnce(ctx context.Context, s *Session, wait time.Duration) error {
	lockTables := ""
	if !db.Dialect.Sqlite {
		lock := fmt.Sprintf("SET LOCAL lock_timeout = 0; SELECT pg_advisory_xact_lock(%d, current_schema()::regnamespace::oid::int)", migrationLock)
		if err := s.Conn.script(ctx, lock); err != nil {
			return err
		}
		lockTables = fmt.Sprintf("SET LOCAL lock_timeout = %d;\n", wait.Milliseconds())
	}
	have, older, err := db.schemaOf(ctx, s)
	if err != nil || !older { // another process was faster
		return err
	}
	names, err := fs.Glob(db.options.Migrations, "migrations/*.sql") // in order
	if err != nil {
		return err
	}
	text := lockTables + `CREATE TABLE IF NOT EXISTS goose_db_version (
		id @AUTOID PRIMARY KEY, version_id BIGINT NOT NULL, is_applied BOOLEAN NOT NULL, tstamp TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP)`
	if err := s.Conn.script(ctx, db.Dialect.Schema(text)); err != nil {
		return err
	}
	for _, name := range names {
		version := versionOf(name)
		if version <= have {
			continue
		}
		text, err := fs.ReadFile(db.options.Migrations, name)
		if err != nil {
			return err
		}
		started := time.Now()
		done := fmt.Sprintf(";\nINSERT INTO goose_db_version (version_id, is_applied) VALUES (%d, TRUE)", version)
		if err := s.Conn.script(ctx, db.Dialect.Schema(string(text))+done); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if have > 0 { // a new database is no news
			db.options.Logger.Info("database migrated", "migration", name, "took", time.Since(started))
		}
	}
	return nil
}

// schemaOf returns the version of the schema, 0 for a new database, and whether it is older
// than the newest migration. The error says why this version may not use the database: its
// schema is one that no migration begins with, is newer than its floor allows, or, in a
// shared database, is older.
func (db *DB) schemaOf(ctx context.Context, s *Session) (have int64, older bool, err error) {
	exists := `SELECT COUNT(*) FROM sqlite_master WHERE name = 'goose_db_version'`
	if !db.Dialect.Sqlite {
		exists = `SELECT CASE WHEN current_schema() IS NULL THEN -1 ELSE
			(SELECT COUNT(*) FROM pg_tables WHERE schemaname = current_schema() AND tablename = 'goose_db_version') END`
	}
	var there int64
	if _, err := s.First(ctx, exists, nil, &there); err != nil {
		return 0, false, err
	}
	if there < 0 {
		return 0, false, Refusal("no schema of search_path exists that this user may use: create it, with CREATE SCHEMA")
	}
	if there > 0 {
		if _, err := s.First(ctx, `SELECT COALESCE(MAX(version_id), 0) FROM goose_db_version WHERE is_applied`, nil, &have); err != nil {
			return 0, false, err
		}
	}
	known, err := newestSchema(db.options.Migrations)
	switch {
	case err != nil:
		return 0, false, err
	case have > known:
		var needed int64
		_, err := s.First(ctx, `SELECT floor FROM clock`, nil, &needed)
		if err != nil || needed > known { // without a floor nothing says that this version may work with it
			return have, false, Refusal(fmt.Sprintf("the database has schema %d, this repoglot knows %d, and at least %d is needed: upgrade repoglot, or restore a backup made by this version",
				have, known, cmp.Or(needed, have)))
		}
		db.options.Logger.Info("the database has the schema of a newer version, which this one may use", "schema", have, "known", known)
	case have != 0 && have < FirstSchema:
		return have, false, Refusal(fmt.Sprintf("the database has schema %d, of a version before the first release: write it with that version (repoglot db export FILE), and read the file into a new database with this one (repoglot db import FILE)", have))
	case db.options.Shared && have < known:
		return have, false, fmt.Errorf("the database has schema %d and is in use by an older repoglot, this one knows %d: restart the server with this version first", have, known)
	}
	return have, have < known, nil
}

// Schema is the version of the schema that this program makes.
func Schema() int64 {
	version, _ := newestSchema(MigrationFiles) // migrate has read it, too
	return version
}

// newestSchema is the version of the newest migration.
func newestSchema(files fs.FS) (version int64, err error) {
	names, err := fs.Glob(files, "migrations/*.sql")
	for _, name := range names {
		version = max(version, versionOf(name))
	}
	return version, err
}

// versionOf is the number that the name of a migration begins with.
func versionOf(name string) int64 {
	digits, _, _ := strings.Cut(path.Base(name), "_")
	version, _ := strconv.ParseInt(digits, 10, 64) // they are ours
	return version
}
