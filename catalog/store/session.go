package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"strconv"
	"strings"
)

// session is one connection with the statements prepared on it. The set of SQL
// texts is bounded: lists come in a few fixed sizes.
type session struct {
	conn   *sql.Conn
	stmts  map[string]*sql.Stmt
	known  *known  // shared by all sessions of a database
	direct *direct // of sessions that read
}

func (s *session) close() {
	s.closeStatements()
	_ = s.conn.Close()
}

// discard closes the session and the connection below it.
func (s *session) discard() {
	s.closeStatements() // first: the driver cannot bear one that outlives its connection
	_ = s.conn.Raw(func(any) error { return driver.ErrBadConn })
	_ = s.conn.Close()
}

func (s *session) closeStatements() {
	for _, stmt := range s.stmts {
		_ = stmt.Close()
	}
	s.stmts = nil
	if s.direct != nil {
		s.direct.close()
	}
}

// begin begins a transaction.
func (s *session) begin(ctx context.Context, opts *sql.TxOptions) (driver.Tx, error) {
	if s.direct != nil && opts != nil && opts.ReadOnly {
		return s.direct.begin()
	}
	return s.conn.BeginTx(ctx, opts)
}

func (s *session) stmt(ctx context.Context, query string) (*sql.Stmt, error) {
	s.known.statements.Inc()
	if stmt, ok := s.stmts[query]; ok {
		return stmt, nil
	}
	stmt, err := s.conn.PrepareContext(ctx, bindStyle(query))
	if err == nil {
		s.stmts[query] = stmt
	}
	return stmt, err
}

// exec runs a statement and returns the number of rows it touched.
func (s *session) exec(ctx context.Context, query string, args ...any) (int64, error) {
	stmt, err := s.stmt(ctx, query)
	if err != nil {
		return 0, err
	}
	res, err := stmt.ExecContext(ctx, args...)
	if err != nil {
		return 0, err
	}
	return res.RowsAffected()
}

// scan copies the columns of the current row.
type scan func(dest ...any) error

// query calls each for every row.
func (s *session) query(ctx context.Context, query string, args []any, each func(scan) error) (err error) {
	stmt, err := s.stmt(ctx, query)
	if err != nil {
		return err
	}
	rows, err := stmt.QueryContext(ctx, args...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	scanRow := rows.Scan // once: a method value is an allocation
	for rows.Next() {
		if err := each(scanRow); err != nil {
			return err
		}
	}
	return rows.Err()
}

// first scans the first row, if there is one.
func (s *session) first(ctx context.Context, query string, args []any, dest ...any) (found bool, err error) {
	stmt, err := s.stmt(ctx, query)
	if err != nil {
		return false, err
	}
	err = stmt.QueryRowContext(ctx, args...).Scan(dest...)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	return err == nil, err
}

// chunks calls fn for ids in pieces of a few fixed sizes; the last id is
// repeated to fill a piece, which IN does not mind.
func chunks(ids []int64, fn func(chunk []any) error) error {
	for len(ids) > 0 {
		size := listSize(len(ids))
		n := min(size, len(ids))
		chunk := make([]any, size)
		for i := range chunk {
			chunk[i] = ids[min(i, n-1)]
		}
		if err := fn(chunk); err != nil {
			return err
		}
		ids = ids[n:]
	}
	return nil
}

func listSize(n int) int {
	for _, size := range []int{1, 8, 64} {
		if n <= size {
			return size
		}
	}
	return 256
}

// list is "($from,$from+1,…)" with n placeholders.
func list(from, n int) string {
	var b strings.Builder
	b.WriteByte('(')
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteByte('$')
		b.WriteString(strconv.Itoa(from + i))
	}
	b.WriteByte(')')
	return b.String()
}

// inserter collects rows and writes many with one statement.
type inserter struct {
	head string // INSERT INTO t (a, b) VALUES
	cols int
	args []any
	tail string // ON CONFLICT
	full string // the statement for insertRows rows
}

// insertRows is the number of rows per statement: 64 rows of 19 columns stay far
// below the limit of 32,766 parameters.
const insertRows = 64

func newInserter(table string, columns ...string) *inserter {
	in := &inserter{head: bulkInsert + table + " (" + strings.Join(columns, ", ") + ") VALUES ", cols: len(columns)}
	in.full = in.sql(insertRows)
	return in
}

// onConflict sets what a row does that is there already.
func (in *inserter) onConflict(tail string) {
	in.tail = tail
	in.full = in.sql(insertRows)
}

func (in *inserter) add(ctx context.Context, s *session, args ...any) error {
	in.args = append(in.args, args...)
	if len(in.args) < insertRows*in.cols {
		return nil
	}
	return in.write(ctx, s, insertRows)
}

// flush writes what is left.
func (in *inserter) flush(ctx context.Context, s *session) error {
	for len(in.args) > 0 {
		rows := len(in.args) / in.cols
		if rows >= 8 {
			rows = 8
		} else {
			rows = 1
		}
		if err := in.write(ctx, s, rows); err != nil {
			return err
		}
	}
	return nil
}

func (in *inserter) write(ctx context.Context, s *session, rows int) error {
	query := in.full
	if rows != insertRows {
		query = in.sql(rows)
	}
	_, err := s.exec(ctx, query, in.args[:rows*in.cols]...)
	n := copy(in.args, in.args[rows*in.cols:])
	clear(in.args[n:])
	in.args = in.args[:n]
	return err
}

func (in *inserter) sql(rows int) string {
	var b strings.Builder
	b.WriteString(in.head)
	for i := range rows {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(list(1+i*in.cols, in.cols))
	}
	b.WriteString(in.tail)
	return b.String()
}
