package transfer

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/repoglot/repoglot/catalog/store/internal/sqldb"
)

// ExportFile writes the database dsn to a new file (Export), also while servers work
// with it. The file appears once it is complete and on the disk.
func ExportFile(ctx context.Context, dsn, file string) (e Exported, err error) {
	if _, err := os.Stat(dsn); !sqldb.IsPostgres(dsn) && err != nil {
		return e, fmt.Errorf("store: export: there is no database %s: name the data directory", dsn)
	}
	if _, err := os.Lstat(file); !errors.Is(err, fs.ErrNotExist) {
		return e, sqldb.Refusal("store: export: " + file + " exists: name a new file")
	}
	part := file + ".part"
	f, err := os.OpenFile(part, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600) // it holds tokens' hashes
	if err != nil {
		return e, fmt.Errorf("store: export: %w", err)
	}
	defer func() {
		if err != nil {
			_ = os.Remove(part)
		}
	}()
	e, err = Export(ctx, dsn, f)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return e, err
	}
	return e, moveNew(part, file)
}

// ImportFile is Import of a file, which is read to its end first.
func ImportFile(ctx context.Context, file, dsn string, opts sqldb.Options) (e Exported, err error) {
	f, err := os.Open(file)
	if err != nil {
		return e, fmt.Errorf("store: import: %w", err)
	}
	defer f.Close()
	if e, err = CheckExport(f); err != nil {
		return e, fmt.Errorf("store: import %s: %w", file, err)
	}
	if _, err := f.Seek(0, 0); err != nil {
		return e, fmt.Errorf("store: import %s: %w", file, err)
	}
	return Import(ctx, f, dsn, opts)
}
