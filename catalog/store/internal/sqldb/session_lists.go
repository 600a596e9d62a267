package sqldb

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/repoglot/repoglot/catalog"
)

// Chunks calls fn for ids in chunks of a few fixed sizes; the last id is repeated
// to fill a chunk, which makes no difference to IN.
func Chunks(ids []int64, fn func(chunk []any) error) error {
	for len(ids) > 0 {
		size := ListSize(len(ids))
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

// in calls fn with lists of ids in the place of $ids, after the other arguments.
func in(query string, args []any, ids []int64, fn func(query string, args []any) error) error {
	return Chunks(ids, func(chunk []any) error {
		return fn(strings.ReplaceAll(query, "$ids", List(len(args)+1, len(chunk))), append(slices.Clip(args), chunk...))
	})
}

// ListSize is the number of placeholders for n values: one of a few.
func ListSize(n int) int {
	for _, size := range []int{1, 8, 64} {
		if n <= size {
			return size
		}
	}
	return 256
}

// List is "($from,$from+1,…)" with n placeholders.
func List(from, n int) string {
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

// Append appends values to the arguments of a query.
func Append[T any](args []any, values []T) []any {
	for _, v := range values {
		args = append(args, v)
	}
	return args
}

// Lists is "($1,$2),($3,$4)…" with n lists of a length.
func Lists(n, length int) string {
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(List(1+length*i, length))
	}
	return b.String()
}

// Inserter collects rows and writes many at a time.
type Inserter struct {
	table   string
	columns []string
	head    string // t (a, b) VALUES
	Args    []any
	tail    string // ON CONFLICT
	err     error  // the first one
}

// insertRows is the number of rows that a statement writes: 64 rows of 22 columns
// stay far below SQLite's limit of 32,766 parameters.
const insertRows = 64

// NewInserter makes an inserter of rows with these columns.
func NewInserter(table string, columns ...string) *Inserter {
	return &Inserter{table: table, columns: columns, head: table + " (" + strings.Join(columns, ", ") + ") VALUES "}
}

// cols is the number of columns.
func (in *Inserter) cols() int { return len(in.columns) }

// OnConflict sets the clause for rows that exist already.
func (in *Inserter) OnConflict(tail string) { in.tail = tail }

// Add adds a row. It counts now, and not when it is written, so that a bound is passed at
// the same row on every engine. After an error nothing is added, and Flush returns it.
func (in *Inserter) Add(ctx context.Context, s *Session, args ...any) error {
	if in.err == nil {
		in.err = s.Budget.take(args)
	}
	if in.err == nil {
		in.Args = append(in.Args, args...)
	}
	if len(in.Args) < s.DB.Dialect.insertRows*in.cols() {
		return in.err
	}
	return in.Flush(ctx, s)
}

// Flush writes the remaining rows.
func (in *Inserter) Flush(ctx context.Context, s *Session) error {
	if in.err = cmp.Or(in.err, s.failed); len(in.Args) == 0 || in.err != nil {
		return in.err
	}
	s.Note()
	defer func() {
		clear(in.Args)
		in.Args = in.Args[:0]
	}()
	done := false
	done, in.err = s.Conn.bulk(ctx, in, in.Args)
	for args := in.Args; len(args) > 0 && !done && in.err == nil; {
		rows := InsertSize(len(args) / in.cols())
		in.err = s.Conn.Do(ctx, s.DB.insertText(in, rows), args[:rows*in.cols()])
		args = args[rows*in.cols():]
	}
	s.failed = in.err
	return in.err
}

// InsertSize is how many of the rows that remain the next statement writes: one of a few numbers.
func InsertSize(rows int) int {
	for _, size := range []int{insertRows, 32, 8, 3} {
		if rows >= size {
			return size
		}
	}
	return 1
}

// insertKey names a statement of an Inserter: there are few, of some kilobytes each.
type insertKey struct {
	head, tail string
	rows       int
}

// insertText is the statement for a number of rows. To make it anew each time was a fifth
// of what an import allocated.
func (d *DB) insertText(in *Inserter, rows int) string {
	key := insertKey{in.head, in.tail, rows}
	if text, ok := d.inserts.Load(key); ok {
		return text.(string)
	}
	text := d.Dialect.insertInto + in.head + Lists(rows, in.cols()) + in.tail
	d.inserts.Store(key, text)
	return text
}

// Micros converts a time to microseconds, the resolution of the API; NULL for
// zero. Times outside the years 1 to 9999, which a hostile commit can claim, are
// clamped, since clients could not read them.
func Micros(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	lo, hi := time.Date(1, 1, 2, 0, 0, 0, 0, time.UTC), time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC)
	switch {
	case t.Before(lo):
		t = lo
	case t.After(hi):
		t = hi
	}
	return t.UnixMicro()
}

// FromMicros is the time that Micros has converted.
func FromMicros(n sql.NullInt64) time.Time {
	if !n.Valid {
		return time.Time{}
	}
	return time.UnixMicro(n.Int64).UTC()
}

// Smallint converts a bool: PostgreSQL takes no bool for a SMALLINT.
func Smallint(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// OrNull converts an id; 0 is NULL.
func OrNull(id int64) any {
	if id == 0 {
		return nil
	}
	return id
}

// JsonText returns v as JSON, or NULL if there is none.
func JsonText(v any, none bool) (any, error) {
	if none {
		return nil, nil
	}
	b, err := json.Marshal(v)
	return string(b), err
}

// CommitOf decodes a commit.
func CommitOf(text string) (c catalog.Commit, err error) {
	err = json.Unmarshal([]byte(text), &c)
	return c, err
}

// EventMap decodes the details of an event; nil for NULL.
func EventMap(text sql.NullString) (map[string]string, error) {
	if !text.Valid {
		return nil, nil
	}
	var m map[string]string
	err := json.Unmarshal([]byte(text.String), &m)
	return m, err
}

// SortedKeys are the keys of a map, ascending.
func SortedKeys[V any](m map[int64]V) []int64 { return slices.Sorted(maps.Keys(m)) }

// Nullable is a scanned number as a parameter.
func Nullable(n sql.NullInt64) any {
	if !n.Valid {
		return nil
	}
	return n.Int64
}
