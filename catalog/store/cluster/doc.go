// Package cluster has what the processes share that use one database of PostgreSQL: who of
// them lives, which copy of the configuration counts, who pulls which branch, and what
// clients used of limits.
//
// Goals: a branch has one puller; what a process writes that lost its branch, or follows an
// older configuration, changes nothing (Fence).
//
// Non-goals: when a branch is due next, and what a pull does (package schedule).
package cluster
