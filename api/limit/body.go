package limit

import (
	"errors"
	"io"
)

// ErrTooLarge says that a body is longer than it may be.
var ErrTooLarge = errors.New("the body is too large")

// firstBody is the first size of a body's buffer, which doubles.
const firstBody = 16 << 10

// ReadAll reads a body of at most most bytes into memory that the lease holds, byte
// for byte, so that what a client claims to send costs nothing before it is sent.
// Errors are ErrTooLarge, ErrShare, ErrFull and those of r; the lease must be
// released in any case.
func (l *Lease) ReadAll(r io.Reader, most int64) ([]byte, error) {
	var body []byte
	for size := min(firstBody, most); ; size = min(2*size, most) {
		if err := l.Take(size); err != nil { // the old buffer is copied: both count
			return nil, err
		}
		grown := make([]byte, len(body), size)
		copy(grown, body)
		l.give(int64(cap(body)))
		body = grown
		var n int
		var err error
		for err == nil && len(body) < cap(body) { // io.ReadFull would take a body that was cut off for whole
			n, err = r.Read(body[len(body):cap(body)])
			body = body[:len(body)+n]
		}
		for beyond := [1]byte{}; err == nil && int64(len(body)) == most; {
			if n, err = r.Read(beyond[:]); n > 0 {
				return nil, ErrTooLarge
			}
		}
		switch {
		case errors.Is(err, io.EOF):
			return body, nil
		case err != nil:
			return nil, err
		}
	}
}
