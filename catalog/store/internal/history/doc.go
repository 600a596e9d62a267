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
//	spans.go   sums that are kept, and stored
//
// # Why
//
// Entries without a filter are counted by ranks stored with deltas. With one, sums of deltas
// are kept for spans of 1,024 entries: a ledger only grows, so a sum never changes. A count of
// 20 million entries adds up 20,000 sums in half a millisecond. They are kept by component, so
// that they are right for all clients. Steps store those of the server, projects and components,
// of which a process reads a thousand in 3 ms; those of authors and translations it makes itself.
package history
