package transfer

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"

	"github.com/repoglot/repoglot/catalog/store/internal/sqldb"
)

// A Backup describes a file that WriteBackup wrote.
type Backup struct {
	// Schema is the version of its schema.
	Schema int64
	// Generation is the generation that it holds.
	Generation int64
	// Bytes is its size.
	Bytes int64
}

// WriteBackup writes the state of the SQLite file dsn to a new file, also while a
// server works with it: all of one generation. The file appears once it is complete
// and on the disk. A file that exists is ErrInvalid.
func WriteBackup(ctx context.Context, dsn, file string) (b Backup, err error) {
	if sqldb.IsPostgres(dsn) {
		return b, sqldb.Refusal("store: backup: the database is not a file of SQLite")
	}
	if err := mayWrite("backup", dsn, file); err != nil {
		return b, err
	}
	err = whole(file, func(part string) (err error) {
		if err := vacuumInto(ctx, dsn, part); err != nil {
			return fmt.Errorf("store: backup %s: %w", dsn, explained(err))
		}
		if b, err = CheckBackup(ctx, part); err != nil {
			return err
		}
		if err := syncFile(part); err != nil {
			return fmt.Errorf("store: backup %s: %w", dsn, err)
		}
		return nil
	})
	return b, err
}

// mayWrite is an error if there is no database dsn, or a file that would be overwritten.
func mayWrite(op, dsn, file string) error {
	if _, err := os.Stat(dsn); !sqldb.IsPostgres(dsn) && err != nil {
		return fmt.Errorf("store: %s: there is no database %s: name the data directory", op, dsn)
	}
	if _, err := os.Lstat(file); !errors.Is(err, fs.ErrNotExist) {
		return sqldb.Refusal("store: " + op + ": " + file + " exists: name a new file")
	}
	return nil
}

// whole makes a file that a function writes under another name. It appears once it is
// complete.
func whole(file string, write func(part string) error) error {
	part := file + ".part"
	if err := os.Remove(part); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("store: the rest of an interrupted file cannot be removed: %w", err)
	}
	if err := write(part); err != nil {
		_ = os.Remove(part)
		return err
	}
	return moveNew(part, file)
}

// vacuumInto copies what a database holds in one snapshot (SQLite, VACUUM INTO).
func vacuumInto(ctx context.Context, dsn, file string) (err error) {
	h, err := plainSQLite(dsn, "rw")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, h.Close()) }()
	f, err := os.OpenFile(file, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600) // it holds tokens' hashes
	if err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	_, err = h.ExecContext(ctx, `VACUUM INTO ?`, file)
	return err
}

// plainSQLite opens a file of SQLite without the functions of this package.
func plainSQLite(path, mode string) (*sql.DB, error) {
	dsn, err := sqldb.SQLiteURL(path, url.Values{"mode": {mode}, "_busy_timeout": {"10000"}, "_pragma": {"temp_store(MEMORY)", "cache_size(-8192)"}})
	if err != nil {
		return nil, err
	}
	h, err := sql.Open("sqlite", dsn)
	if err != nil {
		return nil, err
	}
	h.SetMaxOpenConns(1)
	return h, nil
}

// explained is an error of the driver with its remedy.
func explained(err error) error {
	if text, sentinel, ok := sqldb.Describe(err); ok {
		if sentinel != nil {
			return fmt.Errorf("%s: %w", text, sentinel)
		}
		return errors.New(text)
	}
	return err
}

