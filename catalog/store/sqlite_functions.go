package store

import (
	"context"
	"database/sql/driver"

	"modernc.org/sqlite"
)

// function is a function of SQL. It must not keep its arguments.
type function struct {
	name string
	args int // -1: any number
	call func(args []driver.Value) (driver.Value, error)
}

// connector opens connections with functions. It has its own driver: the process shares
// that of package sqlite.
type connector struct {
	driver *sqlite.Driver
	dsn    string
}

func newConnector(dsn string, functions []function) (*connector, error) {
	c := &connector{driver: new(sqlite.Driver), dsn: dsn}
	for _, f := range functions {
		err := c.driver.RegisterFunction(f.name, &sqlite.FunctionImpl{
			NArgs: int32(f.args), Deterministic: true, VolatileArgs: true,
			Scalar: func(_ *sqlite.FunctionContext, args []driver.Value) (driver.Value, error) { return f.call(args) },
		})
		if err != nil {
			return nil, err
		}
	}
	return c, nil
}

// Connect implements driver.Connector.
func (c *connector) Connect(context.Context) (driver.Conn, error) { return c.driver.Open(c.dsn) }

// Driver implements driver.Connector.
func (c *connector) Driver() driver.Driver { return c.driver }
