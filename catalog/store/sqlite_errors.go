package store

import (
	"errors"
	"fmt"
	"strings"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/repoglot/repoglot/catalog"
)

// describe explains an error of the driver, and the remedy, in one line. found is
// false if err is no such error. sentinel is nil if no caller can react to it.
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
