// Package store keeps the catalog in a database: projects, components,
// translations, units, the ledger of changes, the current bytes of each file.
//
// Goals: one step of a repository is one transaction with compare-and-swap on
// the heads of its components; ids are dense, ascending and permanent; every
// answer is read in one snapshot that knows its generation; no cost grows with
// history or with the page number (docs/design.md, Invariants). SQL is run by package sqldb.
//
// Non-goals: no git, no PO, no HTTP; no decision about what a change is (that is
// catalog.Diff and package ingest); no caching of answers.
//
// # Files
//
// The prefix of a file says what it is about:
//
//	store.go      DB, Options, Open
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
//
// One file reads and writes each of the small tables: comments.go, edits.go, files.go,
// compared_units.go, lagging.go, problems.go, suggestions.go, tokens.go. layout.go is
// the format of stored bytes; watch.go tells readers of new generations, generations.go
// knows what changed in them, basis.go what was read; errors.go makes every error one
// line.
package store
