package sqldb

import (
	"context"
	"errors"
	"fmt"
)

// Fail makes an error of any operation fit to leave the package: sentinels of
// catalog and errors of the context can still be recognised, an error of the
// driver is replaced by its description, and all begin with the operation.
func (db *DB) Fail(ctx context.Context, op string, err error) error {
	switch {
	case err == nil:
		return nil
	case isReported(err):
		return err
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return reported{fmt.Errorf("store: %s: %w", op, err)}
	case ctx.Err() != nil: // the driver says "interrupted"
		return reported{fmt.Errorf("store: %s: %w", op, ctx.Err())}
	case errors.Is(err, errClosed):
		return reported{fmt.Errorf("store: %s: the database %s is closed", op, db.Name)}
	}
	if text, sentinel, found := db.Engine.Explain(err); found {
		said := fmt.Errorf("store: %s: database %s: %s", op, db.Name, text)
		switch sentinel {
		case nil:
			return reported{said}
		case ErrUnavailable, ErrAgain, ErrWriting, ErrFull:
			return reported{unavailable{said, sentinel}}
		}
		return reported{fmt.Errorf("%w: %w", said, sentinel)}
	}
	return reported{fmt.Errorf("store: %s: %w", op, err)}
}
