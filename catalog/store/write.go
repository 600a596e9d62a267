package store

import "context"

// write runs fn in a transaction of the one writer.
func (db *DB) write(ctx context.Context, fn func(s *session) error) error {
	err := db.writer.transact(ctx, nil, func(s *session) error {
		if err := fn(s); err != nil {
			return err
		}
		if db.beforeCommit != nil {
			db.beforeCommit()
		}
		return nil
	})
	if err == nil {
		db.fold(ctx)
	}
	return err
}
