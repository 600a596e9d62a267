// Package history reads the ledger of changes: lists of entries, filtered or not, any page
// and the number of entries.
//
// Goals: no cost grows with the length of a list or with the page number.
//
// Non-goals: writing (package store); who may see what.
//
// # Files
//
//	query.go   Query, Reader; lists without a filter
//	filter.go  what a filter selects: all that knows its fields
//	list.go    List; counting filtered lists; the list of one string
//	pages.go   pages of filtered lists; the newest entries
//	rows.go    ledgers and their deltas
//	spans.go   sums that are kept
//
// # Why
//
// Entries without a filter are counted by ranks stored with deltas. With one, sums of deltas
// are kept for spans of 1,024 entries: a ledger only grows, so a sum never changes. A count of
// 20 million entries adds up 20,000 sums in half a millisecond; the first one of a process
// takes 3 s, and so does the first for clients that do not see the same components as others.
package history
