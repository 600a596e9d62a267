// Package stored has the forms of what the store writes into columns: blobs and their
// versions, layouts, statistics of a day, and the columns of counts.
//
// Goals: bytes that are damaged, or of a newer version, are refused and never read as
// something else.
//
// Non-goals: SQL (package store and the packages below it).
package stored
