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
//	store.go      DB, Options, Open, Configure
//	read*         Snapshot and its methods: rows of projects, components,
//	              translations, units, authors
//	search*       searches for units: query to sets and blocks
//	stats*        sums of statistics, statistics over time
//	write*        StepTx, the transaction of a step: rows of translations, units,
//	              layouts, changes, checks, authors
//	cache.go      what snapshots look up once per generation
//	edits*        the journal: rows, what writes and reads them, why and until when they
//	              wait; push.go: where their texts went
//
// One file reads and writes each of the small tables: lagging.go, problems.go, suggestions.go,
// which has comments, too, and write_checks_failing.go those of compared units. watch.go tells
// readers of new generations, generations.go knows what changed in them, and what was read.
//
// What needs no memory of a step is in packages below, which are functions over sessions:
// access, cluster and transfer, which callers use themselves, and internal/files, history,
// recount and roster. internal/stored has the forms of stored bytes, internal/rows what several of
// them read, internal/sqldb sessions and engines.
//
// # Why
//
// A step compares and swaps the heads of the components that move together. A method of
// Snapshot says which components it reads, and every other statement counts as a read of
// everything (Basis): one that says nothing makes answers slow and not wrong.
//
// Aggregates are sums over rows of translations; no answer counts units or entries. Every step
// writes the statistics of the translations that it changed for the day (UTC) of its entries,
// about 30 bytes; a day without a row is like the last one before it, and a translation counts
// until the day its file is gone. recent_changes depends on the newest entry and not on the clock.
//
// Lists of everything begin with the rows of all components, which are kept in memory; a new
// generation reads the rows that an index says are newer. Lists of changes are counted and
// read by package history.
//
// There is no index of texts, but columns of blocks of strings that are read in place of rows
// (internal/blocks, write_blocks.go). Conditions on places are decided for each translation
// before; positions and history become sets of ids, and so do conditions on source units. A
// search has a price, known from the rows of translations alone; a dear one waits for its turn
// without holding a snapshot.
//
// Entries of a translation that is gone stay in the lists of its component, with a null
// translation: wlc asks for the translation of every entry that names one.
package store
