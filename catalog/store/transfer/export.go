package transfer

import (
	"bufio"
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/klauspost/compress/zstd"

	"github.com/repoglot/repoglot/catalog/store/internal/sqldb"
)

// An export is lines of JSON, compressed by zstd: a header, then for each table a line
// that names its columns and a line for each row, at last a line with the number of
// rows. Bytes are in base64. It is the same for every engine, and for two databases
// that hold the same, except for the name of their history.
type (
	exportHeader struct {
		Repoglot   string `json:"repoglot"` // exportFormat
		Schema     int64  `json:"schema"`
		Generation int64  `json:"generation"`
	}
	exportTable struct {
		Table   string   `json:"table"`
		Columns []string `json:"columns"`
		Types   []string `json:"types"`
	}
	exportEnd struct {
		Rows *int64 `json:"rows"`
	}
)

// exportFormat is the first thing in an export.
const exportFormat = "database 1"

// The types of columns in an export.
const (
	exportNumber = "number"
	exportText   = "text"
	exportBytes  = "bytes"
)

// Exported says what an export has.
type Exported struct {
	// Schema is the version of its schema.
	Schema int64
	// Generation is the generation that it holds.
	Generation int64
	// Rows is the number of its rows.
	Rows int64
}

// notExported are the tables that are about this database and its processes, and what
// is made again.
var notExported = []string{"goose_db_version", "mirrors", "processes", "search_blocks", "servers", "spans", "spent"}

// Export writes everything that the database dsn holds in one generation, in a form that
// Import reads into a database of any engine. Servers work with it meanwhile.
func Export(ctx context.Context, dsn string, w io.Writer) (e Exported, err error) {
	buffered := bufio.NewWriterSize(w, 1<<16)
	z, err := zstd.NewWriter(buffered, zstd.WithEncoderConcurrency(1))
	if err != nil {
		return e, err
	}
	db := sqldb.New(dsn, sqldb.Options{Shared: true, Readers: 1}.WithDefaults(), nil)
	pools, err := db.Open(ctx)
	if err == nil {
		err = pools.Readers.Transact(ctx, func(s *sqldb.Session) error {
			x := exporter{s: s, lines: json.NewEncoder(z)}
			x.lines.SetEscapeHTML(false)
			return x.all(ctx, &e)
		})
	}
	if err = db.Fail(ctx, "export", err); err == nil {
		err = z.Close()
	}
	if err == nil {
		err = buffered.Flush()
	}
	return e, errors.Join(err, db.Close(&pools))
}

// exporter writes the lines of an export.
type exporter struct {
	s     *sqldb.Session
	lines *json.Encoder
}

func (x *exporter) all(ctx context.Context, e *Exported) error {
	if _, err := x.s.First(ctx, `SELECT (SELECT MAX(version_id) FROM goose_db_version), generation FROM clock`, nil, &e.Schema, &e.Generation); err != nil {
		return err
	}
	if err := x.lines.Encode(exportHeader{exportFormat, e.Schema, e.Generation}); err != nil {
		return err
	}
	tables, err := tablesOf(ctx, x.s)
	if err != nil {
		return err
	}
	for i := range tables {
		n, err := x.table(ctx, &tables[i])
		if err != nil {
			return err
		}
		e.Rows += n
	}
	return x.lines.Encode(exportEnd{&e.Rows})
}

func (x *exporter) table(ctx context.Context, t *storedTable) (rows int64, err error) {
	if err := x.lines.Encode(exportTable{t.name, t.columns, t.types}); err != nil {
		return 0, err
	}
	row, dest := make([]any, len(t.columns)), make([]any, len(t.columns))
	for i, kind := range t.types {
		switch kind {
		case exportNumber:
			dest[i] = new(sql.NullInt64)
		case exportText:
			dest[i] = new(sql.NullString)
		default:
			dest[i] = new([]byte)
		}
	}
	order := t.key // which no engine chooses
	if len(order) == 0 {
		order = t.columns
	}
	query := `SELECT ` + strings.Join(t.columns, ", ") + ` FROM ` + t.name + ` ORDER BY ` + strings.Join(order, ", ")
	err = x.s.Query(ctx, query, nil, func(scan sqldb.Scan) error {
		if err := scan(dest...); err != nil {
			return err
		}
		for i := range dest {
			row[i] = exported(dest[i])
		}
		rows++
		return x.lines.Encode(row)
	})
	return rows, err
}

