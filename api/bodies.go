package api

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/repoglot/repoglot/api/rest"
	"github.com/repoglot/repoglot/api/wire"
)

type noContent struct{}

func (noContent) send(x exchange, h header) outcome {
	x.setHeader(&h)
	x.w.WriteHeader(h.status)
	return outcome{status: h.status}
}

// content is a body in memory.
type content []byte

func (b content) send(x exchange, h header) outcome {
	free, err := x.hold(b)
	if err != nil {
		return x.refuse(err, "api request failed")
	}
	defer free()
	if h.ranges && x.req.Method == http.MethodGet {
		put(x.w.Header(), "Content-Length", strconv.Itoa(len(b))) // ServeContent does not set it if the answer is encoded
		return outcome{x.sendParts(h, bytes.NewReader(b)), len(b)}
	}
	x.setHeader(&h)
	if h.ranges {
		put(x.w.Header(), "Accept-Ranges", "bytes")
	}
	return x.sendBytes(h.status, b)
}

type failure struct {
	problem *rest.Problem
	content content
}

func newFailure(p *rest.Problem, indent int) answer {
	body, err := wire.JSON(p.Body(), indent)
	if err != nil { // a map of strings always has a JSON form
		body = []byte("{}")
	}
	return answer{header{status: p.Status, contentType: rest.TypeJSON}, failure{p, body}}
}

func (b failure) send(x exchange, h header) outcome {
	x.setHeader(&h)
	put(x.w.Header(), "Cache-Control", "no-store") // caches may keep a 404 that does not forbid it, but a token may find more
	b.problem.SetHeaders(x.w.Header())
	return x.sendBytes(h.status, b.content)
}

// refuse sends the answer to an error that occurred while a body was being
// made. An internal error is logged with the message words.
func (x exchange) refuse(err error, words string) outcome {
	p := rest.AsProblem(err)
	if p == rest.ErrInternal {
		x.s.logger.Error(words, "route", x.rt.Path, "path", x.req.URL.Path, "error", err)
	}
	a := newFailure(p, 0)
	return a.body.send(x, a.header)
}

// sendBytes sends a body whose length is known. HEAD gets only the length.
func (x exchange) sendBytes(status int, b []byte) outcome {
	put(x.w.Header(), "Content-Length", strconv.Itoa(len(b)))
	x.w.WriteHeader(status)
	if x.req.Method == http.MethodHead {
		return outcome{status, len(b)}
	}
	for rest := b; len(rest) > 0; { // in parts, each of which may have a deadline
		part := rest[:min(len(rest), largeBody)]
		if _, err := x.w.Write(part); err != nil {
			x.s.logger.Debug("api client went away", "path", x.req.URL.Path, "error", err)
			break
		}
		rest = rest[len(part):]
	}
	return outcome{status, len(b)}
}

// sendParts sends the requested parts of a body, or all of it, and returns the status.
func (x exchange) sendParts(h header, all io.ReadSeeker) (status int) {
	x.setHeader(&h)
	put(x.w.Header(), "Accept-Ranges", "bytes")
	part := &rangeWriter{ResponseWriter: x.w}
	http.ServeContent(part, partsOf(x.req), "", time.Time{}, all)
	return part.status
}

// partsOf is a request without the conditions that were looked at already. A date does not
// say whether the parts of two answers belong together, so with one the answer is whole: in
// If-Range because http.ServeContent is told none.
func partsOf(req *http.Request) *http.Request {
	part := req.Clone(req.Context())
	if part.Header.Get("If-Unmodified-Since") != "" {
		part.Header.Del("Range")
	}
	for _, name := range []string{"If-Match", "If-None-Match", "If-Modified-Since", "If-Unmodified-Since"} {
		part.Header.Del(name)
	}
	return part
}

// rangeWriter replaces http.ServeContent's answer 416 by ours, and remembers the status.
type rangeWriter struct {
	http.ResponseWriter
	status int
}

// WriteHeader replaces the header of a 416.
func (w *rangeWriter) WriteHeader(status int) {
	w.status = status
	if status != http.StatusRequestedRangeNotSatisfiable {
		w.ResponseWriter.WriteHeader(status)
		return
	}
	a := newFailure(rest.ErrRange, 0)
	body := a.body.(failure).content
	w.Header().Set("Content-Type", a.contentType)
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.Header().Del("Content-Disposition")
	w.ResponseWriter.WriteHeader(status)
	_, _ = w.ResponseWriter.Write(body)
}

// Write drops ServeContent's own text of a 416.
func (w *rangeWriter) Write(b []byte) (int, error) {
	if w.status == http.StatusRequestedRangeNotSatisfiable {
		return len(b), nil
	}
	return w.ResponseWriter.Write(b)
}

// deadlineWriter gives each write of a response a time limit of its own, however long all take.
type deadlineWriter struct {
	http.ResponseWriter
	control *http.ResponseController
	timeout time.Duration
}

func newDeadlineWriter(w http.ResponseWriter, timeout time.Duration) *deadlineWriter {
	return &deadlineWriter{w, http.NewResponseController(w), timeout}
}

// end removes the deadline: the connection may serve other requests.
func (p *deadlineWriter) end() { _ = p.control.SetWriteDeadline(time.Time{}) }

func (p *deadlineWriter) Write(b []byte) (int, error) {
	if err := p.wait(); err != nil {
		return 0, err
	}
	return p.ResponseWriter.Write(b)
}

func (p *deadlineWriter) Flush() error {
	if err := p.wait(); err != nil {
		return err
	}
	if err := p.control.Flush(); !errors.Is(err, http.ErrNotSupported) {
		return err
	}
	return nil
}

// wait sets the next deadline. The kernel watches it, so its clock is the real one.
func (p *deadlineWriter) wait() error {
	if err := p.control.SetWriteDeadline(time.Now().Add(p.timeout)); !errors.Is(err, http.ErrNotSupported) {
		return err
	}
	return nil
}
