package sqldb

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/repoglot/repoglot/catalog"
)

// SQLite is the engine: one file of SQLite, the sessions on it, and its
// write-ahead log.
type SQLite struct {
	path  string
	log   *slog.Logger
	pools Pools // one writer: writes are serial

	CheckpointAt atomic.Int64  // length of the log from which the next commit makes a checkpoint
	busyTimeout  time.Duration // of the writer but for checkpoints
}

// Open opens or creates the file.
func (e *SQLite) Open(ctx context.Context, opts Options, shared *DB) (Pools, error) {
	if err := touch(e.path); err != nil {
		return Pools{}, err
	}
	write, err := sqliteDSN(e.path, true, opts)
	if err != nil {
		return Pools{}, err
	}
	read, err := sqliteDSN(e.path, false, opts)
	if err != nil {
		return Pools{}, err
	}
	connect := func(dsn string) func(context.Context) (connection, error) {
		return func(context.Context) (connection, error) { return openSQLiteConnection(dsn) }
	}
	// OR FAIL saves SQLite the journal for undoing the rows of a single statement: a failed
	// statement rolls back its whole transaction anyway.
	shared.Dialect = dialect{Sqlite: true, insertRows: insertRows, insertInto: "INSERT OR FAIL INTO ", Schema: SchemaTokens}
	e.pools = Pools{
		Writer:  newPool(connect(write), 1, false, shared),
		Readers: newPool(connect(read), opts.Readers, true, shared),
	}
	return e.pools, nil
}

// sqliteDSN is the driver's name for the file at path. synchronous is FULL, so
// that a commit survives a power cut. A transaction of the writer takes its lock
// when it begins, so that it never fails halfway because another process was
// faster.
func sqliteDSN(path string, write bool, opts Options) (string, error) {
	q := url.Values{"_dqs": {"0"}}
	q.Set("_busy_timeout", fmt.Sprint(opts.BusyTimeout.Milliseconds()))
	pragmas := []string{"foreign_keys(1)", "temp_store(MEMORY)"}
	if write {
		q.Set("_txlock", "immediate")
		pragmas = append(pragmas, "journal_mode(WAL)", "synchronous(FULL)", fmt.Sprintf("cache_size(-%d)", StepCache), "journal_size_limit(67108864)")
		pragmas = append(pragmas, opts.Pragmas...)
	} else {
		pragmas = append(pragmas, "query_only(1)", fmt.Sprintf("cache_size(-%d)", readCache))
	}
	q["_pragma"] = pragmas
	return SQLiteURL(path, q)
}

// SQLiteURL is the driver's name for the file at path with settings.
func SQLiteURL(path string, settings url.Values) (string, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	abs = filepath.ToSlash(abs)
	if !strings.HasPrefix(abs, "/") {
		abs = "/" + abs // a drive letter
	}
	u := url.URL{Scheme: "file", Path: abs, RawQuery: settings.Encode()}
	return u.String(), nil
}

// The bounds of the pages that sessions cache, in KiB. The driver's allocator takes
// 8 KiB for a page of 4 KiB and its header, so that caches take twice as much.
const (
	readCache   = 1 << 9 // of each reading session: 8 of them or more
	StepCache   = 4 << 10
	ImportCache = 16 << 10 // of the writer during imports
	// Strings are found by hashes, so that a million of them are put into an index in
	// random order: with importCache most of its pages were written to the log and
	// read back several times. A step that adds bulkUnits to a source translation gets
	// bulkCache.
	BulkCache = 64 << 10
	BulkUnits = 100_000
)

// ResizeCache sets how much a session of SQLite caches. A smaller cache is freed at
// once.
func (s *Session) ResizeCache(ctx context.Context, size int) error {
	if s.Cache == size || !s.DB.Dialect.Sqlite {
		return nil
	}
	_, err := s.Exec(ctx, fmt.Sprintf("PRAGMA cache_size = -%d", size))
	s.Cache = size
	return err
}

// touch creates the file if it is missing and finds out whether it can be
// written: SQLite itself only says "unable to open".
func touch(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err == nil {
		return f.Close()
	}
	dir := filepath.Dir(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return fmt.Errorf("the folder %s does not exist: create it or change data_dir (--data-dir)", dir)
	case errors.Is(err, os.ErrPermission):
		return fmt.Errorf("no permission to write %s: give this user write access to %s or change data_dir (--data-dir)", path, dir)
	}
	return fmt.Errorf("cannot write %s (%w): change data_dir (--data-dir)", path, errors.Unwrap(err))
}

// SchemaTokens fills in types in the migrations. In SQLite only INTEGER PRIMARY
// KEY is the row's own key; BIGINT PRIMARY KEY would create a second, hidden
// index.
func SchemaTokens(text string) string {
	return strings.NewReplacer("@ID", "INTEGER", "@AUTOID", "INTEGER", "@BYTES", "BLOB", "@CLUSTERED", "WITHOUT ROWID", "@POSTGRES", "--", "@RANDOM", "lower(hex(randomblob(8)))").Replace(text)
}

