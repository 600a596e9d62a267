package api

import "sync"

// buffers are *[]byte in which answers are written, before they are copied to
// their exact size.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

// maxBuffer is the largest capacity of a buffer that is kept.
const maxBuffer = 1 << 20

// exactly copies b, which was written to the buffer kept, to its exact size,
// and leaves the buffer to the next answer.
func exactly(kept *[]byte, b []byte) []byte {
	out := append(make([]byte, 0, len(b)), b...)
	if cap(b) <= maxBuffer {
		*kept = b
	}
	return out
}
