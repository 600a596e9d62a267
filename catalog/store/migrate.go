package store

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
var migrationFiles embed.FS

// migrate brings the schema up to date. It refuses, before any change, a schema
// newer than this program's, and if the database is shared an older one.
func migrate(ctx context.Context, h *sql.DB, opts Options, log *slog.Logger) error {
	dir, err := fs.Sub(migrationFiles, "migrations")
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
	if known := sources[len(sources)-1].Version; have > known {
		return fmt.Errorf("the database has schema %d, this repoglot knows %d: upgrade repoglot, or restore a backup made by this version", have, known)
	}
	if known := sources[len(sources)-1].Version; opts.Shared && have < known {
		return fmt.Errorf("the database has schema %d and is in use by an older repoglot, this one knows %d: restart the server with this version first", have, known)
	}
	done, err := provider.UpTo(ctx, cmp.Or(opts.schema, sources[len(sources)-1].Version))
	if have == 0 {
		done = nil // a new database is no news
	}
	for _, m := range done {
		log.Info("database migrated", "migration", m.Source.Path, "took", m.Duration)
	}
	return err
}

// Schema is the version of the schema that this program makes.
func (*DB) Schema() int64 {
	version, _ := newestSchema() // Open has read it, too
	return version
}

// newestSchema is the version of the newest migration.
func newestSchema() (version int64, err error) {
	names, err := fs.Glob(migrationFiles, "migrations/*.sql")
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
	text := []byte(schemaTokens().Replace(string(raw)))
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
