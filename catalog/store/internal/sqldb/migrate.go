package sqldb

import (
	"cmp"
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

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