// exported is a scanned value as JSON has it.
func exported(scanned any) any {
	switch v := scanned.(type) {
	case *sql.NullInt64:
		if v.Valid {
			return v.Int64
		}
	case *sql.NullString:
		if v.Valid {
			return v.String
		}
	case *[]byte:
		return *v // null for nil
	}
	return nil
}

// storedTable describes a table.
type storedTable struct {
	name           string
	columns, types []string
	key            []string // of its primary key
}

// tablesOf describes the tables that are exported: first those that others refer to.
func tablesOf(ctx context.Context, s *sqldb.Session) (tables []storedTable, err error) {
	names := `SELECT tablename FROM pg_tables WHERE schemaname = current_schema()`
	columns := `SELECT a.attname, format_type(a.atttypid, NULL), COALESCE(array_position(i.indkey, a.attnum) + 1, 0)
		FROM pg_attribute a LEFT JOIN pg_index i ON i.indrelid = a.attrelid AND i.indisprimary
		WHERE a.attrelid = to_regclass($1) AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum`
	if s.DB.Dialect.Sqlite {
		names = `SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'`
		columns = `SELECT name, type, pk FROM pragma_table_info($1) ORDER BY cid`
	}
	err = s.Query(ctx, names, nil, func(scan sqldb.Scan) error {
		var t storedTable
		err := scan(&t.name)
		if !slices.Contains(notExported, t.name) {
			tables = append(tables, t)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	first := []string{"clock", "translations", "components", "projects"}
	slices.SortFunc(tables, func(a, b storedTable) int {
		return cmp.Or(slices.Index(first, b.name)-slices.Index(first, a.name), strings.Compare(a.name, b.name))
	})
	for i := range tables {
		if err := tables[i].describe(ctx, s, columns); err != nil {
			return nil, err
		}
	}
	return tables, nil
}

// describe reads the columns of a table.
func (t *storedTable) describe(ctx context.Context, s *sqldb.Session, query string) error {
	keys := map[int64]string{}
	err := s.Query(ctx, query, []any{t.name}, func(scan sqldb.Scan) error {
		var name, kind string
		var key int64
		if err := scan(&name, &kind, &key); err != nil {
			return err
		}
		switch strings.ToLower(kind) {
		case "text":
			kind = exportText
		case "blob", "bytea":
			kind = exportBytes
		default:
			kind = exportNumber
		}
		t.columns, t.types = append(t.columns, name), append(t.types, kind)
		if key > 0 {
			keys[key] = name
		}
		return nil
	})
	for key := range int64(len(keys)) {
		t.key = append(t.key, keys[key+1])
	}
	return err
}

// ExportFile writes the database dsn to a new file (Export), also while servers work
// with it. The file appears once it is complete and on the disk.
func ExportFile(ctx context.Context, dsn, file string) (e Exported, err error) {
	if err := mayWrite("export", dsn, file); err != nil {
		return e, err
	}
	err = whole(file, func(part string) error {
		f, err := os.OpenFile(part, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600) // it holds tokens' hashes
		if err != nil {
			return fmt.Errorf("store: export: %w", err)
		}
		e, err = Export(ctx, dsn, f)
		return errors.Join(err, f.Sync(), f.Close())
	})
	return e, err
}

// ImportFile is Import of a file.
func ImportFile(ctx context.Context, file, dsn string, opts sqldb.Options) (e Exported, err error) {
	f, err := os.Open(file)
	if err != nil {
		return e, fmt.Errorf("store: import: %w", err)
	}
	defer f.Close()
	return Import(ctx, f, dsn, opts)
}
