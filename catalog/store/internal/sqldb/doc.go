// Package sqldb runs SQL for package store: sessions on connections to SQLite or
// PostgreSQL, their pools, transactions, migrations, the lock of the data directory, what
// was read, and errors of one line.
//
// Goals: one SQL code base: what differs between engines is in the files sqlite* and
// postgres*, in Dialect, and in the tokens of the migrations. No type and no error of
// database/sql or of a driver leaves package store.
// Non-goals: no table is known here but those of migrations, identity and ids; no
// decision about what is stored.
//
// # Why
//
// SQLite runs with synchronous=FULL: a poller that saw an entry must find it under the same
// id after a power cut. Its log is copied back after a commit once it is longer than 32 MiB,
// since its own checkpoint gives way to readers. Its page caches take twice what they are set
// to, since the driver's allocator rounds sizes up.
//
// On PostgreSQL a step locks the projects of its components, ascending, and last the clock;
// everything else locks all projects, or the tokens. So steps of different projects run side
// by side, and change ids are still dense and visible in order. A statement is planned once
// for any arguments, with nested loops and without sequential scans, parallel workers or JIT,
// as SQLite would: otherwise PostgreSQL reads large tables whole for a page of 50. Settings
// that the code relies on are set by each connection, so those of the database and the user do
// not count. Poolers are refused: a session keeps prepared statements, parameters, and the
// process id by which statements are cancelled. Texts are compared by bytes; U+10FFFE takes
// the place of NUL and U+FFFD that of invalid UTF-8, which it does not store. A row of an
// index has 2,704 bytes at most, so long names are reported.
//
// Ten processes that start together migrate once. A migration that waits for a long reader
// gives up after a second and begins anew, since everybody else waits behind it. Migrations
// add, and a version works on the schema of a later one unless clock.floor is above its own.
package sqldb
