package store

import (
	"context"
	"database/sql/driver"
	"fmt"
	"maps"
	"runtime"
	"sync"
	"sync/atomic"

	"modernc.org/sqlite"

	"github.com/repoglot/repoglot/catalog/query"
)

// The SQL functions of a search. Their first argument is the number of a
// predicate. search_text returns whether the predicate holds for the other
// arguments, search_id whether the second one is in the set.
const (
	textFunction = "search_text"
	idFunction   = "search_id"
)

func (p *predicates) of(args []driver.Value) (*predicate, error) {
	if len(args) > 1 {
		if n, ok := args[0].(int64); ok {
			if m := p.inUse.Load(); m != nil && (*m)[n] != nil {
				return (*m)[n], nil
			}
		}
	}
	return nil, fmt.Errorf("no search has the predicate %v", args)
}

// yieldRows is the number of texts after which a search lets others run: the scheduler
// itself would let it run for 10 ms each time, as long as ten small answers take.
const yieldRows = 512

// matchText must not panic: SQLite would stay in the middle of a row, with its
// locks held.
func (p *predicates) matchText(_ *sqlite.FunctionContext, args []driver.Value) (result driver.Value, err error) {
	is, err := p.of(args)
	if err != nil || is.row == nil {
		return nil, err
	}
	if p.calls.Add(1)%yieldRows == 0 {
		runtime.Gosched()
	}
	err = recovering(func() error {
		result = smallint(is.row(args))
		return nil
	})
	return result, err
}

func (p *predicates) matchID(_ *sqlite.FunctionContext, args []driver.Value) (driver.Value, error) {
	is, err := p.of(args)
	if err != nil || is.ids == nil {
		return nil, err
	}
	id, _ := args[1].(int64)
	return smallint(is.ids.has(id)), nil
}

// connector opens connections with the functions. It has its own driver: the
// process shares that of package sqlite.
type connector struct {
	driver *sqlite.Driver
	dsn    string
}

func newConnector(dsn string, p *predicates) (*connector, error) {
	c := &connector{driver: new(sqlite.Driver), dsn: dsn}
	// Arguments are not copied: the functions do not keep them.
	err := c.driver.RegisterFunction(textFunction, &sqlite.FunctionImpl{NArgs: -1, Deterministic: true, VolatileArgs: true, Scalar: p.matchText})
	if err == nil {
		err = c.driver.RegisterFunction(idFunction, &sqlite.FunctionImpl{NArgs: 2, Deterministic: true, VolatileArgs: true, Scalar: p.matchID})
	}
	return c, err
}

// Connect implements driver.Connector.
func (c *connector) Connect(context.Context) (driver.Conn, error) { return c.driver.Open(c.dsn) }

// Driver implements driver.Connector.
func (c *connector) Driver() driver.Driver { return c.driver }

// predicate is a test that SQL cannot express: of texts, or of an id.
type predicate struct {
	row func(args []driver.Value) bool // the first is the predicate's number
	ids *idSet
}

// predicates are the predicates of the running searches, by number. A lookup, one
// per row, takes no lock.
type predicates struct {
	calls  atomic.Uint64 // of matchText
	mu     sync.Mutex
	last   int64
	inUse  atomic.Pointer[map[int64]*predicate]
	folder query.Folder
}

// register numbers predicates, ascending from first, until release is called.
func (p *predicates) register(list []predicate) (first int64, release func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	first = p.last + 1
	p.last += int64(len(list))
	next := p.copied()
	for i := range list {
		next[first+int64(i)] = &list[i]
	}
	p.inUse.Store(&next)
	return first, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		next := p.copied()
		for i := range list {
			delete(next, first+int64(i))
		}
		p.inUse.Store(&next)
	}
}

func (p *predicates) copied() map[int64]*predicate {
	if m := p.inUse.Load(); m != nil {
		return maps.Clone(*m)
	}
	return map[int64]*predicate{}
}
