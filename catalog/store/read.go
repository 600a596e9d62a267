package store

import "context"

// Snapshot is one state of the database. All answers made from it are consistent
// and belong to one generation. It must not be used by two goroutines at once, nor
// after the function that received it has returned.
type Snapshot struct {
	db *DB
	s  *session

	generation int64 // 0: not read
}

// Read calls fn with a snapshot and returns the error of fn unchanged. Reads
// neither wait for steps nor delay them. At most Options.Readers run at once.
func (db *DB) Read(ctx context.Context, fn func(ctx context.Context, s *Snapshot) error) error {
	return db.readFrom(ctx, db.engine.readers, fn)
}

func (db *DB) readFrom(ctx context.Context, p *pool, fn func(ctx context.Context, s *Snapshot) error) error {
	err := p.transact(ctx, snapshotOptions(), func(s *session) error {
		if err := fn(ctx, &Snapshot{db: db, s: s}); err != nil {
			return reported{err}
		}
		return nil
	})
	return unwrapReported(db.fail(ctx, "read", err))
}

// Generation is the number of the newest step or change of settings in the
// snapshot; 0 for an empty database.
func (s *Snapshot) Generation(ctx context.Context) (int64, error) {
	if s.generation > 0 {
		return s.generation, nil
	}
	err := s.s.queryFew(ctx, `SELECT generation FROM clock WHERE one = 1`, nil, func(scan scan) error { return scan(&s.generation) })
	return s.generation, s.db.fail(ctx, "read the generation", err)
}
