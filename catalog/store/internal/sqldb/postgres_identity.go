package sqldb

import (
	"context"

	"github.com/jackc/pgx/v5/pgconn"
)

// serverIdentity tells servers and their timelines apart: a standby that was promoted
// has another timeline, and so has a server that was put back to a moment.
const serverIdentity = `SELECT CASE WHEN pg_is_in_recovery() THEN ''
	ELSE system_identifier || '.' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) END FROM pg_control_system()`

// identify notes which server a new connection has reached. One that forbids the
// question is always the same.
func (e *Postgres) identify(ctx context.Context, conn *pgconn.PgConn) error {
	identity, err := onlyValue(ctx, conn, serverIdentity)
	switch {
	case err != nil && conn.IsClosed():
		return err
	case err == nil && identity != "":
		e.identity.Store(&identity)
	}
	return nil
}

// Server implements Engine.
func (e *Postgres) Server() string {
	if identity := e.identity.Load(); identity != nil {
		return *identity
	}
	return ""
}
