package store

import (
	"context"
	"database/sql/driver"
	"fmt"

	"modernc.org/sqlite"
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

// matchText must not panic: SQLite would stay in the middle of a row, with its
// locks held.
func (p *predicates) matchText(_ *sqlite.FunctionContext, args []driver.Value) (result driver.Value, err error) {
	is, err := p.of(args)
	if err != nil || is.row == nil {
		return nil, err
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
