package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"strings"
)

// sqliteEngine is the engine: one file of SQLite, the sessions on it, and its
// write-ahead log.
type sqliteEngine struct {
	wal
	path    string
	log     *slog.Logger
	handles []*sql.DB // the writer's first
	writer  *pool     // one session: writes are serial
	readers *pool     // of Read
	long    *pool     // of ReadLong
}

func newSQLite(path string, opts Options) *sqliteEngine {
	e := &sqliteEngine{path: path, log: opts.Logger}
	e.maxWAL = opts.MaxWAL
	e.checkpointAt.Store(checkpointAbove)
	return e
}

// open opens or creates the file, migrates its schema and fills the pools. After
// an error close must still be called.
func (e *sqliteEngine) open(ctx context.Context, opts Options, p *predicates, shared *shared) error {
	if err := touch(e.path); err != nil {
		return err
	}
	write, err := e.handle(opts, p, true)
	if err != nil {
		return err
	}
	if err := migrate(ctx, write, opts.Shared, e.log); err != nil {
		return err
	}
	read, err := e.handle(opts, p, false)
	if err != nil {
		return err
	}
	e.writer, e.readers, e.long = newPool(write, 1, shared), newPool(read, opts.Readers, shared), newPool(read, longReaders, shared)
	e.readers.direct = true
	return nil
}

func (e *sqliteEngine) handle(opts Options, p *predicates, write bool) (*sql.DB, error) {
	dsn, err := sqliteDSN(e.path, write, opts)
	if err != nil {
		return nil, err
	}
	c, err := newConnector(dsn, p)
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
	e.handles = append(e.handles, h)
	return h, nil
}

// close waits for running transactions.
func (e *sqliteEngine) close() (errs []error) {
	for _, p := range []*pool{e.readers, e.long, e.writer} {
		if p != nil {
			p.close()
		}
	}
	for i := len(e.handles) - 1; i >= 0; i-- { // the writer's last: it writes the log into the file
		errs = append(errs, e.handles[i].Close())
	}
	e.handles = nil
	return errs
}

// sqliteDSN is the driver's name for the file at path. synchronous is FULL, so
// that a commit survives a power cut. A transaction of the writer takes its lock
// when it begins, so that it never fails halfway because another process was
// faster.
func sqliteDSN(path string, write bool, opts Options) (string, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	abs = filepath.ToSlash(abs)
	if !strings.HasPrefix(abs, "/") {
		abs = "/" + abs // a drive letter
	}
	q := url.Values{"_dqs": {"0"}}
	q.Set("_busy_timeout", fmt.Sprint(opts.BusyTimeout.Milliseconds()))
	pragmas := []string{"foreign_keys(1)", "temp_store(MEMORY)"}
	if write {
		q.Set("_txlock", "immediate")
		pragmas = append(pragmas, "journal_mode(WAL)", "synchronous(FULL)", "cache_size(-32768)", "journal_size_limit(67108864)")
		pragmas = append(pragmas, opts.Pragmas...)
	} else {
		pragmas = append(pragmas, "query_only(1)", "cache_size(-8192)")
	}
	q["_pragma"] = pragmas
	u := url.URL{Scheme: "file", Path: abs, RawQuery: q.Encode()}
	return u.String(), nil
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
		return fmt.Errorf("the folder %s does not exist: create it or change data_dir", dir)
	case errors.Is(err, os.ErrPermission):
		return fmt.Errorf("no permission to write %s: give this user write access to %s or change data_dir", path, dir)
	}
	return fmt.Errorf("cannot write %s (%w): change data_dir", path, errors.Unwrap(err))
}
