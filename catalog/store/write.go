package store

import "context"

// write runs fn in a transaction of the writer. After the commit it wakes the
// watches if fn took a generation.
func (db *DB) write(ctx context.Context, fn func(s *session) error) error {
	var generation int64
	err := db.engine.writer.transact(ctx, nil, func(s *session) error {
		if err := fn(s); err != nil {
			return err
		}
		_, err := s.first(ctx, `SELECT generation FROM clock WHERE one = 1`, nil, &generation)
		return err
	})
	if err == nil {
		db.notifier.publish(generation)
		db.engine.committed(ctx)
	}
	return err
}
