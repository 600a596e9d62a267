package sqldb

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// copyRows is the number of rows from which they are copied (COPY), which takes
// round trips; fewer are inserted by statements that wait for the next one.
const copyRows = 64

// bulk writes rows by COPY if they are many and cannot be there already.
func (c *PostgresConnection) bulk(ctx context.Context, in *Inserter, args []any) (done bool, err error) {
	rows := len(args) / in.cols()
	if in.tail != "" || rows < copyRows {
		return false, nil
	}
	if err := c.Flush(ctx); err != nil {
		return true, err
	}
	if err := c.lock(); err != nil {
		return true, err
	}
	defer c.unlock()
	for i, arg := range args {
		args[i] = pgValue(arg)
	}
	_, err = c.whole.CopyFrom(ctx, pgx.Identifier{in.table}, in.columns, pgx.CopyFromSlice(rows, func(i int) ([]any, error) {
		return args[i*in.cols() : (i+1)*in.cols()], nil
	}))
	return true, c.broken(err)
}