// BindStyle replaces $1, $2, … by ? if they are in order, each once. SQLite keeps
// numbered parameters in a list that it searches for every one it binds, which
// made inserts of 64 rows four times slower (13,100 against 50,600 units/s on a
// busy machine).
func BindStyle(query string) string {
	var b strings.Builder
	next := 1
	for i := 0; i < len(query); {
		if query[i] != '$' {
			b.WriteByte(query[i])
			i++
			continue
		}
		end := i + 1
		for end < len(query) && '0' <= query[end] && query[end] <= '9' {
			end++
		}
		if query[i+1:end] != strconv.Itoa(next) {
			return query
		}
		b.WriteByte('?')
		next++
		i = end
	}
	return b.String()
}

const (
	// checkpointAbove is the length in bytes of SQLite's write-ahead log from which
	// it is written into the database after a commit, a checkpoint. SQLite's own
	// checkpoint goes only as far as readers allow; after the import of a million
	// units it left a log of 420 MB, in which every read searches for its pages: a
	// page of 50 units took 10 ms instead of 1.
	CheckpointAbove = 32 << 20
	// checkpointWait is how long a checkpoint, and with it the writer, waits for reads
	// that began before: longer than small ones take.
	checkpointWait = 100 * time.Millisecond
)

// logSize is the length of the log in bytes.
func (e *SQLite) logSize() (int64, error) {
	info, err := os.Stat(e.path + "-wal")
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// Committed makes a checkpoint if the log is long. If something was in the way, such as a
// long list that is being read, the next attempt waits until the log has grown by the same
// length again, so that not every commit waits.
func (e *SQLite) Committed(ctx context.Context) {
	if size, err := e.logSize(); err == nil && size >= e.CheckpointAt.Load() {
		e.report(ctx, e.pools.Writer.Lend(ctx, e.checkpoint(ctx)))
	}
}

// CatchUp makes the checkpoint that was not possible after a commit, unless a step is being
// written: its commit may do it.
func (e *SQLite) CatchUp(ctx context.Context) {
	if e.CheckpointAt.Load() > CheckpointAbove {
		e.report(ctx, e.pools.Writer.TryLend(ctx, e.checkpoint(ctx)))
	}
}

func (*SQLite) Server() string { return "" }

// Listen does nothing: other processes do not tell.
func (*SQLite) Listen(context.Context, func(), func()) {}

func (e *SQLite) checkpoint(ctx context.Context) func(*Session) error {
	return func(s *Session) error {
		wait := func(d time.Duration) error {
			var set int64
			_, err := s.First(ctx, fmt.Sprintf("PRAGMA busy_timeout = %d", d.Milliseconds()), nil, &set)
			return err
		}
		if err := wait(min(checkpointWait, e.busyTimeout)); err != nil {
			return err
		}
		var busy, frames, written int64
		if _, err := s.First(ctx, `PRAGMA wal_checkpoint(TRUNCATE)`, nil, &busy, &frames, &written); err != nil {
			return err
		}
		next := int64(CheckpointAbove)
		if size, err := e.logSize(); busy != 0 && err == nil {
			next += size
		}
		e.CheckpointAt.Store(next)
		e.log.Debug("checkpoint of the write-ahead log", "frames", written, "readers in the way", busy != 0)
		return wait(e.busyTimeout)
	}
}

func (e *SQLite) report(ctx context.Context, err error) {
	if err != nil && ctx.Err() == nil && !errors.Is(err, errClosed) {
		e.log.Warn("no checkpoint of the write-ahead log: reads get slower until one succeeds", "error", err)
	}
}

func (*SQLite) Explain(err error) (string, error, bool) { return Describe(err) }

// Describe explains an error of SQLite (engine.explain).
func Describe(err error) (text string, sentinel error, found bool) {
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return "", nil, false
	}
	switch e.Code() & 0xff {
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
		return "the database is locked by another process: stop it and try again", ErrUnavailable, true
	case sqlite3.SQLITE_FULL:
		return "the disk is full: nothing was lost; free some space, the next pull goes on", ErrFull, true
	case sqlite3.SQLITE_READONLY:
		return "the database cannot be written: check the permissions of the file and its folder", ErrUnavailable, true
	case sqlite3.SQLITE_CANTOPEN:
		return "the database cannot be opened: check that its folder exists and is writable", ErrUnavailable, true
	case sqlite3.SQLITE_NOTADB:
		return "the file is not a database: move it away or change data_dir (--data-dir)", nil, true
	case sqlite3.SQLITE_CORRUPT:
		return "the database is corrupt: restore a backup, or move the file away and import anew", nil, true
	case sqlite3.SQLITE_IOERR:
		return fmt.Sprintf("the disk failed (%s): check it, then try again", OneLine(e.Error())), ErrUnavailable, true
	case sqlite3.SQLITE_CONSTRAINT:
		return "the write contradicts what is stored (" + OneLine(e.Error()) + ")", catalog.ErrConflict, true
	}
	return OneLine(e.Error()), nil, true
}

// OneLine is a text with its white space replaced by single spaces.
func OneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
