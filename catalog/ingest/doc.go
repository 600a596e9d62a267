// Package ingest brings repositories into the catalog: it walks the commits
// of a branch, parses the PO files that each changed, compares them with the
// stored units, attributes every difference to the commit that introduced it,
// and stores units and change entries, one transaction per step.
//
// It is the only place where git (package gitsource) and PO (package poparse)
// meet. One step passes through its files in this order:
//
//	syncer.go           the API: Sync is one pull of one branch
//	mirror.go           the local mirror of a branch, and whose turn it is
//	pull.go             fetch, then every group of components up to the head
//	discover.go         components that a mask with {component} finds
//	pull_walk.go        which components move together, and their steps
//	pull_step.go        one step: its transaction and the heads of the convoy
//	file_slots.go       paths of a commit to languages
//	file_loader.go      versions of files, parsed once and kept for a while
//	unit/               a PO file to units
//	apply.go            one component in one step: which files to read and write
//	apply_source.go     the source translation, by apply_source_union.go
//	apply_target.go     the other translations
//	apply_pending.go    pending edits over the texts of a file
//	apply_units.go      the units of a translation against the stored ones
//	apply_changes.go    change entries in their order
//	apply_store.go      what all of apply reads from and writes to
//	attribute.go        which commit introduced a text, through merges
//	check.go            quality checks of what a step changed
//	replay.go           the history of new components, many commits to a
//	                    transaction, for as many components at a time as
//	                    replay_parts.go says: replay_ahead.go reads commits before they
//	                    are applied, replay_staging.go takes the place of the
//	                    store, replay_batch.go stores a batch meanwhile;
//	                    replay_files.go stores the bytes of files at the end
//	suggest.go          suggestions from other branches
//	edit.go             edits of strings, which are steps that stay at their commit
//
// Goals: the same units and entries, whether a commit was imported, replayed or
// pulled; nothing half-loaded; memory bounded by the largest file, the strings of
// one component and a fixed cache.
//
// Non-goals: deciding when to pull (package schedule); the rules of single
// quality checks (package checks).
package ingest
