package transfer

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/klauspost/compress/zstd"

	"github.com/repoglot/repoglot/catalog/store/internal/sqldb"
)

// Import makes an export the content of the database dsn, which must be new or empty,
// with all ids, and renews its history. If anything is wrong, the database stays empty.
// What an older version did not store has a default.
func Import(ctx context.Context, r io.Reader, dsn string, opts sqldb.Options) (Exported, error) {
	z, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1))
	if err != nil {
		return Exported{}, err
	}
	defer z.Close()
	x := newExportReader(z)
	e, err := x.header()
	if err != nil {
		return e, fmt.Errorf("store: import: %w", err)
	}
	if known := sqldb.Schema(); e.Schema > known {
		return e, sqldb.Refusal(fmt.Sprintf("store: import: the export has schema %d, this repoglot knows %d: upgrade repoglot", e.Schema, known))
	}
	if e.Schema < sqldb.FirstSchema {
		return e, sqldb.Refusal(fmt.Sprintf("store: import: the export has schema %d, and %d is the oldest that can be read: it is of a version before the first release", e.Schema, sqldb.FirstSchema))
	}
	db := sqldb.New(dsn, opts.WithDefaults(), nil)
	pools, err := db.Open(ctx)
	if err == nil {
		err = pools.Writer.Transact(ctx, func(s *sqldb.Session) error {
			l := loader{s: s, older: e.Schema < sqldb.Schema()}
			e.Rows, err = l.all(ctx, x)
			return err
		})
	}
	err = db.Fail(ctx, "import", err)
	return e, errors.Join(err, db.Close(&pools))
}

// loader writes the rows of an export.
type loader struct {
	s      *sqldb.Session
	older  bool // the export is of an older version
	tables []storedTable
	rows   *sqldb.Inserter
	bytes  int   // of the rows that wait
	floor  int64 // of the schema, as migrations wrote it
}

func (l *loader) all(ctx context.Context, x *exportReader) (rows int64, err error) {
	if !l.s.DB.Dialect.Sqlite {
		if err := l.s.Do(ctx, `LOCK TABLE projects IN EXCLUSIVE MODE`); err != nil {
			return 0, err
		}
	}
	var there int64
	if _, err := l.s.First(ctx, `SELECT generation + last_change + (SELECT COUNT(*) FROM projects), floor FROM clock`, nil, &there, &l.floor); err != nil {
		return 0, err
	}
	if there > 0 {
		return 0, sqldb.Refusal("it is not empty: name a new one")
	}
	if l.tables, err = tablesOf(ctx, l.s); err != nil {
		return 0, err
	}
	rows, err = x.each(func(t *exportTable) error { return l.begin(ctx, t) }, func(row []any) error { return l.add(ctx, row) })
	if err == nil {
		err = l.flush(ctx)
	}
	if err != nil {
		return 0, err
	}
	return rows, l.finish(ctx)
}

// begin begins a table.
func (l *loader) begin(ctx context.Context, t *exportTable) error {
	if err := l.flush(ctx); err != nil {
		return err
	}
	i := slices.IndexFunc(l.tables, func(known storedTable) bool { return known.name == t.Table })
	if i < 0 || !l.fits(l.tables[i].columns, t.Columns) {
		return sqldb.Refusal(fmt.Sprintf("the export has a table %q that does not fit its schema", t.Table))
	}
	l.rows = sqldb.NewInserter(t.Table, t.Columns...)
	return l.s.Do(ctx, `DELETE FROM `+l.tables[i].name) // what migrations wrote
}

// fits reports whether a table with the known columns takes rows of others. What an older
// version did not store has a default.
func (l *loader) fits(known, columns []string) bool {
	for _, c := range columns {
		if !slices.Contains(known, c) {
			return false
		}
	}
	return l.older || len(known) == len(columns)
}

// maxLoaded bounds the bytes of rows that wait.
const maxLoaded = 4 << 20

func (l *loader) add(ctx context.Context, row []any) error {
	for _, value := range row {
		switch value := value.(type) {
		case string:
			l.bytes += len(value)
		case []byte:
			l.bytes += len(value)
		}
	}
	if err := l.rows.Add(ctx, l.s, row...); err != nil {
		return err
	}
	if len(l.rows.Args) == 0 {
		l.bytes = 0
	}
	if l.bytes > maxLoaded {
		return l.flush(ctx)
	}
	return nil
}

