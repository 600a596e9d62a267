package sqldb

import (
	"bytes"
	"cmp"
	"context"
	"database/sql"
	"embed"
	"fmt"
	"io/fs"
	"log/slog"

	"github.com/pressly/goose/v3"
)

//go:embed migrations/*.sql
var MigrationFiles embed.FS

// migrate brings the schema up to date. It refuses, before any change, a schema
// newer than this program's, and if the database is shared an older one.
func migrate(ctx context.Context, h *sql.DB, opts Options) error {
	dir, err := fs.Sub(opts.Migrations, "migrations")
	if err != nil {
		return err
	}
	provider, err := goose.NewProvider(gooseDialect, h, rendered{dir}, goose.WithDisableGlobalRegistry(true), goose.WithSlog(slog.New(slog.DiscardHandler)))
	if err != nil {
		return err
	}
	have, err := provider.GetDBVersion(ctx)
	if err != nil {
		return err
	}
	sources := provider.ListSources()
	older, err := migrates(have, sources[len(sources)-1].Version, opts, func() (floor int64, err error) {
		err = h.QueryRowContext(ctx, `SELECT floor FROM clock`).Scan(&floor)
		return floor, err
	})
	if err != nil || !older {
		return err
	}
	done, err := provider.Up(ctx)
	if have == 0 {
		done = nil // a new database is no news
	}
	for _, m := range done {
		opts.Logger.Info("database migrated", "migration", m.Source.Path, "took", m.Duration)
	}
	return err
}

// FirstSchema is the schema that the first migration makes. Those before were of versions
// that were never released.
const FirstSchema = 50

// migrates says whether a database with the schema have is brought to the known one. The
// error says why this version may not use it: the schema is one that no migration begins
// with (0 is a new database), is newer than floor allows, or, in a shared database, is older.
func migrates(have, known int64, opts Options, floor func() (int64, error)) (bool, error) {
	switch {
	case have > known:
		needed, err := floor()
		if err != nil || needed > known { // without a floor nothing says that this version may work with it
			return false, Refusal(fmt.Sprintf("the database has schema %d, this repoglot knows %d, and at least %d is needed: upgrade repoglot, or restore a backup made by this version",
				have, known, cmp.Or(needed, have)))
		}
		opts.Logger.Info("the database has the schema of a newer version, which this one may use", "schema", have, "known", known)
	case have != 0 && have < FirstSchema:
		return false, Refusal(fmt.Sprintf("the database has schema %d, of a version before the first release: write it with that version (repoglot db export FILE), and read the file into a new database with this one (repoglot db import FILE)", have))
	case opts.Shared && have < known:
		return false, fmt.Errorf("the database has schema %d and is in use by an older repoglot, this one knows %d: restart the server with this version first", have, known)
	}
	return have < known, nil
}

// Schema is the version of the schema that this program makes.
func Schema() int64 {
	version, _ := NewestSchema(MigrationFiles) // migrate has read it, too
	return version
}

// NewestSchema is the version of the newest migration.
func NewestSchema(files fs.FS) (version int64, err error) {
	names, err := fs.Glob(files, "migrations/*.sql")
	if err != nil {
		return 0, err
	}
	for _, name := range names {
		n, err := goose.NumericComponent(name)
		if err != nil {
			return 0, err
		}
		version = max(version, n)
	}
	return version, nil
}

// rendered is a file system of migrations with the engine's types filled in.
type rendered struct{ fs.FS }

func (r rendered) Open(name string) (fs.File, error) {
	f, err := r.FS.Open(name)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err != nil || info.IsDir() {
		return f, err
	}
	defer f.Close()
	raw, err := fs.ReadFile(r.FS, name)
	if err != nil {
		return nil, err
	}
	text := []byte(SchemaTokens().Replace(string(raw)))
	return &renderedFile{Reader: bytes.NewReader(text), info: renderedInfo{info, int64(len(text))}}, nil
}

type renderedFile struct {
	*bytes.Reader
	info fs.FileInfo
}

func (f *renderedFile) Stat() (fs.FileInfo, error) { return f.info, nil }
func (f *renderedFile) Close() error               { return nil }

type renderedInfo struct {
	fs.FileInfo
	size int64
}

func (i renderedInfo) Size() int64 { return i.size }
