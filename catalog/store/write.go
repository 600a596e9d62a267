package store

import "context"

// write runs fn in a transaction of the one writer and, once it is committed,
// wakes the watches if it took a generation.
func (db *DB) write(ctx context.Context, fn func(s *session) error) error {
	var generation int64
	err := db.writer.transact(ctx, nil, func(s *session) error {
		if err := fn(s); err != nil {
			return err
		}
		if _, err := s.first(ctx, `SELECT generation FROM clock WHERE one = 1`, nil, &generation); err != nil {
			return err
		}
		if db.beforeCommit != nil {
			db.beforeCommit()
		}
		return nil
	})
	if err == nil {
		db.news.publish(generation)
		db.fold(ctx)
	}
	return err
}
