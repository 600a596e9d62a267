package hooks

import (
	"bytes"
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"
	"sync/atomic"
)

const (
	// maxBody bounds a call: GitHub sends up to 25 MB.
	maxBody = 25 << 20
	// maxBodies bounds all bodies in memory together.
	maxBodies = 64 << 20
	// firstBody is the first size of the buffer, which doubles.
	firstBody = 16 << 10
)

var (
	errTooLarge = errors.New("the body is too large")
	errBusy     = errors.New("too many bodies at a time")
	errNoForm   = errors.New("the form has no payload")
)

// bodies bounds the memory of the bodies in use. The zero value is usable.
type bodies struct{ inUse atomic.Int64 }

// read reads a body. The caller must release it after use.
func (b *bodies) read(r *http.Request) (body []byte, release func(), err error) {
	if r.ContentLength > maxBody {
		return nil, nil, errTooLarge
	}
	taken := int64(0)
	release = func() { b.inUse.Add(-taken) }
	for size := int64(firstBody); ; size = min(2*size, maxBody+1) {
		if taken += size; b.inUse.Add(size) > maxBodies { // the old buffer is copied: both count
			release()
			return nil, nil, errBusy
		}
		grown := make([]byte, len(body), size)
		copy(grown, body)
		body = grown
		n, err := io.ReadFull(r.Body, body[len(body):cap(body)])
		body = body[:len(body)+n]
		switch {
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
			return body, release, nil
		case err != nil:
			release()
			return nil, nil, err
		case size > maxBody:
			release()
			return nil, nil, errTooLarge
		}
	}
}

// payloadOf returns the JSON of a body: the body, or the field payload of a
// form (docs/compatibility.md#webhooks).
func payloadOf(r *http.Request, body []byte) ([]byte, error) {
	media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || media != "application/x-www-form-urlencoded" {
		return body, nil
	}
	// url.ParseQuery would keep every field of a hostile form.
	for field := range bytes.SplitSeq(body, []byte("&")) {
		if value, ok := bytes.CutPrefix(field, []byte("payload=")); ok {
			text, err := url.QueryUnescape(string(value))
			return []byte(text), err
		}
	}
	return nil, errNoForm
}

// isEmpty reports whether a JSON payload is not an object or has no keys.
func isEmpty(payload []byte) bool {
	rest, ok := bytes.CutPrefix(bytes.TrimSpace(payload), []byte("{"))
	return !ok || bytes.HasPrefix(bytes.TrimSpace(rest), []byte("}"))
}
