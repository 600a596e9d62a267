package sqldb

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"reflect"
)

// direct reads and inserts through the driver, without database/sql, whose work for
// every statement, argument, row and column (locks, a goroutine that waits for the end
// of the context, conversions by reflection) took a quarter of the time of a page, and
// whose lists of arguments were a third of what an import allocated.
// database/sql allows the use of a driver's connection only within sql.Conn.Raw,
// since other goroutines may use it; a session's connection has no other user.
type direct struct {
	conn   driver.Conn
	stmts  map[string]driver.Stmt
	values []driver.Value // of one row
	args   []driver.NamedValue
}

func openDirect(conn *sql.Conn) (d *direct, err error) {
	err = conn.Raw(func(conn any) error {
		d = &direct{conn: conn.(driver.Conn), stmts: map[string]driver.Stmt{}}
		return nil
	})
	return d, err
}

func (d *direct) Close() {
	for _, stmt := range d.stmts {
		_ = stmt.Close()
	}
	d.stmts = nil
}

func (d *direct) stmt(query string) (driver.Stmt, error) {
	if stmt, ok := d.stmts[query]; ok {
		return stmt, nil
	}
	stmt, err := d.conn.Prepare(BindStyle(query))
	if err == nil {
		d.stmts[query] = stmt
	}
	return stmt, err
}

// Begin begins a read transaction.
func (d *direct) Begin() (transaction, error) { return directTx{d}, d.Exec("BEGIN") }

// directTx is a read transaction of a session.
type directTx struct{ d *direct }

func (t directTx) Commit() error   { return t.d.Exec("COMMIT") }
func (t directTx) Rollback() error { return t.d.Exec("ROLLBACK") }

func (d *direct) Exec(query string) error {
	stmt, err := d.stmt(query)
	if err != nil {
		return err
	}
	_, err = stmt.(driver.StmtExecContext).ExecContext(context.Background(), nil)
	return err
}

// insert runs a statement that inserts rows.
func (d *direct) insert(ctx context.Context, query string, args []any) error {
	stmt, err := d.stmt(query)
	if err == nil {
		err = d.bind(args)
	}
	if err == nil {
		_, err = stmt.(driver.StmtExecContext).ExecContext(ctx, d.args)
	}
	clear(d.args) // do not keep texts alive
	return err
}

// bind converts the arguments of a statement.
func (d *direct) bind(args []any) (err error) {
	d.args = d.args[:0]
	for i, arg := range args {
		switch n := arg.(type) {
		case int64, string, []byte, nil:
		case int:
			arg = int64(n)
		default:
			if arg, err = driver.DefaultParameterConverter.ConvertValue(arg); err != nil {
				return fmt.Errorf("argument %d: %w", i+1, err)
			}
		}
		d.args = append(d.args, driver.NamedValue{Ordinal: i + 1, Value: arg})
	}
	return nil
}

// readDirect is query. ctx is checked between rows, interrupt interrupts the
// statement.
func (c *sqliteConnection) readDirect(ctx, interrupt context.Context, query string, args []any, each func(Scan) error) (err error) {
	d := c.direct
	if err := ctx.Err(); err != nil {
		return err
	}
	stmt, err := d.stmt(query)
	if err != nil {
		return err
	}
	if err := d.bind(args); err != nil {
		return err
	}
	rows, err := stmt.(driver.StmtQueryContext).QueryContext(interrupt, d.args)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }() // also if each panics
	return d.each(ctx, rows, each)
}

func (d *direct) each(ctx context.Context, rows driver.Rows, each func(Scan) error) error {
	n := len(rows.Columns())
	if cap(d.values) < n {
		d.values = make([]driver.Value, n)
	}
	values := d.values[:n]
	defer clear(values) // do not keep texts alive
	scan := func(dest ...any) error {
		if len(dest) != n {
			return fmt.Errorf("%d columns for %d destinations", n, len(dest))
		}
		for i := range dest {
			if err := assign(dest[i], values[i]); err != nil {
				return fmt.Errorf("column %d: %w", i+1, err)
			}
		}
		return nil
	}
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
	case *[]byte: // the driver has copied it
		data, ok := value.([]byte)
		if ok && data == nil {
			data = []byte{} // nil is NULL
		}
		*dest = data
		if ok || value == nil {
			return nil
		}
	case *sql.NullInt64:
		n, ok := value.(int64)
		*dest = sql.NullInt64{Int64: n, Valid: ok}
		if ok || value == nil {
			return nil
		}
	case sql.Scanner:
		return dest.Scan(value)
	default:
		if n, ok := value.(int64); ok {
			return assignNumber(reflect.ValueOf(dest), n)
		}
	}
	return fmt.Errorf("cannot scan a %T into a %T", value, dest)
}

func assignNumber(dest reflect.Value, n int64) error {
	if dest.Kind() == reflect.Pointer {
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
	return fmt.Errorf("cannot scan a number into a %s", dest.Type())
}
