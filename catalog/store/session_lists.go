package store

import (
	"context"
	"strconv"
	"strings"
)

// chunks calls fn for ids in chunks of a few fixed sizes; the last id is repeated
// to fill a chunk, which makes no difference to IN.
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

// pairs is "($1,$2),($3,$4)…" with n pairs.
func pairs(n int) string {
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(list(1+2*i, 2))
	}
	return b.String()
}

// inserter collects rows and writes many at a time.
type inserter struct {
	table   string
	columns []string
	head    string // t (a, b) VALUES
	args    []any
	tail    string // ON CONFLICT
}

// insertRows is the number of rows that a statement writes: 64 rows of 22 columns
// stay far below SQLite's limit of 32,766 parameters.
const insertRows = 64

func newInserter(table string, columns ...string) *inserter {
	return &inserter{table: table, columns: columns, head: table + " (" + strings.Join(columns, ", ") + ") VALUES "}
}

// cols is the number of columns.
func (in *inserter) cols() int { return len(in.columns) }

// onConflict sets the clause for rows that exist already.
func (in *inserter) onConflict(tail string) { in.tail = tail }

// add adds a row. It counts now, and not when it is written, so that a bound is passed at
// the same row on every engine.
func (in *inserter) add(ctx context.Context, s *session, args ...any) error {
	if err := s.budget.take(args); err != nil {
		return err
	}
	in.args = append(in.args, args...)
	if len(in.args) < s.shared.dialect.insertRows*in.cols() {
		return nil
	}
	return in.flush(ctx, s)
}

// has reports whether a row that is not written yet begins with a number.
func (in *inserter) has(first int64) bool {
	for i := 0; i < len(in.args); i += in.cols() {
		if in.args[i] == any(first) {
			return true
		}
	}
	return false
}

// flush writes the remaining rows.
func (in *inserter) flush(ctx context.Context, s *session) error {
	if len(in.args) == 0 {
		return nil
	}
	s.note()
	err := s.conn.insert(ctx, in, in.args)
	clear(in.args)
	in.args = in.args[:0]
	return err
}

// insertSize is how many of the rows that remain the next statement writes.
func insertSize(rows int) int {
	for _, size := range []int{insertRows, 32, 8, 3} {
		if rows >= size {
			return size
		}
	}
	return 1
}

// sql is the statement after INSERT INTO.
func (in *inserter) sql(rows int) string {
	var b strings.Builder
	b.WriteString(in.head)
	for i := range rows {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(list(1+i*in.cols(), in.cols()))
	}
	b.WriteString(in.tail)
	return b.String()
}
