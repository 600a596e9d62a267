package store

import (
	"context"
	"encoding/json"
	"sync"
)

// connection is what a session needs of an engine: one connection with its prepared
// statements. A session has one user at a time.
type connection interface {
	// begin begins a transaction; a read-only one sees one state of the database
	// from its first statement.
	begin(ctx context.Context, readOnly bool) (transaction, error)
	// exec runs a statement and returns the number of affected rows.
	exec(ctx context.Context, query string, args []any) (int64, error)
	// query calls each for every row.
	query(ctx context.Context, how reads, query string, args []any, each func(scan) error) error
	// do is exec for a statement whose result nobody needs: it may run later, but
	// before the next statement whose result is needed, and before the commit.
	do(ctx context.Context, query string, args []any) error
	// first scans the first row, if any.
	first(ctx context.Context, query string, args, dest []any) (found bool, err error)
	// insert inserts rows, whose values are in args, row after row.
	insert(ctx context.Context, in *inserter, args []any) error
	// export names what the transaction of a reader sees, for adopt; "": no other
	// connection can be made to see the same.
	export(ctx context.Context) (snapshot string, err error)
	// adopt makes a transaction of a reader, before its first statement, see what
	// another one that still runs has exported.
	adopt(snapshot string)
	// close closes the connection; one that is not sound is not used again.
	close(sound bool)
}

// transaction is a transaction of a connection.
type transaction interface {
	Commit() error
	Rollback() error
}

// reads says what is known of a query, for engines that make use of it.
type reads int

const (
	readAny  reads = iota
	readFew        // a few rows found by key: it need not be interrupted
	readMany       // many rows
	readOnce       // a text that is rarely repeated, such as a search's
)

// session is one connection. The number of SQL texts is limited, but for those of
// readOnce: lists come in a few fixed sizes.
type session struct {
	conn   connection
	shared *shared
	cache  int // cache_size in KiB, once resizeCache has set it
	// reading records what is read; nil outside of a Read.
	reading *reading
	budget  *budget // of what is written; nil: no bound
	// takesIDs says that the transaction has called willTakeIDs.
	takesIDs bool
}

// budget bounds the bytes of the arguments of statements that write.
type budget struct{ used, most int64 }

// take counts the arguments of a statement.
func (b *budget) take(args []any) error {
	if b == nil {
		return nil
	}
	for _, arg := range args {
		switch arg := arg.(type) {
		case string:
			b.used += int64(len(arg))
		case []byte:
			b.used += int64(len(arg))
		default:
			b.used += 8
		}
	}
	if b.used > b.most {
		return ErrTooMuch
	}
	return nil
}

// note counts a statement.
func (s *session) note() {
	s.shared.statements.Inc()
	s.reading.note()
}

// exec runs a statement and returns the number of affected rows.
func (s *session) exec(ctx context.Context, query string, args ...any) (int64, error) {
	if err := s.budget.take(args); err != nil {
		return 0, err
	}
	s.note()
	return s.conn.exec(ctx, query, args)
}

// do runs a statement whose result nobody needs, perhaps later than now.
func (s *session) do(ctx context.Context, query string, args ...any) error {
	if err := s.budget.take(args); err != nil {
		return err
	}
	s.note()
	return s.conn.do(ctx, query, args)
}

// scan copies the columns of the current row.
type scan func(dest ...any) error

// query calls each for every row.
func (s *session) query(ctx context.Context, query string, args []any, each func(scan) error) error {
	s.note()
	return s.conn.query(ctx, readAny, query, args, each)
}

// queryFew is query for a few rows found by key. The statement is not interrupted;
// ctx is checked between rows. Arguments are integers or texts.
func (s *session) queryFew(ctx context.Context, query string, args []any, each func(scan) error) (err error) {
	s.note()
	return s.conn.query(ctx, readFew, query, args, each)
}

// queryMany is query for many rows. ctx interrupts the statement before the first
// row, and is checked between rows.
func (s *session) queryMany(ctx context.Context, query string, args []any, each func(scan) error) error {
	s.note()
	return s.conn.query(ctx, readMany, query, args, each)
}

// queryOnce is query for a text that is rarely repeated: few of these statements
// stay prepared.
func (s *session) queryOnce(ctx context.Context, query string, args []any, each func(scan) error) error {
	s.note()
	return s.conn.query(ctx, readOnce, query, args, each)
}

// ids is query for a single column of ids, which it appends to out.
func (s *session) ids(ctx context.Context, query string, args []any, out *[]int64) error {
	return s.query(ctx, query, args, func(scan scan) error {
		var id int64
		err := scan(&id)
		*out = append(*out, id)
		return err
	})
}

// first scans the first row, if any.
func (s *session) first(ctx context.Context, query string, args []any, dest ...any) (found bool, err error) {
	s.note()
	return s.conn.first(ctx, query, args, dest)
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

// decode returns the settings of a row. They are shared: callers must not modify
// their slices.
func (c *settingsCache[T]) decode(id int64, text []byte) (T, error) {
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
