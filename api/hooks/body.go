package hooks

import (
	"bytes"
	"errors"
	"mime"
	"net/http"
	"net/url"

	"github.com/repoglot/repoglot/api/limit"
)

const (
	// maxBody bounds a call: GitHub sends up to 25 MB.
	maxBody = 25 << 20
	// maxBodies bounds all bodies in memory together, maxClientBodies those of one
	// client: a body counts one and a half times while it is read.
	maxBodies       = 96 << 20
	maxClientBodies = 48 << 20
)

var errNoForm = errors.New("the form has no payload")

// readBody reads the body of a call into memory that lease holds.
func readBody(lease *limit.Lease, r *http.Request) ([]byte, error) {
	if r.ContentLength > maxBody {
		return nil, limit.ErrTooLarge
	}
	return lease.ReadAll(r.Body, maxBody)
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
