package store

import (
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/pressly/goose/v3"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/repoglot/repoglot/catalog"
)

// This file holds all that is particular to SQLite. Elsewhere the SQL is what
// SQLite (3.35) and PostgreSQL have in common: $1 placeholders, RETURNING,
// ON CONFLICT.

const gooseDialect = goose.DialectSQLite3

// schemaTokens fills in the migrations. In SQLite only INTEGER PRIMARY KEY is the
// row's own key; BIGINT PRIMARY KEY would make a second, hidden index.
func schemaTokens() *strings.Replacer {
	return strings.NewReplacer("@ID", "INTEGER", "@BYTES", "BLOB", "@CLUSTERED", "WITHOUT ROWID")
}

// snapshotOptions begin a transaction that sees one state of the database from
// its first statement on.
func snapshotOptions() *sql.TxOptions { return &sql.TxOptions{ReadOnly: true} }

// sqliteDSN is the driver's name for the file at path. synchronous is FULL, so
// that a commit survives a power cut; a writer takes its lock when it begins, so
// that it never fails in the middle because another process was faster.
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
		if opts.Fault != "" {
			pragmas = append(pragmas, opts.Fault)
		}
	} else {
		pragmas = append(pragmas, "query_only(1)", "cache_size(-8192)")
	}
	q["_pragma"] = pragmas
	u := url.URL{Scheme: "file", Path: abs, RawQuery: q.Encode()}
	return u.String(), nil
}

// touch makes the file if it is missing and finds out whether it can be
// written, since SQLite only says "unable to open".
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

// describe says in one line what a driver error means and what to do. found is
// false if err is none. sentinel is nil if no caller can react to it.
func describe(err error) (text string, sentinel error, found bool) {
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return "", nil, false
	}
	switch e.Code() & 0xff {
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
		return "the database is locked by another process: stop it and try again", ErrUnavailable, true
	case sqlite3.SQLITE_FULL:
		return "the disk is full: nothing was lost; free some space, the next pull goes on", ErrUnavailable, true
	case sqlite3.SQLITE_READONLY:
		return "the database cannot be written: check the permissions of the file and its folder", ErrUnavailable, true
	case sqlite3.SQLITE_CANTOPEN:
		return "the database cannot be opened: check that its folder exists and is writable", ErrUnavailable, true
	case sqlite3.SQLITE_NOTADB:
		return "the file is not a database: move it away or change data_dir", nil, true
	case sqlite3.SQLITE_CORRUPT:
		return "the database is corrupt: restore a backup, or move the file away and import anew", nil, true
	case sqlite3.SQLITE_IOERR:
		return fmt.Sprintf("the disk failed (%s): check it, then try again", oneLine(e.Error())), ErrUnavailable, true
	case sqlite3.SQLITE_CONSTRAINT:
		return "the write contradicts what is stored (" + oneLine(e.Error()) + ")", catalog.ErrConflict, true
	}
	return oneLine(e.Error()), nil, true
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// bulkInsert begins an insert of many rows. OR FAIL saves SQLite the journal it
// would need to undo the rows of one statement alone: a statement that fails
// takes its whole transaction with it anyway.
const bulkInsert = "INSERT OR FAIL INTO "

// bindStyle turns $1, $2, … into plain ? where they stand in order, each once:
// SQLite keeps numbered parameters in a list that it walks for every one it
// binds, which made inserts of 64 rows four times slower (13,100 against 50,600 units/s
// on a busy machine).
func bindStyle(query string) string {
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
