package api

import "sync"

// buffers are what answers are written to before they are copied to the size
// that they have.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

// maxBuffer is the capacity of what is kept of them.
const maxBuffer = 1 << 20

// exactly copies what was written to a buffer to the size that it has, and leaves
// the buffer for the next one.
func exactly(kept *[]byte, b []byte) []byte {
	out := append(make([]byte, 0, len(b)), b...)
	if cap(b) <= maxBuffer {
		*kept = b
	}
	return out
}