// CheckBackup reads a whole backup and reports what it holds. The error says why it
// is none: damaged, not a database, not of repoglot, or of a newer version.
func CheckBackup(ctx context.Context, file string) (b Backup, err error) {
	fail := func(why string) error { return sqldb.Refusal("store: the backup " + file + " cannot be used: " + why) }
	info, err := os.Stat(file)
	if err != nil || !info.Mode().IsRegular() {
		return b, fail("there is no such file")
	}
	b.Bytes = info.Size()
	h, err := plainSQLite(file, "ro")
	if err != nil {
		return b, fail(err.Error())
	}
	defer func() { err = errors.Join(err, h.Close()) }()
	var sound string
	if err := h.QueryRowContext(ctx, `PRAGMA integrity_check(1)`).Scan(&sound); err != nil {
		return b, fail(explained(err).Error())
	}
	if sound != "ok" {
		return b, fail("it is damaged (" + sqldb.OneLine(sound) + ")")
	}
	err = h.QueryRowContext(ctx, `SELECT max(version_id) FROM goose_db_version WHERE is_applied = 1`).Scan(&b.Schema)
	if err == nil {
		err = h.QueryRowContext(ctx, `SELECT generation FROM clock`).Scan(&b.Generation)
	}
	if err != nil {
		return b, fail("it is no database of repoglot")
	}
	if known := sqldb.Schema(); b.Schema > known {
		err = fail(fmt.Sprintf("it has schema %d, this repoglot knows %d: upgrade repoglot", b.Schema, known))
	}
	return b, err
}

// RestoreBackup makes a backup the database dsn, whose folder the caller has locked.
// A database that is there is kept beside it under the name that is returned, "" if
// there was none. The old database is in place until the new one is complete. What root
// restores belongs to the owner of the folder, who runs the server.
func RestoreBackup(ctx context.Context, file, dsn string) (b Backup, kept string, err error) {
	if sqldb.IsPostgres(dsn) {
		return b, "", sqldb.Refusal("store: restore: the database is not a file of SQLite")
	}
	err = whole(dsn, func(part string) (err error) {
		if err = copyFile(file, part); err == nil {
			b, err = CheckBackup(ctx, part) // of the copy, which nobody changes
		}
		if err == nil && b.Schema < sqldb.FirstSchema {
			err = sqldb.Refusal(fmt.Sprintf("it has schema %d, of a version before the first release: restore and export it with that version (repoglot db export FILE), import the file with this one", b.Schema))
		}
		if err == nil {
			err = renewHistory(ctx, part)
		}
		if err == nil {
			err = sqldb.GiveToOwner(part)
		}
		if err != nil {
			return fmt.Errorf("store: restore %s: %w", file, explained(err))
		}
		if kept, err = setAside(ctx, dsn); err != nil {
			return fmt.Errorf("store: restore: %w", err)
		}
		return nil
	})
	return b, kept, err
}

// renewHistory gives another name to what the generations of a backup count: those that
// were given out after it come again.
func renewHistory(ctx context.Context, file string) (err error) {
	h, err := plainSQLite(file, "rw")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, h.Close()) }()
	_, err = h.ExecContext(ctx, sqldb.SchemaTokens(`UPDATE clock SET history = @RANDOM`))
	return err
}

// setAside renames a database with its log, so that they still belong together.
func setAside(ctx context.Context, dsn string) (kept string, err error) {
	if _, err := os.Stat(dsn); errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if h, err := plainSQLite(dsn, "rw"); err == nil {
		_, _ = h.ExecContext(ctx, `PRAGMA wal_checkpoint(TRUNCATE)`) // a damaged one keeps its log
		_ = h.Close()
	}
	for i := 1; ; i++ {
		kept = fmt.Sprintf("%s.replaced-%d", dsn, i)
		if _, err := os.Lstat(kept); errors.Is(err, fs.ErrNotExist) {
			break
		}
	}
	// The log first: a database without its log is an older state, a log without
	// its database is nothing.
	for _, suffix := range []string{"-wal", "-shm", ""} {
		if err := os.Rename(dsn+suffix, kept+suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
	}
	return kept, nil
}

func copyFile(from, to string) (err error) {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Sync(), out.Close())
}

func syncFile(name string) error {
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// moveNew renames a file whose contents are on the disk, and waits until its name is.
func moveNew(from, to string) error {
	if err := os.Rename(from, to); err != nil {
		return err
	}
	dir, err := os.Open(filepath.Dir(to))
	if err != nil {
		return err
	}
	defer dir.Close()
	if err := dir.Sync(); err != nil && !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	return nil
}
