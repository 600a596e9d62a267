package store

import "fmt"

// blobVersion is the first byte of the blobs that have a form of ours: layouts, stat_days
// and shared_strings. A version that changes one of them takes the next number for it and
// goes on reading the forms before; one that does not know a form refuses the blob.
const blobVersion = 1

// unversioned returns a blob without its version. The error wraps damaged.
func unversioned(blob []byte, damaged error) ([]byte, error) {
	switch {
	case len(blob) == 0:
		return nil, damaged
	case blob[0] != blobVersion:
		return nil, fmt.Errorf("%w; or a newer repoglot wrote it (form %d), then use that", damaged, blob[0])
	}
	return blob[1:], nil
}
