// Package store keeps the catalog in a database: projects, components,
// translations, units, the ledger of changes, the current bytes of each file.
//
// Goals: one step of a repository is one transaction with compare-and-swap on
// the heads of its components; ids are dense, ascending and permanent; every
// answer is read in one snapshot that knows its generation; no cost grows with
// history or with the page number (docs/design.md, Invariants). One SQL code base:
// what differs between engines is in the files sqlite* and postgres*, in dialect, and
// in the tokens of the migrations. No type and no error of database/sql or of a driver leaves the
// package.
//
// Non-goals: no git, no PO, no HTTP; no decision about what a change is (that is
// catalog.Diff and package ingest); no caching of answers.
//
// # Files
//
// The prefix of a file says what it is about:
//
//	store.go      DB, Options, Open
//	engine.go     what the store needs of an engine, and how their SQL differs
//	sqlite*       all that is particular to SQLite: connections, the write-ahead log,
//	              functions of searches, error texts
//	postgres*     all that is particular to PostgreSQL: connections, values, copying,
//	              migrations, error texts
//	session*      statements on one connection, the pools of sessions
//	migrate.go    the schema (migrations/*.sql)
//	lock*         the lock of the data directory, whatever the engine
//	read*         Snapshot and its methods: rows of projects, components,
//	              translations, units, authors
//	change*       lists of changes: query, filter, counting, paging
//	search*       searches for units: query to plan to SQL
//	stats*        sums of statistics, statistics over time
//	shared*       counts of strings that components of a project share
//	write*        StepTx, the transaction of a step: rows of translations, units,
//	              layouts, changes, checks, authors
//	configure*    projects and components as the configuration names them
//	cache*        what snapshots look up once per generation
//	verify*       the recount of everything that is kept as a sum
//	values.go     Go values to columns and back
//
// One file reads and writes each of the small tables: comments.go, edits.go, files.go,
// compared_units.go, lagging.go, problems.go, suggestions.go, tokens.go. layout.go is
// the format of stored bytes; watch.go tells readers of new generations, generations.go
// knows what changed in them, basis.go what was read; errors.go makes every error one
// line.
package store
