// Package files stores the current bytes of each file: whole, or in pieces if it is long.
//
// Goals: a push into a long file stores the pieces that differ, and what differs is found
// without the older bytes.
//
// A file longer than 256 KiB is stored in pieces that end before a paragraph that the 64
// bytes before it select.
//
// Non-goals: what a file says (packages poparse and ingest).
package files
