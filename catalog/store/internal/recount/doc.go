// Package recount counts again what the store keeps as sums, or made of something else once.
//
// It knows nothing of how numbers are kept: it has a table of conditions on a unit, and
// compares what was made of something else once. TestVerifyFindsEverything spoils every
// column of every table, so a new counter needs a line there.
package recount
