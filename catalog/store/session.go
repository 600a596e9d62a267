package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"encoding/json"
	"errors"
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/repoglot/repoglot/catalog"
)

// session is one connection with its prepared statements. The number of SQL texts
// is limited: lists come in a few fixed sizes.
type session struct {
	conn    *sql.Conn
	stmts   map[string]*sql.Stmt
	inserts map[insertKey]string // SQL texts of inserters
	shared  *shared
	direct  *direct // reads past database/sql; nil: not for this session
	cache   int     // cache_size in KiB, once resizeCache has set it
	// reading records what is read; nil outside of a Read.
	reading *reading
}

func (s *session) close() {
	s.closeStatements()
	_ = s.conn.Close()
}

// discard closes the session and its connection.
func (s *session) discard() {
	s.closeStatements() // first: the driver does not allow statements to outlive their connection
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
	s.shared.statements.Inc()
	s.reading.note()
	if stmt, ok := s.stmts[query]; ok {
		return stmt, nil
	}
	stmt, err := s.conn.PrepareContext(ctx, bindStyle(query))
	if err == nil {
		s.stmts[query] = stmt
	}
	return stmt, err
}

// exec runs a statement and returns the number of affected rows.
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

// shared is what all sessions of a database have in common.
type shared struct {
	statements prometheus.Counter
	projects   settingsCache[catalog.ProjectSettings]
	components settingsCache[catalog.ComponentSettings]
}
