package store

import (
	"context"

	"github.com/repoglot/repoglot/catalog/store/internal/sqldb"
)

// historyGap is more than the generations that a failover loses.
const historyGap = 1_000_000

// followServer renews the history of the clock if the database is on another server, or
// another timeline, than before: transactions may be lost that clients and processes have
// seen. The generation then leaves a gap, and everything counts as changed, so that no
// process takes what it kept for what the database has.
func (db *DB) followServer(ctx context.Context) error {
	identity := db.sql.Engine.Server()
	if identity == "" || identity == db.server {
		return nil
	}
	var stored string
	if err := db.Cluster().Do(ctx, "note the server", func(s *sqldb.Session) error {
		found, err := s.First(ctx, `SELECT identity FROM servers WHERE one = 1`, nil, &stored)
		if err == nil && !found {
			stored = identity
			err = s.Do(ctx, `INSERT INTO servers (one, identity) VALUES (1, $1) ON CONFLICT DO NOTHING`, identity)
		}
		return err
	}); err != nil {
		return err
	}
	if stored != identity {
		if err := db.renewHistory(ctx, identity); err != nil {
			return err
		}
	}
	db.server = identity
	return nil
}

// renewHistory begins a new history, unless another process has done so.
func (db *DB) renewHistory(ctx context.Context, identity string) error {
	renewed := int64(0)
	err := db.write(ctx, func(s *sqldb.Session) (err error) {
		renewed, err = s.Exec(ctx, `UPDATE servers SET identity = $1 WHERE one = 1 AND identity <> $1`, identity)
		if err != nil || renewed == 0 {
			return err
		}
		return newHistory(ctx, s)
	})
	if err == nil && renewed > 0 {
		db.log.Warn("the database is on another server, or was put back: its history begins anew", "server", identity)
	}
	return db.fail(ctx, "renew the history", err)
}

// newHistory gives what generations count another name, and leaves a gap.
func newHistory(ctx context.Context, s *sqldb.Session) error {
	var generation int64
	_, err := s.First(ctx, `UPDATE clock SET history = substr(md5(gen_random_uuid()::text), 1, 16),
		generation = generation + $1, configured = generation + $1, public = generation + $1 WHERE one = 1 RETURNING generation`, []any{int64(historyGap)}, &generation)
	if err == nil {
		err = s.Do(ctx, `UPDATE components SET generation = $1`, generation)
	}
	if err == nil {
		err = s.Do(ctx, `UPDATE projects SET generation = $1`, generation)
	}
	return err
}
