// Package ingest brings repositories into the catalogue: it walks the commits
// of a branch, parses the PO files that each changed, compares them with the
// stored units, attributes every difference to the commit that introduced it,
// and stores units and change entries, one transaction per step.
//
// It is the only place where git (package gitsource) and PO (package poparse)
// meet. The way of one step through its files:
//
//	syncer.go     a pull: fetch, then every group of components up to the head
//	walk.go       the steps of one group (a convoy moves together)
//	place.go      paths of a commit → which file is which language
//	read.go       a PO file → units
//	union.go      the source-language translation of decision 11
//	attribute.go  which commit introduced a text, through merges (decision 18)
//	apply.go      a file's units against the stored ones → store
//
// Goals: the same units and entries whatever road led to a commit (DESIGN,
// invariant 2); nothing half-loaded (invariant 7); memory bounded by the
// largest file and a fixed cache.
//
// Non-goals: deciding when to pull (package schedule), checks of quality.
package ingest
