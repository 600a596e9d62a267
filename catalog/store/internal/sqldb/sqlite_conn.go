package sqldb

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strconv"
	"time"
	"unsafe"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// sqliteConnection is a connection to SQLite, through its driver. The work of
// database/sql for every statement, argument, row and column (locks, a goroutine that
// waits for the end of the context, conversions by reflection) took a quarter of the time
// of a page, and its lists of arguments were a third of what an import allocated.
type sqliteConnection struct {
	conn driver.Conn
	driver.Tx
	stmts  statements[driver.Stmt]
	values []driver.Value // of one row
	args   []driver.NamedValue
}

func openSQLiteConnection(dsn string) (_ connection, err error) {
	c := &sqliteConnection{}
	if c.conn, err = new(sqlite.Driver).Open(dsn); err == nil {
		c.unlock()
	}
	return c, err
}

// unlock takes the mutex from a connection, as SQLITE_OPEN_NOMUTEX would, for which the driver
// has no setting: a session has one user at a time. SQLite locked for each value that was
// bound or read, a fifth of the time of a page.
func (c *sqliteConnection) unlock() {
	if field := reflect.ValueOf(c.conn).Elem().FieldByName("db"); field.Kind() == reflect.Uintptr {
		db := uintptr(field.Uint())
		(*(**sqlite3.Tsqlite3)(unsafe.Pointer(&db))).Fmutex = 0
	}
}

// Close closes the connection. Statements are closed first: the driver does not
// allow them to outlive their connection.
func (c *sqliteConnection) Close() error {
	for _, stmt := range c.stmts.Kept {
		_ = stmt.Close()
	}
	return c.conn.Close()
}

func (c *sqliteConnection) Begin(ctx context.Context, readOnly bool) (err error) {
	c.Tx, err = c.conn.(driver.ConnBeginTx).BeginTx(ctx, driver.TxOptions{ReadOnly: readOnly})
	return err
}

func (c *sqliteConnection) script(ctx context.Context, statements string) error {
	_, err := c.conn.(driver.ExecerContext).ExecContext(ctx, statements, nil)
	return err
}

// prepared returns a statement and sets c.args to its arguments.
func (c *sqliteConnection) prepared(query string, args []any) (driver.Stmt, error) {
	stmt, err := c.stmts.get(query, func() (driver.Stmt, error) { return c.conn.Prepare(BindStyle(query)) })
	if err != nil {
		return nil, err
	}
	c.args = c.args[:0]
	for i, arg := range args {
		switch n := arg.(type) {
		case int64, string, []byte, nil:
		case int:
			arg = int64(n)
		default:
			if arg, err = driver.DefaultParameterConverter.ConvertValue(arg); err != nil {
				return nil, fmt.Errorf("argument %d: %w", i+1, err)
			}
		}
		c.args = append(c.args, driver.NamedValue{Ordinal: i + 1, Value: arg})
	}
	return stmt, nil
}

func (c *sqliteConnection) Exec(ctx context.Context, query string, args []any) (int64, error) {
	stmt, err := c.prepared(query, args)
	if err != nil {
		return 0, err
	}
	result, err := stmt.(driver.StmtExecContext).ExecContext(ctx, c.args)
	clear(c.args) // do not keep texts alive
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

func (c *sqliteConnection) Do(ctx context.Context, query string, args []any) error {
	_, err := c.Exec(ctx, query, args)
	return err
}

func (c *sqliteConnection) bulk(context.Context, *Inserter, []any) (bool, error) { return false, nil }

func (c *sqliteConnection) Query(ctx context.Context, query string, args []any, each func(Scan) error) (err error) {
	if err := ctx.Err(); err != nil {
		return err
	}
	stmt, err := c.prepared(query, args)
	if err != nil {
		return err
	}
	rows, err := stmt.(driver.StmtQueryContext).QueryContext(ctx, c.args)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }() // also if each panics
	return c.each(ctx, rows, each)
}

// each calls each for every row. ctx is checked between rows.
func (c *sqliteConnection) each(ctx context.Context, rows driver.Rows, each func(Scan) error) error {
	n := len(rows.Columns())
	if cap(c.values) < n {
		c.values = make([]driver.Value, n)
	}
	values := c.values[:n]
	defer clear(values) // do not keep texts alive
	scan := func(dest ...any) error { return assignAll(dest, values) }
	for i := 1; ; i++ {
		err := rows.Next(values)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil && i%64 == 0 {
			err = ctx.Err()
		}
		if err == nil {
			err = each(scan)
		}
		if err != nil {
			return err
		}
	}
}

// assignAll copies the values of a row.
func assignAll(dest []any, values []driver.Value) error {
	if len(dest) != len(values) {
		return fmt.Errorf("%d columns for %d destinations", len(values), len(dest))
	}
	for i := range dest {
		if err := assign(dest[i], values[i]); err != nil {
			return fmt.Errorf("column %d: %w", i+1, err)
		}
	}
	return nil
}

// assign copies a value of the driver to a destination of a scan, like
// database/sql.
func assign(dest any, value driver.Value) error {
	switch dest := dest.(type) {
	case *int64:
		if n, ok := value.(int64); ok {
			*dest = n
			return nil
		}
	case *string:
		if text, ok := value.(string); ok {
			*dest = text
			return nil
		}
	case *[]byte:
		data, ok := bytesOf(value)
		*dest = data
		if ok {
			return nil
		}
	case *sql.RawBytes:
		data, ok := bytesOf(value)
		*dest = data
		if ok {
			return nil
		}
	case *any:
		*dest = value
		return nil
	case sql.Scanner: // NULL, too
		return dest.Scan(value)
	case *time.Time:
		n, ok := value.(int64)
		*dest = FromMicros(sql.NullInt64{Int64: n, Valid: ok})
		if ok || value == nil {
			return nil
		}
	default:
		switch value := value.(type) {
		case int64:
			return assignNumber(dest, value)
		case string:
			if v := reflect.ValueOf(dest); v.Kind() == reflect.Pointer && v.Elem().Kind() == reflect.String {
				v.Elem().SetString(value)
				return nil
			}
		}
	}
	return fmt.Errorf("cannot scan a %T into a %T", value, dest)
}

// bytesOf is a text or what the driver has copied of a blob; nil is NULL. A number, which
// only a damaged database has there, is its digits: whoever reads the blob says what is
// wrong with it.
func bytesOf(value driver.Value) ([]byte, bool) {
	switch value := value.(type) {
	case nil:
		return nil, true
	case string:
		return []byte(value), true
	case int64:
		return strconv.AppendInt(nil, value, 10), true
	case []byte:
		if value == nil {
			value = []byte{}
		}
		return value, true
	}
	return nil, false
}

// assignNumber copies a number to a destination that is a pointer to another kind of
// integer, or to a bool. Those of a unit's row do without reflection; 64 bits of a mask are
// stored as a number of either sign.
func assignNumber(dest any, n int64) error {
	switch dest := dest.(type) {
	case *int:
		*dest = int(n)
		return nil
	case *bool:
		*dest = n != 0
		return nil
	case *uint64:
		*dest = uint64(n)
		return nil
	}
	if dest := reflect.ValueOf(dest); dest.Kind() == reflect.Pointer {
		switch to := dest.Elem(); to.Kind() {
		case reflect.Bool:
			to.SetBool(n != 0)
			return nil
		case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
			if to.OverflowInt(n) {
				return fmt.Errorf("%d is too large for a %s", n, to.Type())
			}
			to.SetInt(n)
			return nil
		}
	}
	return fmt.Errorf("cannot scan a number into a %T", dest)
}
