package hooks

import (
	"bytes"
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"
	"time"

	"github.com/repoglot/repoglot/api/limit"
)

const (
	// maxBody bounds a call: GitHub sends up to 25 MB.
	maxBody = 25 << 20
	// maxBodies bounds all bodies in memory together, maxClientBodies those of one
	// client: a body counts one and a half times while it is read.
	maxBodies       = 96 << 20
	maxClientBodies = 48 << 20
	// maxVolume bounds the bytes of the bodies that a client sends in volumeSpan without
	// a proof in the headers: receiving large ones over and over is work, too.
	maxVolume  = 100 << 20
	volumeSpan = time.Minute
)

var errNoForm = errors.New("the form has no payload")

// errVolume says that a client sent too much; the value is the seconds until it may
// again.
type errVolume int

// Error returns the error's text.
func (errVolume) Error() string { return "the client has sent too much" }

// readBody reads the body of a call into memory that lease holds. Without a proof in the
// headers the bytes of the client are counted: what would be too much is refused before
// it is read, if its length is known.
func (s *Server) readBody(lease *limit.Lease, r *http.Request, proven bool) ([]byte, error) {
	if r.ContentLength > maxBody {
		return nil, limit.ErrTooLarge
	}
	if proven {
		return lease.ReadAll(r.Body, maxBody)
	}
	body := metered{r.Body, s.volume, s.client(r)}
	if a, _ := s.volume.TakeN(body.client, 0); int64(a.Remaining) < r.ContentLength {
		return nil, errVolume(a.Reset)
	}
	return lease.ReadAll(body, maxBody)
}

// metered is a body whose bytes are counted.
type metered struct {
	io.Reader
	volume *limit.Limiter
	client string
}

// Read reads and counts.
func (m metered) Read(p []byte) (int, error) {
	n, err := m.Reader.Read(p)
	if a, _ := m.volume.TakeN(m.client, n); !a.Allowed {
		return 0, errVolume(a.Reset)
	}
	return n, err
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
