package sqldb

import (
	"context"
	"database/sql/driver"

	"modernc.org/sqlite"
)

// Function is a function of SQL. It must not keep its arguments.
type Function struct {
	Name string
	Args int // -1: any number
	Call func(args []driver.Value) (driver.Value, error)
}

// connector opens connections with functions. It has its own driver: the process shares
// that of package sqlite.
type connector struct {
	driver *sqlite.Driver
	dsn    string
}

func newConnector(dsn string, functions []Function) (*connector, error) {
	c := &connector{driver: new(sqlite.Driver), dsn: dsn}
	for _, f := range functions {
		err := c.driver.RegisterFunction(f.Name, &sqlite.FunctionImpl{
			NArgs: int32(f.Args), Deterministic: true, VolatileArgs: true,
			Scalar: func(_ *sqlite.FunctionContext, args []driver.Value) (driver.Value, error) { return f.Call(args) },
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
