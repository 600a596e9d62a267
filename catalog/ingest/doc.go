// Package ingest brings repositories into the catalogue: it walks the commits
// of a branch, parses the PO files that each changed, compares them with the
// stored units, attributes every difference to the commit that introduced it,
// and stores units and change entries, one transaction per step.
//
// It is the only place where git (package gitsource) and PO (package poparse)
// meet. The way of one step through its files:
//
//	syncer.go     a pull: fetch, then every group of components up to the head
//	discover.go   components that a mask with {component} finds
//	walk.go       the steps of one group (a convoy moves together)
//	place.go      paths of a commit → which file is which language
//	load.go       versions of files, parsed once and kept for a while
//	unit/         a PO file → units
//	apply.go      one component in one step: what is to be read and written
//	source.go     the source-language translation of decision 11, by union.go
//	write.go      a file's units against the stored ones → store
//	attribute.go  which commit introduced a text, through merges (decision 18)
//	entries.go    change entries in their order
//	replay.go     the history of new components, many commits to a transaction:
//	              ahead.go reads commits before they are applied;
//	              staging.go and staging_units.go stand for the store (sink.go);
//	              batch.go and flush.go store what is done meanwhile
//
// Goals: the same units and entries whatever road led to a commit (DESIGN,
// invariant 2); nothing half-loaded (invariant 7); memory bounded by the
// largest file, the strings of one component and a fixed cache.
//
// Non-goals: deciding when to pull (package schedule), checks of quality.
package ingest
