package store

import (
	"context"
	"strings"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/repoglot/repoglot/catalog"
)

// shared is what all sessions of a database have in common.
type shared struct {
	engine     engine
	name       string // for messages: no password
	dialect    dialect
	statements prometheus.Counter
	projects   settingsCache[catalog.ProjectSettings]
	components settingsCache[catalog.ComponentSettings]
	bulkCache  int // KiB
}

// newShared makes a database that is not open. statements counts what is run.
func newShared(dsn string, opts Options, statements prometheus.Counter) *shared {
	db := &shared{name: dsn, statements: statements, bulkCache: opts.bulkCache()}
	if isPostgres(dsn) {
		db.engine, db.name = newPostgres(dsn, opts), address(dsn)
	} else {
		db.engine = newSQLite(dsn, opts)
	}
	return db
}

// open opens the database, migrates its schema and returns its sessions. After an error
// engine.close must still be called.
func (db *shared) open(ctx context.Context, opts Options) (pools, error) {
	return db.engine.open(ctx, opts, db)
}

func isPostgres(dsn string) bool {
	return strings.HasPrefix(dsn, "postgres://") || strings.HasPrefix(dsn, "postgresql://")
}
