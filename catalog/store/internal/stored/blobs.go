package stored

import "fmt"

// Version is the first byte of the blobs that have a form of ours: layouts, stat_days
// and shared_strings. A version that changes one of them takes the next number for it and
// goes on reading the forms before; one that does not know a form refuses the blob.
const Version = 1

// FirstVersion is the form of the blobs of exports that have none of these bytes.
const FirstVersion = 1

// Unversioned returns a blob without its version. The error wraps damaged.
func Unversioned(blob []byte, damaged error) ([]byte, error) {
	switch {
	case len(blob) == 0:
		return nil, damaged
	case blob[0] != Version:
		return nil, fmt.Errorf("%w; or a newer repoglot wrote it (form %d), then use that", damaged, blob[0])
	}
	return blob[1:], nil
}