func (l *loader) flush(ctx context.Context) error {
	l.bytes = 0
	if l.rows == nil {
		return nil
	}
	return l.rows.Flush(ctx, l.s)
}

// finish renews the history, and makes sequences go on.
func (l *loader) finish(ctx context.Context) error {
	if err := l.s.Do(ctx, l.s.DB.Dialect.Schema(`UPDATE clock SET history = @RANDOM, floor = $1`), l.floor); err != nil || l.s.DB.Dialect.Sqlite {
		return err
	}
	return l.s.Do(ctx, `DO $$ DECLARE t RECORD; BEGIN
		FOR t IN SELECT attrelid::regclass AS name, attname AS id FROM pg_attribute a JOIN pg_class c ON c.oid = attrelid
			WHERE attidentity <> '' AND relnamespace = current_schema()::regnamespace AND relname <> 'goose_db_version' LOOP
			EXECUTE format('SELECT setval(pg_get_serial_sequence(%L, %L), COALESCE(MAX(%I), 0) + 1, FALSE) FROM %s', t.name, t.id, t.id, t.name);
		END LOOP; END $$`)
}

// exportReader reads the lines of an export.
type exportReader struct{ lines *json.Decoder }

func newExportReader(r io.Reader) *exportReader { return &exportReader{json.NewDecoder(r)} }

// unusable is the error of a file that is no export.
func unusable(format string, args ...any) error {
	return sqldb.Refusal("the export cannot be used: " + fmt.Sprintf(format, args...))
}

func (x *exportReader) header() (e Exported, err error) {
	var h exportHeader
	if err := x.lines.Decode(&h); err != nil {
		return e, unusable("it is no file of repoglot db export: %v", err)
	}
	if h.Repoglot != exportFormat {
		return e, unusable("it has the format %q", h.Repoglot)
	}
	return Exported{Schema: h.Schema, Generation: h.Generation}, nil
}

// each calls begin for every table and row for its rows, whose slice is used again.
func (x *exportReader) each(begin func(*exportTable) error, row func([]any) error) (rows int64, err error) {
	var t exportTable
	var line json.RawMessage
	var cells []json.RawMessage
	for {
		if err := x.lines.Decode(&line); err != nil {
			return rows, unusable("it ends early, or is damaged: %v", err)
		}
		if !bytes.HasPrefix(line, []byte("[")) {
			var end exportEnd
			t = exportTable{}
			if err := errors.Join(json.Unmarshal(line, &end), json.Unmarshal(line, &t)); err != nil {
				return rows, unusable("%v", err)
			}
			if end.Rows != nil && *end.Rows == rows {
				return rows, x.atEnd()
			}
			if end.Rows != nil || t.Table == "" || len(t.Columns) == 0 || len(t.Columns) != len(t.Types) {
				return rows, unusable("after %d rows is %.100q", rows, line)
			}
			if err := begin(&t); err != nil {
				return rows, err
			}
			continue
		}
		cells = cells[:0]
		if err := json.Unmarshal(line, &cells); err != nil || len(cells) != len(t.Columns) {
			return rows, unusable("row %d of table %q has %d of %d columns", rows+1, t.Table, len(cells), len(t.Columns))
		}
		values := make([]any, len(cells))
		for i, cell := range cells {
			if values[i], err = cellValue(cell, t.Types[i]); err != nil {
				return rows, unusable("row %d: %s of table %q: %v", rows+1, t.Columns[i], t.Table, err)
			}
		}
		rows++
		if err := row(values); err != nil {
			return rows, err
		}
	}
}

// atEnd is an error unless nothing follows.
func (x *exportReader) atEnd() error {
	if _, err := x.lines.Token(); !errors.Is(err, io.EOF) {
		return unusable("something follows its end: %v", err)
	}
	return nil
}

// cellValue decodes a value of a row.
func cellValue(cell json.RawMessage, kind string) (any, error) {
	if string(cell) == "null" {
		return nil, nil
	}
	switch kind {
	case exportNumber:
		return strconv.ParseInt(string(cell), 10, 64)
	case exportText:
		var text string
		err := json.Unmarshal(cell, &text)
		return text, err
	case exportBytes:
		data := []byte{}
		err := json.Unmarshal(cell, &data)
		return data, err
	}
	return nil, fmt.Errorf("the type %q", kind)
}
