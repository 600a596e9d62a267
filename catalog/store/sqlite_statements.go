package store

import (
	"database/sql"
	"strconv"
	"strings"

	"github.com/pressly/goose/v3"
)

// The SQL of the package is the common subset of SQLite (3.35) and PostgreSQL: $1
// placeholders, RETURNING, ON CONFLICT. This file adapts it to SQLite.

const gooseDialect = goose.DialectSQLite3

// schemaTokens fills in types in the migrations. In SQLite only INTEGER PRIMARY
// KEY is the row's own key; BIGINT PRIMARY KEY would create a second, hidden
// index.
func schemaTokens() *strings.Replacer {
	return strings.NewReplacer("@ID", "INTEGER", "@BYTES", "BLOB", "@CLUSTERED", "WITHOUT ROWID")
}

// snapshotOptions begin a transaction that sees one state of the database from its
// first statement.
func snapshotOptions() *sql.TxOptions { return &sql.TxOptions{ReadOnly: true} }

// bulkInsert begins an insert of many rows. OR FAIL saves SQLite the journal for
// undoing the rows of a single statement: a failed statement rolls back its whole
// transaction anyway.
const bulkInsert = "INSERT OR FAIL INTO "

// bindStyle replaces $1, $2, … by ? if they are in order, each once. SQLite keeps
// numbered parameters in a list that it searches for every one it binds, which
// made inserts of 64 rows four times slower (13,100 against 50,600 units/s on a
// busy machine).
func bindStyle(query string) string {
	var b strings.Builder
	next := 1
	for i := 0; i < len(query); {
		if query[i] != '$' {
			b.WriteByte(query[i])
			i++
			continue
		}
		end := i + 1
		for end < len(query) && '0' <= query[end] && query[end] <= '9' {
			end++
		}
		if query[i+1:end] != strconv.Itoa(next) {
			return query
		}
		b.WriteByte('?')
		next++
		i = end
	}
	return b.String()
}
