package catalog

import "errors"

// The sentinels that cross package borders. Wrap them with %w and say which
// operation on which key failed; compare with errors.Is.
var (
	// ErrNotFound says that no such object exists, or that the caller may not
	// know of it. The API answers 404.
	ErrNotFound = errors.New("not found")
	// ErrInvalid says that an argument is malformed. The API answers 400.
	ErrInvalid = errors.New("invalid")
	// ErrConflict says that somebody else moved what the caller wanted to move:
	// a compare-and-swap found another head (DESIGN, invariant 3). Nothing was
	// written; read the state again and repeat.
	ErrConflict = errors.New("conflict")
)
