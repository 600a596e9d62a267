// Package merge merges PO files by meaning: string by string, and field by field.
package merge
