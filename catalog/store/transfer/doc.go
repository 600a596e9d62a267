// Package transfer moves what a database holds: exports and imports, between engines, and
// backups of files of SQLite.
//
// Goals: beside servers that work with the database; what is there at the end is whole; what
// is damaged, cut off or of a newer version is refused before anything is changed.
//
// Non-goals: what the tables mean (package store).
package transfer
