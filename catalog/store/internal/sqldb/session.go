package sqldb

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
)

// connection is what a session needs of an engine: one connection with its prepared
// statements. A session has one user at a time.
type connection interface {
	// begin begins a transaction; a read-only one sees one state of the database
	// from its first statement. Commit or Rollback end it.
	Begin(ctx context.Context, readOnly bool) error
	Commit() error
	Rollback() error
	// script runs statements without arguments.
	script(ctx context.Context, statements string) error
	// exec runs a statement and returns the number of affected rows.
	Exec(ctx context.Context, query string, args []any) (int64, error)
	// query calls each for every row, until that returns an error.
	Query(ctx context.Context, query string, args []any, each func(Scan) error) error
	// do is exec for a statement whose result nobody needs: it may run later, but
	// before the next statement whose result is needed, and before the commit.
	Do(ctx context.Context, query string, args []any) error
	// bulk writes rows, whose values are in args, row after row, in a way that is faster for
	// many; done is false if the engine has no such way.
	bulk(ctx context.Context, in *Inserter, args []any) (done bool, err error)
	// close closes the connection.
	Close() error
}

// Session is one connection. The number of SQL texts is limited: lists come in a
// few fixed sizes.
type Session struct {
	Conn  connection
	DB    *DB
	Cache int // cache_size in KiB, once resizeCache has set it
	// Reading records what is read; nil outside of a Read.
	Reading *Reading
	Budget  *Budget // of what is written; nil: no bound
	// takesIDs says that the transaction has called willTakeIDs.
	takesIDs bool
	// failed is the error of a statement; what would be written after it in the transaction is not:
	// a full disk may have ended that.
	failed error
}

// Budget bounds the bytes of the arguments of statements that write.
type Budget struct{ Used, Most int64 }

// take counts the arguments of a statement.
func (b *Budget) take(args []any) error {
	if b == nil {
		return nil
	}
	for _, arg := range args {
		switch arg := arg.(type) {
		case string:
			b.Used += int64(len(arg))
		case []byte:
			b.Used += int64(len(arg))
		default:
			b.Used += 8
		}
	}
	if b.Used > b.Most {
		return ErrTooMuch
	}
	return nil
}

// Note counts a statement.
func (s *Session) Note() {
	s.DB.statements.Inc()
	s.Reading.Note()
}

// Fail makes an error of any operation fit to leave the package (DB.Fail).
func (s *Session) Fail(ctx context.Context, op string, err error) error {
	return s.DB.Fail(ctx, op, err)
}

// Failed is Fail for the error of a function that ends.
func (s *Session) Failed(ctx context.Context, err *error, op string, args ...any) {
	if *err != nil {
		*err = s.DB.Fail(ctx, fmt.Sprintf(op, args...), *err)
	}
}

// Exec runs a statement and returns the number of affected rows.
func (s *Session) Exec(ctx context.Context, query string, args ...any) (rows int64, err error) {
	if s.failed = cmp.Or(s.failed, s.Budget.take(args)); s.failed == nil {
		s.Note()
		rows, s.failed = s.Conn.Exec(ctx, query, args)
	}
	return rows, s.failed
}

// Do runs a statement whose result nobody needs, perhaps later than now.
func (s *Session) Do(ctx context.Context, query string, args ...any) error {
	if s.failed = cmp.Or(s.failed, s.Budget.take(args)); s.failed == nil {
		s.Note()
		s.failed = s.Conn.Do(ctx, query, args)
	}
	return s.failed
}

// Scan copies the columns of the current row: numbers to integers of any kind, bools and
// times, which are microseconds and zero for NULL.
type Scan func(dest ...any) error

// ErrEnough is what a scan of a query returns to end it early, without an error.
var ErrEnough = errors.New("enough rows")

// Query calls each for every row. ctx interrupts the statement before the first row, and
// is checked between rows.
func (s *Session) Query(ctx context.Context, query string, args []any, each func(Scan) error) error {
	s.Note()
	var own error
	err := s.Conn.Query(ctx, query, args, func(scan Scan) error {
		own = each(scan)
		return own
	})
	if own == nil { // the statement failed, which may have written
		s.failed = cmp.Or(s.failed, err)
	}
	return enough(err)
}

// enough is no error for ErrEnough.
func enough(err error) error {
	if errors.Is(err, ErrEnough) {
		return nil
	}
	return err
}

// IDs is query for a single column of ids, which it appends to out.
func (s *Session) IDs(ctx context.Context, query string, args []any, out *[]int64) error {
	return s.Query(ctx, query, args, func(scan Scan) error {
		var id int64
		err := scan(&id)
		*out = append(*out, id)
		return err
	})
}

// QueryIn is Query for a text with $ids, in whose place stand lists of ids, after the
// other arguments.
func (s *Session) QueryIn(ctx context.Context, query string, args []any, ids []int64, each func(Scan) error) error {
	return in(query, args, ids, func(query string, args []any) error { return s.Query(ctx, query, args, each) })
}

// IDsIn is IDs for a text with $ids.
func (s *Session) IDsIn(ctx context.Context, query string, args []any, ids []int64, out *[]int64) error {
	return in(query, args, ids, func(query string, args []any) error { return s.IDs(ctx, query, args, out) })
}

