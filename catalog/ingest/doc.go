// Package ingest brings repositories into the catalog: it walks the commits
// of a branch, parses the PO files that each changed, compares them with the
// stored units, attributes every difference to the commit that introduced it,
// and stores units and change entries, one transaction per step.
//
// It is the only place where git (package gitsource) and PO (package poparse)
// meet. One step passes through its files in this order:
//
//	syncer.go           the API: Sync is one pull of one branch; package editing stores
//	                    what people change in steps that stay at their commit (AtHead)
//	mirror.go           the local mirror of a branch, and whose turn it is; templates of others
//	pull.go             fetch, then every group of components up to the head
//	discover.go         components that a mask with {component} finds
//	pull_walk.go        which components move together, and their steps
//	pull_step.go        one step: its transaction and the heads of the convoy
//	file_loader.go      versions of files, parsed once and kept for a while; paths of a
//	                    commit to languages
//	unit/               a PO file to units
//	apply.go            one component in one step: which files to read and write
//	apply_source.go     the source translation, by apply_source_union.go
//	apply_target.go     the other translations, also those of which a push changes little
//	apply_pending.go    pending edits over the texts of a file
//	apply_units.go      the units of a translation against the stored ones, and what all
//	                    of apply reads from and writes to
//	apply_changes.go    change entries in their order
//	attribute.go        which commit introduced a text, through merges
//	checkup/            quality checks of what a step changed
//	check.go            those of what it did not
//	replay.go           the history of new components, many commits to a
//	                    transaction, for as many components at a time as
//	                    replay_ahead.go says, which reads commits before they are applied:
//	                    replay_staging.go takes the place of the store,
//	                    replay_table.go has its units, replay_batch.go stores a batch of
//	                    writes meanwhile;
//	suggest.go          suggestions from other branches
//
// Goals: the same units and entries, whether a commit was imported, replayed or
// pulled; nothing half-loaded; memory bounded by the largest file, the strings of
// one component and a fixed cache.
//
// Non-goals: deciding when to pull (package schedule); what people change (package
// editing); the rules of single quality checks (package checks).
//
// # Why
//
// If two files have the same language code, the first by path is served and the other is a
// problem; so is a file of the source language beside a POT.
//
// The units of the source translation are the union of all files. The store keeps an outline
// of each file, a fingerprint of everything except its translations, and makes the union
// again only if an outline changed. The usual commit, with one translated string, reads one
// file.
//
// To find who introduced a text, start at the step's commit and follow parents that have the
// same text. A commit none of whose parents has it introduced it; if there are several, the
// earliest in topological order counts. A text that only commits outside the step have
// belongs to the step's own commit.
//
// Large files are read in parts: a first import makes the units of 1 MiB at a time, and of a
// push only the paragraphs that differ are read, of the old version and of the new one
// (package unit). Whatever a paragraph cannot tell by itself (another header, charset or
// domain, repeated or moved entries, a file near a limit) has the file read whole. Drawn
// edits of drawn files and all versions of the recorded repositories hold that both ways
// agree.
//
// When a setting changes that decides what the units are, the files are read again and
// compared with what is stored, as one step at the head, with entries. Another
// source_language is refused: every unit would become another one. If the repository, the
// branch or such a setting changes while the first replay runs, it goes on after the newest
// commit of the new history that it has already passed.
//
// A replay puts many commits into one transaction. Reading the next commits, applying one
// and storing the last batch run side by side, each bounded in bytes. The commits alone
// decide where a transaction ends, ids are given in the order of appearance, and entries
// have the committer time of their first-parent commit, never one after the start of the
// first import: so a replay that was killed anywhere ends with the ids and times of one that
// was not. Components of more than 8 MiB at the head are replayed in parts that walk the
// history again, since what is known of their strings would not fit into memory together.
//
// Suggestions are texts that a commit of another branch introduced and that differ from the
// served text. A text that an old branch merely still has is no suggestion: otherwise every
// stale branch would propose to undo the main branch's work. Empty and fuzzy entries suggest
// nothing. Suggestions are no entries of the history; they are stored in a step that leaves
// the head where it is. The main branch never waits for them.
//
// What a repository may bring is bounded where it comes in: bytes of the mirror, discovered
// components, files and strings, bytes of a pull's statements. A step over a quota is rolled
// back whole, so that the last good state stays, and its component fails alone. Memory is
// bounded by caches and by a meter of what one commit brings: a step that reaches a
// sixteenth of what pulls may hold needs one of few turns, so the sum is bounded whatever
// the number of workers.
package ingest
