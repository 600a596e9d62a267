// Package rows has columns, conditions and counts that several packages of the store read in
// the same way.
package rows
