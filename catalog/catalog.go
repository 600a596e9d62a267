// Package catalog is the domain of repoglot: projects, components, translations,
// units, changes and users, and the pure rules about them: hashes, states, word
// counts, percentages and differences.
//
// Goals: all other packages use the terms of this one; each rule of
// docs/compatibility.md that needs neither git, SQL nor HTTP is here, once.
//
// Non-goals: no storage, no wire format (package api has the JSON tags), no parsing
// of files (package poparse) and no clock.
package catalog
