// Package sqldb runs SQL for package store: sessions on connections to SQLite or
// PostgreSQL, their pools, transactions, migrations, the lock of the data directory, what
// was read, and errors of one line.
//
// Goals: one SQL code base: what differs between engines is in the files sqlite* and
// postgres*, in Dialect, and in the tokens of the migrations. No type and no error of
// database/sql or of a driver leaves package store.
// Non-goals: no table is known here but those of migrations, identity and ids; no
// decision about what is stored.
package sqldb
