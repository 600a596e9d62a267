// Package catalog is the domain of repoglot: projects, components,
// translations, units, changes and users, and the pure rules that make them
// out of strings: hashes, states, word counts, percentages and differences.
//
// Goals: every other package speaks in the terms of this one; a rule of the
// specification stands here once, free of git, SQL and HTTP.
//
// Non-goals: no storage, no wire format (JSON tags live in package api), no
// parsing of files (package poparse) and no clock.
package catalog