// DoIn is Do for a text with $ids.
func (s *Session) DoIn(ctx context.Context, query string, args []any, ids []int64) error {
	return in(query, args, ids, func(query string, args []any) error { return s.Do(ctx, query, args...) })
}

// Rows is Query for a list of values, to whose fields the columns are copied.
func Rows[T any](ctx context.Context, s *Session, query string, args []any, fields func(*T) []any) (list []T, err error) {
	err = s.Query(ctx, query, args, into(&list, fields))
	return list, err
}

// RowsIn is Rows for a text with $ids.
func RowsIn[T any](ctx context.Context, s *Session, query string, args []any, ids []int64, fields func(*T) []any) (list []T, err error) {
	err = s.QueryIn(ctx, query, args, ids, into(&list, fields))
	return list, err
}

// Only returns the only row of a list that was read, or ErrNotFound: what says of which.
func Only[T any](list []T, err error, what string) (one T, _ error) {
	switch {
	case err != nil:
		return one, err
	case len(list) == 0:
		return one, NotFound("%s", what)
	}
	return list[0], nil
}

// Each is Query for rows of one column.
func Each[T any](ctx context.Context, s *Session, query string, args []any, each func(T) error) error {
	var value T
	return s.Query(ctx, query, args, func(scan Scan) error {
		if err := scan(&value); err != nil {
			return err
		}
		return each(value)
	})
}

// Map is Query for values by the id in the first column.
func Map[V any](ctx context.Context, s *Session, query string, args []any, fields func(*V) []any) (map[int64]V, error) {
	all := map[int64]V{}
	return all, s.Query(ctx, query, args, intoMap(all, fields))
}

// MapIn is Map for a text with $ids.
func MapIn[V any](ctx context.Context, s *Session, query string, args []any, ids []int64, fields func(*V) []any) (map[int64]V, error) {
	all := map[int64]V{}
	return all, s.QueryIn(ctx, query, args, ids, intoMap(all, fields))
}

// Cols1 takes rows of one column for a query, Cols2 those of two, and so on. Where it fails
// to copy the columns, each is not called.
func Cols1[A any](each func(A)) func(Scan) error {
	var a A
	return cols(func() { each(a) }, &a)
}

func Cols2[A, B any](each func(A, B)) func(Scan) error {
	var a A
	var b B
	return cols(func() { each(a, b) }, &a, &b)
}

func Cols3[A, B, C any](each func(A, B, C)) func(Scan) error {
	var a A
	var b B
	var c C
	return cols(func() { each(a, b, c) }, &a, &b, &c)
}

func Cols4[A, B, C, D any](each func(A, B, C, D)) func(Scan) error {
	var a A
	var b B
	var c C
	var d D
	return cols(func() { each(a, b, c, d) }, &a, &b, &c, &d)
}

func cols(each func(), dest ...any) func(Scan) error {
	return func(scan Scan) error {
		err := scan(dest...)
		if err == nil {
			each()
		}
		return err
	}
}

func intoMap[V any](all map[int64]V, fields func(*V) []any) func(Scan) error {
	var id int64
	var row V
	dest := append([]any{&id}, fields(&row)...)
	return func(scan Scan) error {
		err := scan(dest...)
		all[id] = row
		return err
	}
}

func into[T any](list *[]T, fields func(*T) []any) func(Scan) error {
	var row T
	dest := fields(&row)
	return func(scan Scan) error {
		err := scan(dest...)
		*list = append(*list, row)
		return err
	}
}

// First scans the first row, if any.
func (s *Session) First(ctx context.Context, query string, args []any, dest ...any) (found bool, err error) {
	err = s.Query(ctx, query, args, func(scan Scan) error {
		if err := scan(dest...); err != nil {
			return err
		}
		found = true
		return ErrEnough
	})
	return found && err == nil, err
}

// Clock is the time of a database of PostgreSQL in microseconds.
const Clock = `(EXTRACT(EPOCH FROM clock_timestamp()) * 1000000)::BIGINT`

// Now is the time in microseconds by which what people were given ends: that of the database
// where processes on several machines share it.
func (s *Session) Now(ctx context.Context) (micros int64, err error) {
	if s.DB.options.OwnClock || s.DB.Dialect.Sqlite {
		return s.DB.options.Now().UnixMicro(), nil
	}
	_, err = s.First(ctx, `SELECT `+Clock, nil, &micros)
	return micros, err
}

// settingsCache keeps the settings of projects or components decoded. Every answer
// shows some, a list of 1,000 components shows 1,000, and decoding took most of
// its time. An entry is used only if its text equals the stored text, so it cannot
// come from another transaction. There is one entry per row.
type settingsCache[T any] struct {
	mu   sync.RWMutex
	kept map[int64]keptSettings[T]
}

type keptSettings[T any] struct {
	text  string
	value T
}

// Decode returns the settings of a row. They are shared: callers must not modify
// their slices.
func (c *settingsCache[T]) Decode(id int64, text []byte) (T, error) {
	c.mu.RLock()
	kept, ok := c.kept[id]
	c.mu.RUnlock()
	if ok && kept.text == string(text) {
		return kept.value, nil
	}
	kept = keptSettings[T]{text: string(text)}
	if err := json.Unmarshal(text, &kept.value); err != nil {
		return kept.value, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.kept == nil {
		c.kept = map[int64]keptSettings[T]{}
	}
	c.kept[id] = kept
	return kept.value, nil
}
